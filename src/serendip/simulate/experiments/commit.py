"""Which commit a run is played at."""

import subprocess
from functools import cache
from importlib import metadata
from pathlib import Path


@cache
def played_at() -> str:
    """The commit of this checkout, with + where its code was changed since; else the version."""
    try:
        commit = _git("rev-parse", "--short=12", "HEAD")
        changed = _git("status", "--porcelain", "--", str(Path(__file__).parents[2]))
    except (OSError, subprocess.CalledProcessError):
        return f"version {metadata.version('serendip')}"
    return f"{commit}+" if changed else commit


def _git(*arguments: str) -> str:
    return subprocess.run(
        ["git", *arguments],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
