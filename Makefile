# Every target does its own set-up: it makes .venv, brings uv into it and installs what it needs.

PYTHON ?= python3
BIN := .venv/bin
UV := $(BIN)/uv
UV_VERSION := 0.13.9
INSTALL := $(UV) pip install --quiet --python $(BIN)/python --constraint requirements.lock
NEEDS := pyproject.toml requirements.lock src/afterword/_version.py
PYTEST := $(BIN)/pytest -n 2 --dist worksteal

.DEFAULT_GOAL := help

.PHONY: help
help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

.PHONY: demo
demo: .venv/.demo  ## the main job on a real local model: no key needed (fetches about 1.2 GB once)
	@$(BIN)/python examples/demo.py

.PHONY: setup
setup: .venv/.dev  ## leave .venv/bin/afterword ready, with what the tests need
	@echo "$(BIN)/afterword is ready; next: $(BIN)/afterword doctor"

.PHONY: games
games: .venv/.games  ## add the text games to .venv, for their tests (compiles for 4 to 13 minutes)

.PHONY: check
check: format-check lint types imports test  ## everything that must be green: format, lint, types, import rules, tests

.PHONY: check-all
check-all: format-check lint types imports test-all  ## check, with the slow and long-running proofs

.PHONY: format-check lint types imports test test-all
format-check: .venv/.dev
	$(BIN)/ruff format --check
lint: .venv/.dev
	$(BIN)/ruff check
types: .venv/.dev
	$(BIN)/mypy
imports: .venv/.dev
	$(BIN)/lint-imports
test: .venv/.dev  ## the tests alone
	$(PYTEST) -m "not slow and not live"
test-all: .venv/.dev  ## the tests with the slow ones
	$(PYTEST) -m "not live" --timeout 3600

.PHONY: format
format: .venv/.dev  ## format and mend what ruff can mend
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

.PHONY: lock
lock: .venv/.uv  ## resolve requirements.lock anew
	$(UV) pip compile pyproject.toml --all-extras --group dev --universal --generate-hashes --no-header \
		--python-version 3.11 --quiet --output-file requirements.lock

.PHONY: bench
bench: .venv/.dev  ## the benchmarks beside their peers (makes the peers' environments first)
	$(BIN)/python benchmarks/loop.py --setup
	$(BIN)/python benchmarks/verdicts.py --setup

.PHONY: clean
clean:  ## remove the environment and all caches
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache dist

.venv/.uv:
	@echo "making .venv with uv $(UV_VERSION)"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Python 3.11 or newer is needed, found $$($(PYTHON) --version); run: make PYTHON=python3.11" >&2; exit 2; }
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check "uv==$(UV_VERSION)"
	@touch $@

.venv/.demo: .venv/.uv $(NEEDS)
	@echo "installing afterword with the local model's engine"
	@$(INSTALL) --editable '.[local]'
	@touch $@

.venv/.dev: .venv/.uv $(NEEDS)
	@echo "installing afterword with what the tests need"
	@$(INSTALL) --editable '.[anthropic,local,schema,analysis,postgres,parquet]' --group dev
	@touch $@

.venv/.games: .venv/.dev
	@echo "installing the text games; this compiles for 4 to 13 minutes"
	@$(INSTALL) --editable '.[games]'
	@touch $@
