# Every target that runs Python first sets up the environment in .venv, once.

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
FLOWS := tests/flows tests/soak tests/tasks

.DEFAULT_GOAL := help
.PHONY: help evaluate test test-slow soak check fix schema bench calibrate ui

help:  ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "chunklab needs Python 3.11 or newer. Choose one with: make PYTHON=python3.12 ..." >&2; exit 2; }
	@echo "Setting up .venv (once; a few minutes and about 1.5 GB) ..." >&2
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $(READY)

evaluate: $(READY)  ## Evaluate the bundled example
	@$(BIN)/python -m flows.evaluate

# Two processes: the tests that need a Prefect server, and all others, whose output comes last.
test: $(READY)  ## Run the tests (minutes)
	@log=$$(mktemp); \
	$(BIN)/python -m pytest -m "not slow" $(FLOWS:%=--ignore=%) > $$log 2>&1 & others=$$!; \
	$(BIN)/python -m pytest -m "not slow" $(FLOWS); status=$$?; \
	wait $$others || status=1; cat $$log; rm -f $$log; exit $$status

test-slow: $(READY)  ## Run the tests that take more than ten seconds each
	@$(BIN)/python -m pytest -m slow

soak: $(READY)  ## Run the long cache tests (changes, kills, parallel runs) and print their counts
	@CHUNKLAB_SOAK=1 $(BIN)/python -m pytest -s --durations=15 tests/soak tests/flows/test_soak_flow.py tests/flows/test_change_table.py

check: $(READY)  ## Check format, lint and types
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy

fix: $(READY)  ## Format the code and fix lint errors
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

schema: $(READY)  ## Write the JSON Schema of report.json from its records
	@$(BIN)/python -m chunklab_core.stages.report_schema

bench: $(READY)  ## Evaluate the public question sets and write docs/benchmarks.md
	@$(BIN)/python -m benchmarks.tables

calibrate: $(READY)  ## Measure how often the verdict is right and write docs/statistics.md (takes minutes)
	@$(BIN)/python -m benchmarks.calibrate

ui: $(READY)  ## Start a Prefect server that keeps the run history and print the address of its UI
	@$(BIN)/python -m flows.ui
