"""Names of models and policies: ours, those of installed packages, and import paths."""

import subprocess
import sys
from pathlib import Path

import pytest

from serendip.core.errors import InvalidInput, NotAvailable
from serendip.core.protocols import Posterior
from serendip.core.registry import Ready, is_path
from serendip.core.rng import stream
from serendip.models import registry as models
from serendip.models.gp.kernels import single_columns
from serendip.models.linear.model import LinearModel
from serendip.models.registry import MODELS, Input, ModelEntry, adopt_model, takes
from serendip.models.table_models import Features
from serendip.policies import registry as policies
from serendip.policies.greedy import Greedy
from serendip.policies.registry import POLICIES, PolicyEntry, adopt_policy, entry_for_plots, name_of
from serendip.policies.serving import serves
from strangers import Package

THREE = Features(3, single_columns(3))
REGISTRIES = (models.REGISTRY, policies.REGISTRY)


@pytest.fixture(name="package")
def _package(tmp_path, monkeypatch):
    package = Package(tmp_path / "site")
    monkeypatch.syspath_prepend(package.folder)
    yield package
    sys.modules.pop(package.name, None)


@pytest.mark.parametrize("name", POLICIES)
def test_every_policy_is_what_its_entry_says(name):
    entry = POLICIES[name]
    assert entry.name == name
    assert name_of(entry.make()) == name
    assert policies.policy_named(name) == entry.make()
    assert entry.title
    assert entry.plotted != name
    assert entry_for_plots(name) is entry


def test_a_policy_is_offered_where_some_model_serves_it():
    made = [entry.make(THREE) for entry in MODELS.values() if entry.takes is Input.features]
    priors: list[Posterior] = [one.posterior((), stream(0, "prior")) for one in made]
    served = {
        name for name, one in POLICIES.items() if any(serves(prior, one.make()) for prior in priors)
    }
    assert served == {name for name, entry in POLICIES.items() if entry.offered}


@pytest.mark.parametrize("name", [name for name in MODELS if takes(name) is Input.features])
def test_every_model_of_features_is_made_of_them(name):
    model = MODELS[name].make(THREE)
    assert model.posterior((), stream(0, "prior")).n_labels == 0
    constant = getattr(model, "constant_column", None)
    assert constant == (None if MODELS[name].own_constant else 2)


def test_reading_names_imports_nothing_heavy_and_no_package(tmp_path):
    package = Package(tmp_path)
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from serendip.models.registry import REGISTRY as models\n"
        "from serendip.policies.registry import REGISTRY as policies\n"
        "print(*models.titles(), *policies.titles())\n"
        "print(*{'numpy', 'scipy', 'pandas', 'laboratory'} & set(sys.modules))\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True
    )
    names, heavy = ran.stdout.split("\n")[:2]
    assert {"plane", "cautious", "ids", "auto"} <= set(names.split())
    assert heavy == ""
    assert not package.was_imported


def test_a_package_is_imported_when_its_name_is_chosen(package):
    assert policies.REGISTRY.titles()["cautious"] == "from the package laboratory"
    assert policies.REGISTRY.check("cautious") == "cautious"
    assert models.REGISTRY.check("plane") == "plane"
    assert takes("plane") is Input.features
    assert not package.was_imported
    assert type(policies.policy_named("cautious")).__name__ == "Cautious"
    assert package.was_imported
    model = models.REGISTRY.get("plane").make(Features(3))
    assert model == LinearModel(3)


def test_a_name_of_ours_stays_ours(tmp_path, monkeypatch):
    points = "[serendip.policies]\nids = {name}:Cautious\nbad:name = {name}:Cautious\n"
    monkeypatch.syspath_prepend(Package(tmp_path, "impostor", points).folder)
    assert policies.REGISTRY.titles()["ids"] == POLICIES["ids"].title
    assert "bad:name" not in policies.REGISTRY.titles()
    assert name_of(policies.policy_named("ids")) == "ids"


def test_two_packages_with_one_name_are_refused(tmp_path, monkeypatch):
    for name in ("laboratory", "workshop"):
        package = Package(tmp_path / name, name)
        monkeypatch.syspath_prepend(package.folder)
    with pytest.raises(InvalidInput, match="offered by laboratory and workshop; uninstall one"):
        policies.policy_named("cautious")
    assert not package.was_imported


def test_an_import_path_runs_only_where_it_is_allowed(package):
    path = "laboratory:Cautious"
    for allow in ((), ("laboratory",), ("laboratory:plane",)):
        with pytest.raises(NotAvailable, match="an import path"):
            policies.policy_named(path, allow)
        with pytest.raises(NotAvailable, match=f"add --allow {path}"):
            policies.REGISTRY.recall(path, allow)
    assert not package.was_imported
    assert type(policies.policy_named(path, [path])).__name__ == "Cautious"


@pytest.mark.parametrize("registry", REGISTRIES)
def test_what_is_gone_is_said_with_what_helps(registry):
    words = f"the {registry.one} 'gone', which is not installed here; install the package"
    with pytest.raises(NotAvailable, match=words):
        registry.recall("gone")
    with pytest.raises(NotAvailable, match=r"nowhere:gone could not be imported \(No module"):
        registry.recall("nowhere:gone", ["nowhere:gone"])
    with pytest.raises(InvalidInput, match=f"There is no {registry.one} 'gone'"):
        registry.get("gone")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("raise RuntimeError('no licence')", "no licence"),
        ("import sys; sys.exit(3)", "3"),
        ("nonsense", "name 'nonsense' is not defined"),
    ],
)
def test_a_package_that_fails_is_told_in_a_sentence(tmp_path, monkeypatch, line, said):
    (tmp_path / "failing.py").write_text(line)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(NotAvailable) as caught:
        policies.policy_named("failing:P", ["failing:P"])
    assert f"failing:P could not be imported ({said})" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("a:b", True),
        ("a.b_c:D.e", True),
        ("ids", False),
        ("a:", False),
        (":b", False),
        ("a:b:c", False),
        ("a b:c", False),
        ("postgresql://x", False),
        ("../a:b", False),
        (None, False),
    ],
)
def test_what_an_import_path_is(name, found):
    assert is_path(name) is found


@pytest.mark.parametrize("found", [Greedy(), Greedy, lambda: Greedy(), POLICIES["greedy"]])
def test_a_policy_is_taken_in_any_form(found):
    entry = adopt_policy("mine", found)
    assert (entry.name, entry.make()) == ("mine", Greedy())
    assert entry.role is policies.Role.rival


@pytest.mark.parametrize("found", [3, "ids", None, [], LinearModel, lambda: 3, LinearModel(2)])
def test_what_is_no_policy_is_refused(found):
    with pytest.raises(InvalidInput, match="The policy mine"):
        adopt_policy("mine", found)


@pytest.mark.parametrize(
    "found", [LinearModel(3), LinearModel, lambda n: LinearModel(n), MODELS["linear"]]
)
def test_a_model_is_taken_in_any_form(found):
    entry = adopt_model("mine", found)
    assert entry.name == "mine"
    assert isinstance(entry.make(Features(3)), LinearModel)


@pytest.mark.parametrize("found", [int, lambda: LinearModel(3), lambda n: n, Greedy])
def test_what_makes_no_model_is_refused(found):
    with pytest.raises(InvalidInput, match="The model mine"):
        adopt_model("mine", found).make(Features(3))


@pytest.mark.parametrize("found", [3, None, "linear", Greedy(), MODELS["graph"]])
def test_what_is_no_model_is_refused(found):
    with pytest.raises(InvalidInput, match="The model mine"):
        adopt_model("mine", found)


def test_an_entry_of_a_package_may_say_more():
    theirs = ModelEntry("x", "a logit", Ready(LinearModel(3)), own_constant=False, unit_labels=True)
    entry = adopt_model("logit", theirs)
    assert (entry.name, entry.own_constant, entry.unit_labels) == ("logit", False, True)
    drawn = adopt_policy("mine", PolicyEntry("x", "a rule", Greedy, "Mine", "#123456"))
    assert (drawn.name, drawn.plotted, drawn.colour) == ("mine", "Mine", "#123456")


def test_names_stand_where_they_belong_and_nowhere_else():
    """A policy's name: its entry, the paper's experiments. A model's: its entry, what is usual."""
    source = Path(policies.__file__).parents[1]
    allowed = {"policies/registry.py", "models/registry.py", "cli/reproduce_figures.py"}
    found = set()
    for file in (*source.rglob("*.py"), *source.rglob("*.html")):
        place = file.relative_to(source).as_posix()
        text = file.read_text(encoding="utf-8")
        for name in ("ids-exact", "vids", "thompson", "oful", "glm-ucb", "greedy", "low-rank"):
            if (f'"{name}"' in text or f"'{name}'" in text) and place not in allowed:
                found.add((place, name))
    outside = {one for one in found if not one[0].startswith("simulate/experiments/")}
    assert outside == {("models/table_models.py", "low-rank")}  # a member of the mixture `auto`
