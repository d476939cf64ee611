# Two commands do everything on a fresh machine with Python 3.11 or later:
#   make demo    a simulated campaign with every policy: a table, a figure, a report
#   make test    what CI runs: lint, types, imports, tests, reduced reproduction
# While working: make quick, under two minutes.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
# Environments of their own: the demo needs no tools, the lowest versions are no one else's.
DEMO   := .venv-demo
LOWEST := .venv-lowest

# The fast tests: no browser, no chance, and no file that takes long (SLOW in tests/conftest.py).
FAST := --ignore=tests/web/browser -m "not slow and not statistical and not reproduction and not stress"
# $(call pytest,FOLDER): two processes on two cores, each with one thread, or those of BLAS and OpenMP
# keep each other waiting: four times the work.
pytest = OMP_NUM_THREADS=1 $(1)/pytest -n 2 --dist worksteal

.PHONY: demo quick test lint types mypy unit statistical reproduction kernels kernels-quick check
.PHONY: lowest benchmark figures pictures clean

demo: $(DEMO)/.ready
	$(DEMO)/bin/serendip demo

quick: lint mypy
	$(call pytest,$(BIN)) $(FAST)

test: lint types unit reproduction kernels-quick

lint: $(READY)
	$(BIN)/ruff check src tests benchmarks
	$(BIN)/ruff format --check src tests benchmarks
	$(BIN)/lint-imports

types: mypy
	$(BIN)/pyright

mypy: $(READY)
	$(BIN)/mypy

unit: $(READY)
	$(call pytest,$(BIN)) -m "not statistical and not reproduction"

# Slow tests of chance, in a reduced form here; `make statistical` runs them in full, with the kill
# and crowd tests of the store.
reproduction: $(READY)
	$(call pytest,$(BIN)) -m "statistical or reproduction"

statistical: $(READY)
	SERENDIP_FULL=1 $(call pytest,$(BIN)) -m "statistical or reproduction or stress"

# The same choices under other kernels of BLAS and other instructions than this processor's own.
kernels: $(READY)
	$(BIN)/python tests/kernels.py

kernels-quick: $(READY)
	$(BIN)/python tests/kernels.py --quick

# The lowest versions that pyproject.toml allows, on the fast tests and on what is typed.
lowest: $(LOWEST)/.ready
	$(call pytest,$(LOWEST)/bin) $(FAST)
	$(call pytest,$(LOWEST)/bin) tests/cli tests/stores tests/test_docs.py

check: $(READY)
	$(BIN)/serendip reproduce check

benchmark: $(READY)
	$(BIN)/python benchmarks/step.py
	$(BIN)/python benchmarks/run.py

# Everything in docs/reproduction.md, from nothing; hours on two cores, continued if stopped.
figures: $(READY)
	$(BIN)/serendip reproduce all
	$(BIN)/serendip reproduce report

# The pictures of the page in the documents; needs Debian's chromium.
pictures: $(READY)
	PYTHONPATH=tests $(BIN)/python -m web.browser.pictures

# $(call environment,FOLDER,WHAT IT TAKES,ARGUMENTS OF PIP), or one sentence on what is missing.
define environment
	@command -v $(PYTHON) > /dev/null || { echo "There is no $(PYTHON). Install Python 3.11 or\
	 later, or name one: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "serendip needs\
	 Python 3.11 or later; $(PYTHON) is $$($(PYTHON) --version 2>&1). Install a later one, or name\
	 it: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2> /dev/null || { echo "$(PYTHON) cannot make an\
	 environment: its module venv is missing. On Debian: apt-get install python3-venv" >&2; exit 1; }
	@echo "Installing serendip into $(1): $(2) ..."
	@$(PYTHON) -m venv $(1)
	@$(1)/bin/python -m pip install $(3)
	@touch $@
endef

# Modules are compiled when they are first used: that saves 10 of 25 seconds and 170 of 740 MB.
$(DEMO)/.ready: pyproject.toml
	$(call environment,$(DEMO),570 MB; 15 seconds once pip has the packages,--no-compile --editable .)

$(READY): pyproject.toml
	$(call environment,$(VENV),with all tools 2.8 GB; a minute or two,--editable '.[dev]')

$(LOWEST)/.ready: pyproject.toml tests/lowest.txt
	$(call environment,$(LOWEST),the lowest versions; a minute,--constraint tests/lowest.txt --editable '.[test]')

clean:
	rm -rf $(VENV) $(DEMO) $(LOWEST) demo-output runs .pytest_cache .mypy_cache .ruff_cache .hypothesis
