"""Fifty clients at once on one campaign, and a server that is killed under them.

By default a few seconds; with SERENDIP_FULL=1 sixty. The figures are printed (pytest -s); how fast
answers come is only judged in the full run, which wants the machine for itself.
"""

import os
import threading
import time
from collections import Counter

import numpy as np
import pytest

from serendip.campaigns import Campaign
from serendip.campaigns.doctor import examine
from serendip.campaigns.log.events import Asked, Corrected, Told
from web.crowd import crowd
from web.loops import run
from web.servers import Server, begin

FULL = bool(os.environ.get("SERENDIP_FULL"))
CLIENTS = 50
ROWS = 330
SECONDS = 60 if FULL else 6

pytestmark = [
    pytest.mark.stress,
    pytest.mark.parametrize(
        "where", ["sqlite", "postgresql"] if FULL else ["sqlite"], indirect=True
    ),
]


def figures(name, seconds):
    values = 1000 * np.array(seconds)
    if not len(values):
        return f"{name}: none"
    return (
        f"{name}: {len(values)}, median {np.median(values):.0f} ms, "
        f"99 % {np.quantile(values, 0.99):.0f} ms, longest {values.max():.0f} ms"
    )


def show(where, seen):
    print(f"\n{where}: {figures('tell', seen.tell_seconds)}; {figures('ask', seen.ask_seconds)}")
    print(f"answers {seen.statuses}, repeated after a lost connection {seen.retries}")


def check(where, seen):
    """Every acknowledged fact is in the log, once, and nothing else is; the log verifies."""
    campaign = Campaign.open("screen", where)
    events = [entry.event for entry in campaign.log]
    proposed = [one.item for event in events if isinstance(event, Asked) for one in event.proposals]
    assert max(Counter(proposed).values()) == 1
    assert sorted(seen.asked) == sorted(proposed)  # repeated asks got what the first had chosen
    lost = {
        item: value
        for item, value in seen.told.items()
        if campaign.state.results[item].value != value
    }
    assert not lost
    told = Counter(event.item for event in events if isinstance(event, Told))
    assert max(told.values()) == 1
    assert sum(told.values()) == seen.n_told
    assert sum(isinstance(event, Corrected) for event in events) == seen.n_corrected
    assert not seen.wrong
    assert not [kind for kind in seen.statuses if kind.split()[1] not in ("200", "409")]
    assert not [one for one in examine(where) if one.state == "problem"]


def test_fifty_clients_ask_and_tell(where):
    with Server(where) as server, server.client() as client:
        begin(client, n=ROWS, d=8)
        seen = run(crowd(server.url, "screen", CLIENTS, SECONDS))
    show(where[:10], seen)
    check(where, seen)
    assert len(seen.told) >= CLIENTS / 2
    if FULL:
        assert np.median(seen.tell_seconds) <= 0.1
        assert np.quantile(seen.tell_seconds, 0.99) <= 1.0


def test_the_server_is_killed_under_them_and_comes_back(where):
    """Clients repeat what was not acknowledged, with the same keys; nothing is lost or doubled."""
    kills = 6 if FULL else 2
    server = Server(where).start()
    try:
        with server.client() as client:
            begin(client, n=ROWS, d=8)
        seen = []

        def load():
            # Short batches of results between the asks: kills should hit both.
            seen.append(run(crowd(server.url, "screen", CLIENTS, SECONDS, patient=True)))

        clients = threading.Thread(target=load)
        clients.start()
        for _ in range(kills):
            time.sleep(SECONDS / (kills + 1))
            server.kill()
            server.start()
        clients.join()
    finally:
        server.stop()
    show(where[:10], seen[0])
    check(where, seen[0])
    assert seen[0].retries > 0
    assert len(seen[0].told) >= 5
