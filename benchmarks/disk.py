"""A campaign on a pool on disk: memory of `ask`, and its time when the page cache cannot hold it.

    python benchmarks/disk.py [--json] [--n 10000000] [--d 64] [--folder FOLDER] [--keep]

Writes n × d random numbers (float32, in pieces) to a .npy file, imports it, begins a campaign with
the linear model and the policy ids, tells a few labels, and runs `serendip ask -n 1`

    warm       with the file in the page cache, as far as memory allows
    starved    while another process drops the file from the page cache, twenty times a second
               (posix_fadvise DONTNEED), so that every pass over the pool reads the disk again

Memory is the largest RssAnon of the process, looked at fifty times a second. How much of the file
the cache held is looked at as well (mincore) and printed, so that "starved" can be believed.
Everything is removed afterwards unless --keep is given. Needs Linux and 2.1 times the pool on disk.
"""

import argparse
import ctypes
import json
import mmap
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from time import perf_counter, sleep

import numpy as np

MEMORY_BAR, SLOWDOWN_BAR = 500e6, 2.0
RUN = "from serendip.cli.main import run; run()"
LABELS = 20

EVICT = """
import os, sys, time
file = os.open(sys.argv[1], os.O_RDONLY)
while True:
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    time.sleep(0.05)
"""


def generate(path, n, d, piece=1 << 17):
    """A .npy file of standard normal numbers, written piece by piece."""
    rng = np.random.default_rng(0)
    x = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(n, d))
    for start in range(0, n, piece):
        stop = min(start + piece, n)
        x[start:stop] = rng.standard_normal((stop - start, d), dtype=np.float32)
    x.flush()


def anonymous_bytes(pid):
    """RssAnon of a process; 0 once it is gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith("RssAnon")), 0)


def cached_share(path):
    """The share of a file that is in the page cache."""
    size = path.stat().st_size
    with path.open("rb") as file, mmap.mmap(file.fileno(), size, prot=mmap.PROT_READ) as mapped:
        pages = -(-size // mmap.PAGESIZE)
        found = (ctypes.c_ubyte * pages)()
        held = np.frombuffer(mapped, dtype=np.uint8)
        libc = ctypes.CDLL(None, use_errno=True)
        code = libc.mincore(ctypes.c_void_p(held.ctypes.data), ctypes.c_size_t(size), found)
        share = float(np.mean(np.frombuffer(found, dtype=np.uint8) & 1)) if code == 0 else np.nan
        del held
    return share


def serendip(*arguments, cwd, watched=None):
    """Runs a command: seconds, peak RssAnon, and the mean share of a file in the page cache."""
    start = perf_counter()
    command = [sys.executable, "-c", RUN, *map(str, arguments)]
    process = subprocess.Popen(
        command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    peak, shares = [0], []
    done = threading.Event()

    def watch():
        turn = 0
        while not done.is_set():
            peak[0] = max(peak[0], anonymous_bytes(process.pid))
            if watched is not None and turn % 50 == 25:
                shares.append(cached_share(watched))
            turn += 1
            sleep(0.02)

    watcher = threading.Thread(target=watch)
    watcher.start()
    said, _ = process.communicate()
    done.set()
    watcher.join()
    if process.returncode:
        raise SystemExit(f"serendip {arguments} failed: {said}")
    return perf_counter() - start, peak[0], float(np.mean(shares)) if shares else float("nan")


def disk_rate(path):
    """Bytes a second of plain sequential reading, from the disk."""
    with path.open("rb", buffering=0) as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        start = perf_counter()
        buffer = bytearray(8 << 20)
        while file.readinto(buffer):
            pass
    return path.stat().st_size / (perf_counter() - start)


def measure(folder, n, d, say):
    """All figures."""
    start = perf_counter()
    generate(folder / "x.npy", n, d)
    say(f"generated {n} × {d} in {perf_counter() - start:.0f} s")
    seconds, peak, _ = serendip("pool", "import", "x.npy", "--out", "pool", cwd=folder)
    features = folder / "pool" / "features.npy"
    say(f"import: {seconds:.0f} s, RssAnon {peak / 1e6:.0f} MB; {features.stat().st_size} bytes")
    figures = {"import seconds": seconds, "import memory": peak}
    seconds, peak, _ = serendip(
        "init", "big", "--pool", "pool", "--label", "y", "--budget", 40, cwd=folder
    )
    say(f"init: {seconds:.1f} s, RssAnon {peak / 1e6:.0f} MB (all checksums are compared once)")
    rng = np.random.default_rng(1)
    rows = "".join(f"{item},{rng.standard_normal():.4f}\n" for item in rng.choice(n, LABELS, False))
    (folder / "told.csv").write_text(f"candidate,y\n{rows}")
    serendip("tell", "big", "told.csv", cwd=folder)
    figures["disk rate"] = disk_rate(features)
    say(f"the disk itself: {figures['disk rate'] / 1e9:.2f} GB/s; the file is in the cache now")
    figures["warm seconds"], warm_peak, share = serendip(
        "ask", "big", "-n", 1, cwd=folder, watched=features
    )
    say(
        f"ask, warm: {figures['warm seconds']:.1f} s, RssAnon {warm_peak / 1e6:.0f} MB, "
        f"{share:.0%} of the file in the page cache"
    )
    evictor = subprocess.Popen([sys.executable, "-c", EVICT, str(features)])
    try:
        sleep(1.0)
        figures["starved seconds"], starved_peak, share = serendip(
            "ask", "big", "-n", 1, cwd=folder, watched=features
        )
    finally:
        evictor.kill()
        evictor.wait()
    say(
        f"ask, starved: {figures['starved seconds']:.1f} s, RssAnon {starved_peak / 1e6:.0f} MB, "
        f"{share:.0%} of the file in the page cache"
    )
    figures["ask memory"] = max(warm_peak, starved_peak)
    figures["starved share"] = share
    return figures


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--n", type=int, default=10_000_000)
    parser.add_argument("--d", type=int, default=64)
    parser.add_argument("--folder", type=Path, default=None)
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="disk-", dir=options.folder))

    def say(text):
        print(text, file=sys.stderr, flush=True)

    try:
        figures = measure(folder, options.n, options.d, say)
    finally:
        if not options.keep:
            shutil.rmtree(folder)
    slowdown = figures["starved seconds"] / figures["warm seconds"]
    memory = figures["ask memory"]
    rows = {
        "ask on disk, RssAnon": {"value": memory, "bar": MEMORY_BAR, "ok": memory <= MEMORY_BAR},
        "ask without page cache / with": {
            "value": slowdown,
            "bar": SLOWDOWN_BAR,
            "ok": slowdown <= SLOWDOWN_BAR,
        },
    }
    print(json.dumps(rows if options.json else rows | figures))


if __name__ == "__main__":
    main()
