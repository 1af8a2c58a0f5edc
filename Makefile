# What a developer does here; `make help` lists it. Everything is installed into .venv, without root.
SHELL := /bin/sh
.DEFAULT_GOAL := help
BIN := .venv/bin
export PYTHON

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile

.PHONY: setup
setup: ## make .venv and install into it (every target below does this first)
	@scripts/setup

.PHONY: run
run: setup ## start everything and chat in this terminal
	@$(BIN)/sidestream run

.PHONY: test
test: setup ## all suites, crash suite included, with the coverage floor (under 20 minutes)
	@scripts/test

.PHONY: test-fast
test-fast: setup ## the quick suites (under 2 minutes)
	@$(BIN)/python -m pytest -q -n 2 --dist loadfile -m "not slow" tests/unit tests/contract tests/properties tests/house

.PHONY: check
check: setup ## lint, format, types, layers
	@scripts/check

.PHONY: bench
bench: setup ## measure, and write docs/benchmarks.md (make bench ARGS=--full for the long form)
	@$(BIN)/python -m bench.run $(ARGS)

.PHONY: lock
lock: setup ## write requirements.lock anew from pyproject.toml
	@scripts/lock

.PHONY: clean
clean: ## remove .venv, caches and build output (data/ stays)
	rm -rf .venv build dist htmlcov .coverage .coverage.* .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
