"""The tests that compare choices, under other kernels of BLAS and other instructions.

    python tests/kernels.py             every kernel below what the processor has; some minutes each
    python tests/kernels.py --quick     two of them and fewer tests: about a minute on two cores
    python tests/kernels.py Prescott    this one alone, or several; `own` is the processor's

Sums round differently on every kind of processor. `OPENBLAS_CORETYPE` makes OpenBLAS, of NumPy and
of SciPy, compute as on an older one, and `NPY_DISABLE_CPU_FEATURES` keeps NumPy from newer
instructions. Only what lies below this processor can be had, for what lies above it would crash.
What was asked for is compared with what the libraries say they use.
"""

import argparse
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np

_KERNELS = {
    # OpenBLAS's name: an instruction that it needs, and what it may call itself.
    "Prescott": ("SSE3", ("Prescott", "Katmai")),
    "Nehalem": ("SSE42", ("Nehalem",)),
    "Sandybridge": ("AVX", ("Sandybridge",)),
    "Haswell": ("AVX2", ("Haswell",)),
    "SkylakeX": ("AVX512_SKX", ("SkylakeX",)),
    "ARMV8": ("ASIMD", ("armv8", "ARMV8")),
}
_WIDE = ("AVX512", "X86_V4")
"""What later processors than Haswell have."""

_TESTS = (
    *("tests/contracts", "tests/core", "tests/policies", "tests/pools"),
    *("tests/compute/test_actors.py", "tests/compute/test_processes.py"),
)
# Rounding that is added by hand is the same under every kernel.
_QUICK_TESTS = ("tests/contracts/test_same_choice.py", "-k", "not a_few_units")
_MARKS = "not statistical and not reproduction and not stress"

_ASK = """
import json, numpy, scipy.linalg, threadpoolctl
from numpy._core._multiarray_umath import __cpu_features__ as has
blas = [one for one in threadpoolctl.threadpool_info() if one["internal_api"] == "openblas"]
print(json.dumps([[one["architecture"] for one in blas], [name for name in has if has[name]]]))
"""


@dataclass(frozen=True)
class Setting:
    """A kernel of BLAS, by default the processor's own, and what NumPy does without."""

    kernel: str
    without: tuple[str, ...]

    @property
    def environment(self) -> dict[str, str]:
        told = {
            "OPENBLAS_CORETYPE": self.kernel,
            "NPY_DISABLE_CPU_FEATURES": " ".join(self.without),
            "OMP_NUM_THREADS": "1",  # two processes share the cores
        }
        plain = {name: value for name, value in os.environ.items() if name not in told}
        return plain | {name: value for name, value in told.items() if value}

    def __str__(self) -> str:
        without = f"NumPy without {', '.join(self.without)}" if self.without else "NumPy as it is"
        return f"{self.kernel or 'own kernel'}; {without}"


def features() -> tuple[dict[str, bool], tuple[str, ...]]:
    """What this processor has by NumPy's names, and what of it NumPy can do without."""
    try:
        from numpy._core import _multiarray_umath as core
    except ImportError:  # before NumPy 2
        from numpy.core import _multiarray_umath as core
    has = dict(core.__cpu_features__)
    return has, tuple(name for name in core.__cpu_dispatch__ if has.get(name))


def settings() -> list[Setting]:
    """All that lie below this processor: the oldest kernel last, and its own with old NumPy."""
    has, spare = features()
    wide = tuple(name for name in spare if name.startswith(_WIDE))
    found = [Setting("", spare)] if spare else []
    for kernel, (needed, _) in reversed(_KERNELS.items()):
        if has.get(needed):
            without = () if kernel in ("SkylakeX", "ARMV8") else spare
            found.append(Setting(kernel, wide if kernel == "Haswell" else without))
    return found


def chosen(every: list[Setting], names: list[str], quick: bool) -> list[Setting]:
    """The settings to run: those of the names; else all of them, or the first and the last."""
    known = {setting.kernel or "own": setting for setting in every}
    if strange := [name for name in names if name not in known]:
        raise SystemExit(
            f"There is no kernel {strange[0]} that can be tried here; there are: "
            f"{', '.join(known) or 'none'}."
        )
    if names:
        return [known[name] for name in dict.fromkeys(names)]
    return [every[0], every[-1]] if quick and len(every) > 1 else every


def in_use(setting: Setting) -> tuple[list[str], list[str]]:
    """What the libraries say they use: kernels, one for each OpenBLAS, and instructions."""
    asked = subprocess.run(
        [sys.executable, "-c", _ASK],
        env=setting.environment,
        capture_output=True,
        text=True,
    )
    if asked.returncode:
        raise SystemExit(f"{setting}: Python does not start.\n{asked.stderr}")
    kernels, enabled = json.loads(asked.stdout)
    return kernels, enabled


def why_not(setting: Setting, kernels: list[str], enabled: list[str]) -> str:
    """Why the setting did not take; nothing where it did."""
    if setting.kernel:
        names = _KERNELS[setting.kernel][1]
        if not kernels:
            return "no OpenBLAS here"
        if not set(kernels) <= set(names):
            return f"OpenBLAS uses {', '.join(kernels)} instead"
    still = set(setting.without) & set(enabled)
    return f"NumPy still uses {', '.join(sorted(still))}" if still else ""


def main() -> int:
    """Run the tests under each setting; the number of settings under which they fail."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="two settings and fewer tests")
    parser.add_argument("kernels", nargs="*", metavar="KERNEL", help="which; by default all")
    asked = parser.parse_args()
    quick = asked.quick
    root = Path(__file__).resolve().parents[1]
    said, failed = [], 0
    for setting in chosen(settings(), asked.kernels, quick):
        kernels, enabled = in_use(setting)
        reason = why_not(setting, kernels, enabled)
        if reason:
            said.append(f"not run  {setting}: {reason}")
            continue
        start = perf_counter()
        command = [sys.executable, "-m", "pytest", "-n", "2", "-m", _MARKS]
        run = subprocess.run(
            [*command, *(_QUICK_TESTS if quick else _TESTS)],
            cwd=root,
            env=setting.environment,
        )
        failed += run.returncode != 0
        word = "failed " if run.returncode else "passed "
        time = perf_counter() - start
        said.append(f"{word}  {setting}; in use: {', '.join(kernels) or 'none'} ({time:.0f} s)")
    own = ", ".join(in_use(Setting("", ()))[0]) or "no OpenBLAS"
    print(f"\nNumPy {np.__version__}; the kernel of this processor: {own}")
    print("\n".join(said) or "This processor has nothing below it that can be tried.")
    return failed


if __name__ == "__main__":
    sys.exit(main())
