"""Work for the lanes under test; functions of a module, so that they can travel."""

import os
import signal
import time

from serendip.core.errors import InvalidInput
from serendip.web.server.lanes import report


def double(x):
    return 2 * x


def who():
    return os.getpid(), os.environ["SERENDIP_THREADS"], os.nice(0)


def refuse(words):
    raise InvalidInput(words)


def fail():
    raise ZeroDivisionError


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def hungry():
    return len(bytearray(8_000_000_000))


def steps(count):
    for place in range(count):
        report((place + 1, count))
    return "done"


def sleep(seconds):
    report("begun")
    time.sleep(seconds)
