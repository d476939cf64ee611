"""`serendip serve` as typed: what it says when it cannot."""

import socket
import subprocess
import sys

from campaigns.screens import serendip

WITHOUT = """
import sys
class Missing:
    def find_spec(self, name, *_):
        if name.split(".")[0] == {name!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Missing())
from serendip.cli.main import run
run()
"""


def test_without_the_extra_one_sentence_names_it(tmp_path):
    for name in ("fastapi", "uvicorn"):
        made = subprocess.run(
            [sys.executable, "-c", WITHOUT.format(name=name), "serve", "--port", "0"],
            cwd=tmp_path, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert made.returncode == 2
        assert made.stderr == (
            f"serendip: The page needs {name}, which is not installed; "
            "run pip install 'serendip[web]'.\n"
        )


def test_help_needs_no_extra_and_loads_nothing_heavy(tmp_path):
    script = WITHOUT.format(name="fastapi").replace(
        "run()\n",
        "try:\n    run()\nfinally:\n    print(sorted({'numpy', 'pandas', 'fastapi', 'sqlalchemy'} "
        "& set(sys.modules)))\n",
    )
    made = subprocess.run(
        [sys.executable, "-c", script, "serve", "--help"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "--token" in made.stdout
    assert made.stdout.splitlines()[-1] == "[]"
    assert not (tmp_path / "serendip.db").exists()


def test_a_port_that_is_taken_is_one_sentence(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, _, said = serendip("serve", "--port", port, "--store", tmp_path / "lab.db")
    assert code == 2
    assert f"port {port}" in said
    assert "--port" in said
    assert len(said.splitlines()) == 1


def test_bad_settings_are_one_sentence(tmp_path):
    for options, word in (
        (("--token", "short"), "token"),
        (("--host", "no.such.host.invalid"), "no.such.host.invalid"),
        (("--store", str(tmp_path)), "folder"),
    ):
        arguments = ("--store", tmp_path / "lab.db") if "--store" not in options else ()
        code, _, said = serendip("serve", "--port", 0, *arguments, *options)
        assert code == 2
        assert word in said
        assert len(said.splitlines()) == 1, said
