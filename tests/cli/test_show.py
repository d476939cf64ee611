"""What a terminal shows of long work: nothing at first, then where it stands, and nothing after."""

import os
import pty
import re
import sys
import time
from contextlib import contextmanager

import pytest

from serendip.cli import show
from serendip.core.progress import counted, report


@pytest.fixture(name="terminal")
def _terminal(monkeypatch):
    """A function: a context in which standard error is a terminal; says what that was sent."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("NO_COLOR", raising=False)

    @contextmanager
    def opened():
        here, there = pty.openpty()
        sent = []
        with open(there, "w", encoding="utf-8") as screen, monkeypatch.context() as patched:
            patched.setattr(sys, "stderr", screen)
            yield sent
            screen.flush()
            os.set_blocking(here, False)
            try:
                while data := os.read(here, 1 << 16):
                    sent.append(data)
            except OSError:  # that was all
                pass
        os.close(here)

    return opened


def plain(sent):
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", b"".join(sent).decode())


def test_what_is_soon_done_shows_nothing_at_all(terminal):
    with terminal() as sent, show.show_progress():
        report("fitting the model")
        list(counted("choosing candidates", 96))
    assert sent == []


def test_what_takes_longer_says_where_it_stands_and_is_wiped_away(terminal, monkeypatch, capfd):
    monkeypatch.setattr(show, "PATIENCE", 0.2)
    with terminal() as sent, show.show_progress():
        report("fitting the model")
        time.sleep(0.6)
        for place in counted("choosing candidates", 96):
            time.sleep(0.02)
            if place == 50:
                print("a result")
    words = plain(sent)
    assert "fitting the model" in words
    assert re.search(r"choosing candidates .*\d+/96 0:00:0\d left 0:00:0\d", words)
    assert b"".join(sent).rstrip().endswith(b"\x1b[2K")
    assert "a result" not in words
    assert capfd.readouterr().out == "a result\n"


def test_an_interrupt_leaves_the_terminal_as_it_was(terminal, monkeypatch):
    monkeypatch.setattr(show, "PATIENCE", 0.1)

    def work():
        with show.show_progress():
            report("fitting the model")
            time.sleep(0.5)
            raise KeyboardInterrupt

    with terminal() as sent, pytest.raises(KeyboardInterrupt):
        work()
    hidden, shown, told = b"\x1b[?25l", b"\x1b[?25h", b"".join(sent)
    assert hidden in told
    assert told.rindex(shown) > told.rindex(hidden)


def test_where_there_is_no_terminal_nothing_is_shown(monkeypatch, capfd):
    monkeypatch.setattr(show, "PATIENCE", 0.05)
    with show.show_progress():
        report("fitting the model")
        time.sleep(0.2)
    with show.progress_bar("backtest") as progress:
        progress(1, 2)
    assert capfd.readouterr() == ("", "")


def test_a_bar_with_a_title_is_there_at_once_and_stays(terminal):
    with terminal() as sent, show.progress_bar("backtest") as progress:
        progress(3, 4)
    assert "backtest" in plain(sent)
    assert "3/4" in plain(sent)
