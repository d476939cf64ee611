"""Which kernels are tried: those that lie below this processor, and of these the ones named."""

import pytest

import kernels
from kernels import Setting, chosen

OWN, NEW, OLD = Setting("", ("AVX2",)), Setting("Haswell", ()), Setting("Prescott", ("AVX2",))
EVERY = [OWN, NEW, OLD]


@pytest.mark.parametrize(
    ("names", "quick", "found"),
    [
        ([], False, EVERY),
        ([], True, [OWN, OLD]),
        (["Prescott"], False, [OLD]),
        (["Prescott"], True, [OLD]),
        (["Haswell", "own", "Haswell"], False, [NEW, OWN]),
    ],
)
def test_a_kernel_that_is_named_is_run_alone(names, quick, found):
    assert chosen(EVERY, names, quick) == found


def test_a_kernel_that_is_not_there_is_refused_with_those_that_are():
    with pytest.raises(SystemExit, match=r"no kernel Zen .* there are: own, Haswell, Prescott\.$"):
        chosen(EVERY, ["Zen"], False)
    with pytest.raises(SystemExit, match="there are: none"):
        chosen([], ["Prescott"], False)
    assert chosen([], [], True) == []


def test_nothing_above_the_processor_is_tried(monkeypatch):
    """What it lacks would crash; what it has it can do without."""
    has = {"SSE3": True, "SSE42": True, "AVX": True, "AVX2": False, "AVX512_SKX": False}
    monkeypatch.setattr(kernels, "features", lambda: (has, ("AVX",)))
    tried = kernels.settings()
    assert [one.kernel for one in tried] == ["", "Sandybridge", "Nehalem", "Prescott"]
    assert all(one.without == ("AVX",) for one in tried)
    assert tried[-1].environment["OPENBLAS_CORETYPE"] == "Prescott"
    assert tried[-1].environment["NPY_DISABLE_CPU_FEATURES"] == "AVX"
    assert "OPENBLAS_CORETYPE" not in tried[0].environment


def test_numpy_without_what_it_can_spare_uses_nothing_of_it():
    from numpy._core._multiarray_umath import __cpu_dispatch__ as dispatched

    _, spare = kernels.features()
    setting = Setting("", spare)
    _, enabled = kernels.in_use(setting)
    assert not set(dispatched) & set(enabled)
    assert "NumPy still uses" not in kernels.why_not(setting, [], enabled)
