# Two commands do everything on a fresh machine with Python 3.11:
#   make demo    a simulated campaign with every policy: a table, a figure, a report
#   make test    what CI runs: lint, types, imports, tests, reduced reproduction

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

.PHONY: demo test lint types unit statistical reproduction kernels kernels-quick check benchmark figures pictures clean

demo: $(READY)
	$(BIN)/serendip demo

test: lint types unit reproduction kernels-quick

lint: $(READY)
	$(BIN)/ruff check src tests benchmarks
	$(BIN)/ruff format --check src tests benchmarks
	$(BIN)/lint-imports

types: $(READY)
	$(BIN)/mypy
	$(BIN)/pyright

unit: $(READY)
	$(BIN)/pytest -n 2 -m "not statistical and not reproduction"

# Slow tests of chance, in a reduced form here; `make statistical` runs them in full, with the kill
# and crowd tests of the store.
reproduction: $(READY)
	$(BIN)/pytest -n 2 -m "statistical or reproduction"

statistical: $(READY)
	SERENDIP_FULL=1 $(BIN)/pytest -n 2 -m "statistical or reproduction or stress"

# The same choices under other kernels of BLAS and other instructions than this processor's own.
kernels: $(READY)
	$(BIN)/python tests/kernels.py

kernels-quick: $(READY)
	$(BIN)/python tests/kernels.py --quick

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

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $(READY)

clean:
	rm -rf $(VENV) demo-output runs .pytest_cache .mypy_cache .ruff_cache .hypothesis
