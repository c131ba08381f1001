# Everything runs in .venv, which the first target to need it sets up.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: setup demo test audit lint docs bench clean

setup: $(VENV)/ready

$(VENV)/ready: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "diptych needs Python 3.11 or newer: make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

demo: setup  ## train a private ranking model, print its guarantee, draw AUC against epsilon
	$(BIN)/python examples/breast_cancer.py

test: setup  ## the fast tests
	$(BIN)/python -m pytest -n auto

audit: setup  ## the long attacks on guarantees
	$(BIN)/python -m pytest -n auto -m audit

lint: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

docs: setup  ## run every code block of the documentation
	$(BIN)/python -m pytest -n auto tests/docs

bench: setup  ## ratios for docs/results/speed.md
	$(BIN)/python benchmarks/speed.py

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
