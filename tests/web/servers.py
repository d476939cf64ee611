"""A real server in a process of its own, and pools to begin campaigns with."""

import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

import httpx
import numpy as np

PATIENCE = 180
"""Seconds; machines that run tests may be busy with others."""

RUN = "from serendip.cli.main import run; run()"


get = partial(httpx.get, timeout=PATIENCE)
post = partial(httpx.post, timeout=PATIENCE)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Server:
    """`serendip serve` on a store; as a context it ends with it."""

    def __init__(self, store, *options, port=None, host="127.0.0.1"):
        self.port = port or free_port()
        self.host = host
        self.url = f"http://127.0.0.1:{self.port}"
        self.api = f"{self.url}/api/v1"
        self.log = Path(store).with_suffix(".log") if "://" not in str(store) else Path("serve.log")
        self.command = [
            *(sys.executable, "-c", RUN, "serve"),
            *("--port", str(self.port), "--host", host, "--store", str(store), *options),
        ]
        self.process = None

    def start(self):
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.command, stdout=log, stderr=log, start_new_session=True
            )
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline and self.process.poll() is None:
            with suppress(httpx.TransportError):
                httpx.get(f"{self.url}/api/v1/openapi.json", timeout=PATIENCE)
                return self
            time.sleep(0.1)
        self.stop()
        raise AssertionError(f"the server did not start: {self.log.read_text()}")

    def kill(self):
        """At once, as a power cut would."""
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def stop(self):
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(60)
            except subprocess.TimeoutExpired:
                self.kill()
                raise

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()

    def client(self, **options):
        return httpx.Client(base_url=self.url, timeout=PATIENCE, **options)


def rows(n=40, d=3, seed=0):
    """Candidates with `d` features."""
    x = np.random.default_rng(seed).normal(size=(n, d)).round(4)
    names = [f"x{k}" for k in range(d)]
    return [
        {"code": f"c{place:03d}", **dict(zip(names, map(float, x[place]), strict=True))}
        for place in range(n)
    ]


def begin(client, name="screen", n=40, d=3, **settings):
    """A campaign over REST."""
    body = {
        "name": name,
        "label": "yield",
        "id": "code",
        "budget": n,
        "rows": rows(n, d),
        **settings,
    }
    made = client.post("/api/v1/campaigns", json=body)
    assert made.status_code == 201, made.text
    return made.json()


def key():
    return secrets.token_hex(12)
