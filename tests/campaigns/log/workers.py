"""Processes that ask and tell, to be killed or to crowd a store; run as a script.

    workers.py kill WHERE NAME ROUNDS SEED      one process after another, each killed at a moment
    workers.py crowd WHERE NAME N SECONDS SEED  many processes at once

What a process was told is done it writes to a pipe, so that it outlives the process. The script
prints JSON: the acknowledged proposals and results, and how the processes ended.
"""

import json
import os
import random
import selectors
import signal
import sys
import time

from serendip.campaigns.campaign import Campaign
from serendip.campaigns.errors import NothingLeft
from serendip.campaigns.proposing import proposals
from serendip.core.errors import AlreadyLabelled


def label(item):
    return round(int(item[1:]) % 97 / 97, 4)


def opened(where, name):
    """The campaign with all that a process would first have to read and import."""
    campaign = Campaign.open(name, where)
    proposals(campaign.problem, campaign.state, name, 1, False)
    return campaign


def work(campaign, acknowledge, luck, seconds):
    """Asks and tells until the time is over; every result is a fact that must not be lost."""
    campaign.who = f"process {os.getpid()}"
    campaign.refresh()
    end = time.monotonic() + seconds
    mine = list(campaign.state.pending)[: luck.randrange(4)]  # what a dead colleague left
    while time.monotonic() < end:
        try:
            batch = campaign.ask(luck.randrange(1, 4))["code"].tolist()
        except NothingLeft:
            return
        acknowledge({"asked": batch})
        mine += batch
        luck.shuffle(mine)
        for item in mine[: luck.randrange(1, 5)]:
            if campaign.state.condition(item) != "proposed":
                continue
            try:
                if luck.random() < 0.1:
                    campaign.fail(item)
                    acknowledge({"failed": item})
                else:
                    campaign.tell({item: label(item)})
                    acknowledge({"told": item, "value": label(item)})
            except AlreadyLabelled:
                continue  # a colleague who had taken over the same proposal was first
        mine = [item for item in mine if campaign.state.condition(item) == "proposed"]


def start(campaign, seed, seconds):
    """A process and the end of the pipe it acknowledges to."""
    ours, theirs = os.pipe()
    process = os.fork()
    if process:
        os.close(theirs)
        return process, ours
    os.close(ours)
    try:
        work(
            campaign,
            lambda fact: os.write(theirs, (json.dumps(fact) + "\n").encode()),
            random.Random(seed),
            seconds,
        )
    except BaseException as problem:
        os.write(theirs, (json.dumps({"problem": repr(problem)}) + "\n").encode())
        os._exit(1)
    os._exit(0)


def facts(text):
    lines = text.decode().split("\n")
    return [json.loads(line) for line in lines[:-1]]


def kill(where, name, rounds, seed):
    luck, seen, killed = random.Random(seed), [], 0
    campaign = opened(where, name)
    longest = 0.7
    for turn in range(rounds):
        process, pipe = start(campaign, f"{seed} {turn}", 60.0)
        time.sleep(luck.uniform(0.0, longest))
        os.kill(process, signal.SIGKILL)
        _, status = os.waitpid(process, 0)
        killed += os.WIFSIGNALED(status)
        with os.fdopen(pipe, "rb") as end:
            found = facts(end.read())
        seen += found
        longest *= 1.0 if found else 1.2  # a busy machine gets as far in the end
    return {"facts": seen, "killed": killed}


def crowd(where, name, count, seconds, seed):
    campaign = opened(where, name)
    pipes = dict(start(campaign, f"{seed} {k}", seconds) for k in range(count))
    text = {pipe: b"" for pipe in pipes.values()}
    waiting = selectors.DefaultSelector()
    for pipe in text:
        waiting.register(pipe, selectors.EVENT_READ)
    while waiting.get_map():
        for key, _ in waiting.select():
            chunk = os.read(key.fd, 65536)
            text[key.fd] += chunk
            if not chunk:
                waiting.unregister(key.fd)
    codes = [os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) for process in pipes]
    return {"facts": [one for part in text.values() for one in facts(part)], "codes": codes}


if __name__ == "__main__":
    mode, where, name, *numbers = sys.argv[1:]
    made = {"kill": kill, "crowd": crowd}[mode](where, name, *(int(n) for n in numbers))
    print(json.dumps(made))
