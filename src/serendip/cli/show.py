"""Progress bars and tables for the terminal."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from functools import partial
from threading import Timer
from typing import TYPE_CHECKING

from serendip.core.progress import Listener, listening

if TYPE_CHECKING:
    from rich.progress import Progress


class Format(StrEnum):
    """How a result is printed."""

    table = "table"
    csv = "csv"
    json = "json"


PATIENCE = 2.0
"""Seconds that people wait without being told how long."""


@contextmanager
def progress_bar(title: str) -> Iterator[Callable[[int, int | None], None]]:
    """A bar with the time left, on standard error; the function takes (done, total).

    Where the total is not known it is None. Where no terminal shows it, there is no bar.
    """
    with _bar(title) as tell:
        yield lambda done, total: tell(title, done, total)


@contextmanager
def show_progress() -> Iterator[None]:
    """Shows how far the work within is, where it takes longer than `PATIENCE`; then clears it."""
    with _bar("", PATIENCE) as tell, listening(tell):
        yield


@contextmanager
def _bar(title: str, after: float = 0.0) -> Iterator[Listener]:
    """A bar that follows one thing after another; one that comes later than the rest also goes."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = Console(file=sys.stderr)
    if not (console.is_interactive if after else console.is_terminal):
        yield lambda what, done, total: None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=20 if after else 30),
        TextColumn("{task.fields[count]}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    # What is printed on standard output meanwhile stays there.
    bar = Progress(*columns, console=console, transient=after > 0, redirect_stdout=False)
    bar.add_task(title, total=None, count="")
    late = Timer(after, bar.start)
    late.daemon = True
    if after:
        late.start()
    else:
        bar.start()
    try:
        yield partial(_move, bar)
    finally:
        late.cancel()
        if after:
            late.join()  # it may be about to start
        if bar.live.is_started:
            bar.stop()


def _move(bar: "Progress", what: str, done: int, total: int | None) -> None:
    """Moves the bar, which begins anew with whatever else is done, but for the time elapsed."""
    task = bar.tasks[0]
    if task.description != what:
        task.finished_time = task.finished_speed = None
    if total is None:
        task.total = None
    count = "" if total is None else f"{done}/{total}"
    bar.update(task.id, description=what, completed=done, total=total, count=count)


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]], title: str = "") -> None:
    """A plain table; the first column is text, the others are numbers."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title or None, box=box.SIMPLE_HEAD, title_justify="left")
    for place, name in enumerate(columns):
        table.add_column(name, justify="left" if place == 0 else "right", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    console = Console()
    if not console.is_terminal:
        console = Console(width=160)
    console.print(table)
