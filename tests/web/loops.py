"""Coroutines in tests."""

import asyncio
from concurrent.futures import ThreadPoolExecutor


def run(coroutine):
    """What a coroutine returns, run in a thread of its own.

    The browser's driver keeps an event loop running in the main thread for as long as a session of
    tests lasts, and a thread has room for one.
    """
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()
