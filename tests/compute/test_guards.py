"""Scripts without a guard are told so in one sentence, without a traceback."""

import os
import subprocess
import sys
import time
from contextlib import suppress

import httpx
import pytest

from web.servers import PATIENCE, free_port

TABLE = "import numpy as np, pandas as pd\nx = np.random.default_rng(0).standard_normal((30, 3))\n"
BACKTEST = TABLE + (
    "from serendip import backtest, Columns\n"
    "from serendip.core.errors import SerendipError\n"
    "frame = pd.DataFrame(x, columns=list('aby'))\n"
    "def main():\n"
    "    try:\n"
    "        made = backtest(frame, 'y', columns=Columns('linear'), policies='random',\n"
    "                        repeats=6, budget=3, jobs=2)\n"
    "        print('runs', len(made.steps))\n"
    "    except SerendipError as problem:\n"
    "        print('said', problem)\n"
)
GUARD = "if __name__ == '__main__':\n    "


def run(folder, text):
    script = folder / "script.py"
    script.write_text(text)
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, cwd=folder, check=False
    )
    return done.returncode, done.stdout.splitlines(), done.stderr


def test_a_script_without_a_guard_is_told_so(tmp_path):
    code, lines, errors = run(tmp_path, BACKTEST + "main()\n")
    assert (code, len(lines)) == (0, 1)  # printed once: the workers did nothing
    assert lines[0].startswith("said The script has no guard")
    assert 'if __name__ == "__main__":' in lines[0]
    assert "memory" not in lines[0]
    assert "Traceback" not in errors
    code, lines, errors = run(tmp_path, BACKTEST + GUARD + "main()\n")
    assert (code, lines[0].split()[0]) == (0, "runs"), errors


SERVE = (
    "import sys\nfrom serendip.cli.main import run\n"
    "sys.argv = ['serendip', 'serve', '--port', '{port}', '--store', 'lab.db']\n"
)
OWN_SERVER = (
    "import uvicorn\nfrom serendip.web.app import create_app\n"
    "from serendip.web.server.settings import ServeSettings\n"
    "app = create_app(ServeSettings(store='lab.db', port={port}).guarded())\n"
)


@pytest.mark.parametrize("guarded", [False, True])
@pytest.mark.parametrize(
    ("script", "start"),
    [(SERVE, "run()\n"), (OWN_SERVER, "uvicorn.run(app, port={port}, log_level='warning')\n")],
)
def test_an_upload_to_a_server_without_a_guard(script, start, guarded, tmp_path):
    port = free_port()
    if guarded and script is OWN_SERVER:
        script, start = "", f"{script}{start}".replace("\n", "\n    ").rstrip() + "\n"
    text = script + (GUARD if guarded else "") + start
    (tmp_path / "script.py").write_text(text.format(port=port))
    with (tmp_path / "log").open("wb") as log:
        server = subprocess.Popen(
            [sys.executable, "script.py"], cwd=tmp_path, stdout=log, stderr=log, env={**os.environ}
        )
    try:
        url, answer = f"http://127.0.0.1:{port}/api/v1", None
        deadline = time.monotonic() + PATIENCE
        while answer is None and time.monotonic() < deadline and server.poll() is None:
            with suppress(httpx.TransportError):
                answer = httpx.get(f"{url}/openapi.json", timeout=PATIENCE)
            time.sleep(0.1)
        sent = {"file": ("t.csv", "id,a\nx,1\ny,2\n")}
        answer = httpx.post(f"{url}/tables", files=sent, timeout=PATIENCE)
        if guarded:
            assert answer.status_code == 201, answer.text
        else:
            assert answer.status_code >= 400
            assert "The script has no guard" in answer.json()["detail"]
            assert "too large" not in answer.text
    finally:
        server.kill()
        server.wait()
    assert "Traceback" not in (tmp_path / "log").read_text()
