"""Clients that ask and tell for a while, all at once, and remember what was acknowledged."""

import asyncio
import itertools
import time
from dataclasses import dataclass, field

import httpx

from web.servers import PATIENCE, key


@dataclass
class Seen:
    """What the clients were told is done."""

    asked: list = field(default_factory=list)
    told: dict = field(default_factory=dict)
    """The last acknowledged value of each candidate."""
    n_told: int = 0
    n_corrected: int = 0
    statuses: dict = field(default_factory=dict)
    tell_seconds: list = field(default_factory=list)
    ask_seconds: list = field(default_factory=list)
    retries: int = 0
    wrong: list = field(default_factory=list)


async def send(client, path, body, seen, end, patient):
    """The answer to a request that is repeated, with its key, until there is one."""
    headers = {"Idempotency-Key": key()}
    while True:
        try:
            begin = time.perf_counter()
            answer = await client.post(path, json=body, headers=headers)
            seconds = time.perf_counter() - begin
        except httpx.TransportError:
            if not patient:
                raise
            seen.retries += 1
            await asyncio.sleep(0.2)
            continue
        kind = f"{path.rsplit('/', 1)[-1]} {answer.status_code}"
        seen.statuses[kind] = seen.statuses.get(kind, 0) + 1
        return answer, seconds


async def one_client(url, name, place, seen, end, values, patient, pause):
    mine = []
    limits = httpx.Limits(max_connections=1, max_keepalive_connections=1)
    async with httpx.AsyncClient(base_url=url, timeout=PATIENCE, limits=limits) as client:
        spent = False
        while time.monotonic() < end:
            item, correct = None, False
            if not spent:
                body = {"count": 1, "who": f"robot {place}"}
                answer, seconds = await send(
                    client, f"/api/v1/campaigns/{name}/ask", body, seen, end, patient
                )
                if answer.status_code == 200:
                    seen.ask_seconds.append(seconds)
                    made = answer.json()
                    item = made["proposals"][0][made["id_column"]]
                    seen.asked.append(item)
                    mine.append(item)
                elif answer.status_code == 409:
                    spent = True
            if item is None:
                if not mine:
                    return
                item, correct = mine[next(values) % len(mine)], True
            value = next(values) / 1000
            body = {"results": {item: value}, "correct": correct, "who": f"robot {place}"}
            answer, seconds = await send(
                client, f"/api/v1/campaigns/{name}/tell", body, seen, end, patient
            )
            if answer.status_code == 200:
                seen.tell_seconds.append(seconds)
                seen.told[item] = value
                seen.n_corrected += correct
                seen.n_told += not correct
            else:
                seen.wrong.append(answer.text)
            await asyncio.sleep(pause)


async def crowd(url, name, count, seconds, patient=False, pause=0.2):
    """So many clients for so long; each needs `pause` seconds for a measurement."""
    seen, values = Seen(), itertools.count(1)
    end = time.monotonic() + seconds
    await asyncio.gather(
        *(one_client(url, name, k, seen, end, values, patient, pause) for k in range(count))
    )
    return seen
