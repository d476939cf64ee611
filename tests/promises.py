"""What scripts and programs rest on: options, settings, paths, fields, headers, exit codes.

`promises.json` lists all of it, and a test sees that nothing on the list goes away and that what is
new is on it. After an addition run

    python tests/promises.py

which adds what is new to the list and never takes anything off it.
"""

import contextlib
import json
import os
import re
import sys
import tempfile
from enum import EnumMeta
from pathlib import Path
from typing import Literal, get_args, get_origin

import pandas as pd
import typer

sys.path.insert(0, str(Path(__file__).parent))

import serendip
from campaigns.screens import serendip as typed
from campaigns.screens import write_pool
from serendip.campaigns.log.wire import EVENTS
from serendip.campaigns.spec import Settings
from serendip.cli import main
from serendip.core.settings import described
from serendip.models.registry import MODELS
from serendip.policies.registry import POLICIES
from serendip.web.api.router import api, document_of
from serendip.web.server.settings import ServeSettings

FILE = Path(__file__).with_suffix(".json")


def commands():
    """Every command with its options and what they may be, and how many arguments it takes."""
    main.mount()
    found = {}

    def visit(name, command):
        for word, inner in getattr(command, "commands", {}).items():
            visit(f"{name} {word}", inner)
        lines, place = set(), 0
        for one in command.params:
            named = one.param_type_name == "option"
            place += not named
            words = one.opts if named else [f"argument {place}"]
            lines |= {*words, *one.secondary_opts}
            lines |= {f"{words[-1]}={choice}" for choice in choices_of(one)}
        found[name] = sorted(lines)

    visit("serendip", typer.main.get_command(main.app))
    return found


def choices_of(parameter):
    """The words it may be; old and new typer keep them in different places."""
    described = getattr(parameter, "type_descriptor", None)
    kind = getattr(described, "annotation", getattr(parameter, "bare_type", None))
    if isinstance(kind, EnumMeta):
        return [choice.value for choice in kind]
    if get_origin(kind) is Literal:
        return [*get_args(kind)]
    return [*(getattr(getattr(parameter, "type", None), "choices", None) or ())]


def api_paths(document):
    """Every operation with its parameters and the status of success."""
    return {
        f"{verb.upper()} {path}": sorted(
            [f"{one['in']} {one['name']}" for one in what.get("parameters", ())]
            + [f"status {status}" for status in what["responses"] if status[0] == "2"]
        )
        for path, verbs in document["paths"].items()
        for verb, what in verbs.items()
    }


def api_fields(document):
    """Every schema of answers and requests with its fields."""
    schemas = document["components"]["schemas"]
    named = {name: one for name, one in schemas.items() if not name.startswith("Body_")}
    return {name: sorted(one.get("properties", ())) for name, one in named.items()}


def api_bodies(document, what):
    """What each request has: its `properties`, or those that are `required`."""
    found = {}
    for path, verbs in document["paths"].items():
        for verb, operation in verbs.items():
            for part in operation.get("requestBody", {}).get("content", {}).values():
                schema = part["schema"]
                for one in [schema, *schema.get("anyOf", ())]:
                    name = one.get("$ref", "").rsplit("/", 1)[-1]
                    if name:
                        body = document["components"]["schemas"][name]
                        found[f"{verb.upper()} {path}"] = sorted(body.get(what, ()))
    return found


def outputs():
    """Headers of tables, keys of JSON, words in cells and exit codes, of a campaign that is run."""
    found, codes = {}, {}

    def run(what, *arguments):
        code, out, err = typed(*arguments)
        codes[what] = code
        return out + err

    write_pool(n=12)
    begin = ["init", "screen", "--pool", "pool.csv", "--label", "yield", "--id", "code"]
    run("done", *begin, "--budget", "4", "--model", "linear")
    run("refused", *begin, "--budget", "4")
    run("used wrongly", "ask", "screen", "--no-such-option")
    run("not there", "ask", "nowhere")
    run("asked", "ask", "screen", "-n", "3", "-o", "next.csv")
    found["ask -o"] = list(pd.read_csv("next.csv").columns)
    first, second = pd.read_csv("next.csv")["code"].tolist()[:2]
    run("told", "tell", "screen", "--item", first, "--value", "0.5")
    run("failed", "tell", "screen", "--item", second, "--failed")
    others = [f"c{k:03d}" for k in range(12) if f"c{k:03d}" not in pd.read_csv("next.csv").code]
    run("excluded", "tell", "screen", "--item", others[-1], "--exclude")
    run("nothing left", "ask", "screen", "-n", "3")
    run("nothing left", "ask", "screen", "-n", "3")
    for what in ("results", "pending", "predictions", "events"):
        run("exported", "export", "screen", "--what", what, "-o", f"{what}.csv")
        found[f"export --what {what}"] = list(pd.read_csv(f"{what}.csv").columns)
    expected = json.loads(run("predicted", "predict", "screen", "--format", "json"))
    found["predict --format json"] = list(expected[0])
    status = json.loads(run("looked at", "status", "screen", "--format", "json"))
    found["status --format json"] = [*status, *(f"forecast.{one}" for one in status["forecast"])]
    listed = json.loads(run("listed", "list", "--format", "json"))
    found["list --format json"] = list(listed[0])
    found["states"] = sorted(set(pd.read_csv("predictions.csv")["state"]))
    Path("pool.csv").write_text("code,acid\na,1\n", encoding="utf-8")
    run("needs repair", "doctor")
    return {name: sorted(columns) for name, columns in found.items()}, codes


def promised():
    """All of it, as plain values."""
    settings = ServeSettings()
    document = document_of(api(settings), settings)
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        stack.callback(os.chdir, here)
        os.chdir(folder)
        tables, codes = outputs()
    texts = [
        file.read_text(encoding="utf-8") for file in Path(serendip.__file__).parent.rglob("*.py")
    ]
    return {
        "commands": commands(),
        "settings": sorted(
            {word for one in described(Settings) for word in (one.word, *one.about.retired)}
        ),
        "models": sorted(MODELS),
        "policies": sorted(POLICIES),
        "kinds of events": sorted(EVENTS),
        "paths": api_paths(document),
        "fields": api_fields(document),
        "requests": api_bodies(document, "properties"),
        "required": api_bodies(document, "required"),
        "tables": tables,
        "exit codes": codes,
        "environment": sorted(
            {word for text in texts for word in re.findall(r"SERENDIP_[A-Z]+", text)}
        ),
    }


def read():
    return json.loads(FILE.read_text(encoding="utf-8"))


def merged(old, new):
    """The old list with what is new; where both say something plain, the old holds."""
    if isinstance(old, dict):
        both = {**new, **old}
        return {key: merged(old[key], new.get(key)) if key in old else both[key] for key in both}
    return sorted({*old, *(new or ())}) if isinstance(old, list) else old


def write(value):
    lines = []
    for part, facts in value.items():
        if isinstance(facts, dict):
            inner = [f"  {json.dumps(k)}: {json.dumps(facts[k])}" for k in sorted(facts)]
            lines.append(f" {json.dumps(part)}: {{\n" + ",\n".join(inner) + "\n }")
        else:
            lines.append(f" {json.dumps(part)}: {json.dumps(facts)}")
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    known = read() if FILE.exists() else {}
    made = merged(known, promised())
    made["required"] = {**made["required"], **known.get("required", {})}
    write(made)
