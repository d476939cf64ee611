"""Public names: each is reached from where it is promised, and nothing is imported before."""

import ast
import inspect
import pydoc
import re
import subprocess
import sys
import tomllib
from dataclasses import is_dataclass
from importlib import import_module
from pathlib import Path

import pytest

import serendip

PACKAGES = (
    "serendip", "campaigns", "compute", "models", "plots", "policies", "pools", "problems",
    "simulate", "tables", "theory",
)  # fmt: skip


@pytest.mark.parametrize("name", PACKAGES)
def test_every_public_name_is_there(name):
    package = serendip if name == "serendip" else getattr(serendip, name)
    assert package.__all__
    for one in package.__all__:
        assert getattr(package, one) is not None
    assert set(package.__all__) <= set(dir(package))


def test_what_is_public_here_is_public_in_its_package():
    for name in PACKAGES[1:]:
        package = getattr(serendip, name)
        both = set(package.__all__) & set(serendip.__all__)
        assert all(getattr(package, one) is getattr(serendip, one) for one in both)
        homes = {one: getattr(getattr(serendip, one), "__module__", "") for one in serendip.__all__}
        own = {one for one, home in homes.items() if home.startswith(f"serendip.{name}.")}
        assert own <= set(package.__all__)


def test_a_name_that_is_none_is_an_error():
    with pytest.raises(AttributeError, match="module 'serendip' has no attribute 'nonsense'"):
        _ = serendip.nonsense
    with pytest.raises(ImportError, match="cannot import name 'Nonsense'"):
        exec("from serendip.models import Nonsense")
    assert not hasattr(serendip.models, "__version__")


def test_the_version_is_that_of_the_project():
    project = Path(__file__).parents[1] / "pyproject.toml"
    assert serendip.__version__ == tomllib.loads(project.read_text())["project"]["version"]


def test_nothing_is_imported_before_it_is_used():
    said = "import sys, serendip; print(*{name.split('.')[0] for name in sys.modules})"
    run = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, check=True)
    assert {"numpy", "scipy", "pandas", "typing"}.isdisjoint(run.stdout.split())
    said = "import serendip; print(serendip.theory.coherence.__name__, serendip.plots.fit_figure)"
    run = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, check=True)
    assert run.stdout.startswith("coherence <function fit_figure")


def test_everything_can_be_imported_at_once():
    for name in PACKAGES:
        home = name if name == "serendip" else f"serendip.{name}"
        scope = {}
        exec(f"from {home} import *", scope)
        assert set(import_module(home).__all__) <= set(scope)


def _public_values():
    found = [getattr(serendip, name) for name in serendip.__all__]
    return [one for one in found if isinstance(one, type) and is_dataclass(one)]


@pytest.mark.parametrize("kind", _public_values())
def test_help_says_what_each_field_means(kind):
    """A string under a field is for readers of the source alone: help() never shows it."""
    tree = ast.parse(inspect.getsource(kind))
    fields = [one for one in tree.body[0].body if isinstance(one, ast.AnnAssign)]
    below = [one for one in tree.body[0].body[1:] if isinstance(one, ast.Expr)]
    assert [ast.unparse(one) for one in below] == []
    listed = (inspect.getdoc(kind) or "").partition("Attributes:\n")[2]
    said = re.findall(r"^    (\w+): \S", listed, flags=re.MULTILINE)
    assert set(said) <= {one.target.id for one in fields}
    if len(fields) > 4:  # too many to be told by their names
        assert said


def test_help_says_what_a_setting_of_the_usual_policy_means():
    shown = pydoc.render_doc(serendip.BudgetIDS, renderer=pydoc.plaintext)
    assert "Attributes:" in shown
    assert "power: λ, what the exponent is while the budget is large." in shown
    assert "n_draws: M; 30 or fewer are biased." in shown
