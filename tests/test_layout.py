"""The rules of the layout: few files at the root, rooms of a readable size, no import cycles."""

import ast
import re
from pathlib import Path

import networkx as nx
import pytest

import serendip
from architecture import PAGE, import_graph, page_part, written

SRC = Path(serendip.__file__).parent
MOST_MODULES, MOST_LINES = 24, 400


def test_the_root_holds_the_public_names_and_nothing_else():
    files = {file.name for file in SRC.iterdir() if file.is_file()}
    assert files == {"__init__.py", "__main__.py", "py.typed"}


def test_no_folder_has_too_many_modules():
    folders = [SRC, *(folder for folder in SRC.rglob("*") if folder.is_dir())]
    counts = {str(folder.relative_to(SRC)): len(list(folder.glob("*.py"))) for folder in folders}
    assert max(counts.values()) <= MOST_MODULES, counts


def test_no_file_is_too_long():
    files = sorted(SRC.rglob("*.py"))
    counts = {str(file): len(file.read_text(encoding="utf-8").splitlines()) for file in files}
    assert {name: count for name, count in counts.items() if count > MOST_LINES} == {}


def test_every_folder_of_modules_says_what_lives_in_it():
    for folder in {file.parent for file in SRC.rglob("*.py")}:
        said = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8")))
        assert said, folder
        texts = [file.read_text(encoding="utf-8") for file in folder.rglob("*.py")]
        for name in re.findall(r"`(\w+)`", said.partition("\n")[0]):
            known = re.compile(rf"^(def|class) {name}\b", re.MULTILINE)
            assert any(known.search(text) for text in texts), f"{folder}: {name}"


def test_no_import_goes_in_a_circle():
    graph = import_graph(SRC)
    circles = [sorted(one) for one in nx.strongly_connected_components(graph) if len(one) > 1]
    assert circles == []


@pytest.mark.parametrize(
    "text",
    [
        "from house.b import B",
        "from house import b",
        "import house.b",
        "from .b import B",
        "from . import b",
        "def f():\n    from house.b import B",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from house.b import B",
    ],
)
def test_every_way_to_import_is_seen(tmp_path, text):
    house = tmp_path / "house"
    house.mkdir()
    for name, said in (("__init__", ""), ("a", text), ("b", "class B:\n    pass")):
        (house / f"{name}.py").write_text(said)
    assert list(import_graph(house).edges) == [("house.a", "house.b")]


def test_the_picture_of_the_packages_is_current():
    page = PAGE.read_text(encoding="utf-8")
    assert page == written(page, page_part(SRC)), "run python benchmarks/architecture.py"
