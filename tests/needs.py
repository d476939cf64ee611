"""What some tests need and a machine may lack: they are skipped, and the run says how to get it.

Every skip is made here, so that none comes without its remedy (`tests/test_skips.py`).
"""

import os
import shutil
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

_EXTRAS = {"rdkit": "chem", "torch": "neural", "ray": "cluster"}


def need(present, lacking, remedy):
    """Skips the test, or the file that is being imported, unless what it needs is present."""
    if not present:
        pytest.skip(f"{lacking}; {remedy}", allow_module_level=True)


def need_package(name):
    """An optional package, or a module of it; skips without."""
    package, *_ = name.split(".")
    remedy = f"pip install '.[{_EXTRAS[package]}]'"
    need(find_spec(package) is not None, f"the package {package} is not installed", remedy)
    return import_module(name)


def need_program(name):
    """Skips without a program of Debian."""
    need(shutil.which(name) is not None, f"there is no {name}", f"apt-get install {name}")


def need_chromium():
    """Its path; skips without Chromium, but fails in CI, where the page must be tested."""
    path = os.environ.get("SERENDIP_CHROMIUM") or shutil.which("chromium") or "/usr/bin/chromium"
    present = Path(path).exists()
    lacking = "there is no browser"
    remedy = "apt-get install chromium, or name one: SERENDIP_CHROMIUM"
    if os.environ.get("CI") and not present:
        pytest.fail(f"{lacking}; {remedy}")
    need(present, lacking, remedy)
    return path


def need_data(name):
    """The folder with the files of a data set; skips where one is missing."""
    from serendip.simulate.environments.datasets import DATASETS, find_data_folder
    from serendip.simulate.environments.sources import SOURCES

    folder = find_data_folder()
    present = all((folder / path).is_file() for path in DATASETS[name].files)
    remedy = "name the folder that has it: SERENDIP_DATA"
    if name in SOURCES:
        remedy = f"serendip datasets download {name}, or {remedy}"
    need(present, f"the data set {name} is not to hand", remedy)
    return folder
