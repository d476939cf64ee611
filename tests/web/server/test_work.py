"""What a process beside the server says on its way."""

import pytest

from serendip.campaigns import Campaign
from serendip.campaigns.asking import Ask
from serendip.simulate.environments.demo import demo_pool
from serendip.web.server import lanes, work


class Pipe:
    """Keeps what is sent to the server."""

    def __init__(self):
        self.sent = []

    def send(self, value):
        self.sent.append(value)


@pytest.fixture(name="sent")
def _sent(monkeypatch):
    pipe = Pipe()
    monkeypatch.setattr(lanes, "_PIPE", [pipe])
    return pipe.sent


@pytest.fixture(name="store")
def _store(tmp_path):
    demo_pool().to_csv(tmp_path / "pool.csv", index=False)
    settings = {"name": "screen", "pool": tmp_path / "pool.csv", "label": "yield", "id": "id"}
    Campaign.create({**settings, "budget": 20, "model": "linear"}, tmp_path / "lab.db", "ann")
    yield f"sqlite:///{tmp_path / 'lab.db'}"
    work._opened.cache_clear()


def test_an_ask_and_a_view_say_how_far_they_are(store, sent):
    ((version, rows),) = work.ask(store, "screen", [Ask("ann", 3)])
    assert (version, len(rows)) == (2, 3)
    told = [what for kind, (what, *_) in sent if kind == "heard"]
    assert told[0] == "reading the pool"
    assert told.index("fitting the model") < told.index("choosing candidates")
    assert told.index("choosing candidates") < told.index("explaining the proposals")
    sent.clear()
    work.view(store, "screen", Campaign.forecast, ())
    assert ("heard", ("looking ahead", 0, 12)) in sent


def test_steps_that_come_quickly_are_not_all_told(sent):
    tell = work._reporter()
    for place in range(1000):
        tell("choosing candidates", place, 1000)
    tell("explaining the proposals", 0, None)
    assert len(sent) < 100
    assert sent[0] == ("heard", ("choosing candidates", 0, 1000))
    assert sent[-1] == ("heard", ("explaining the proposals", 0, None))
