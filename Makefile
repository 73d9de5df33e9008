# Every target sets itself up. All it needs is Python 3.11 or newer with venv and pip, and a package
# index. Set-up is done once and again only where pyproject.toml (or, for tests, the source) changed.
#
#   .venv        runs keepset from this tree: demo
#   .venv-test   has the built wheel with every extra and the tools: test, check
#   .venv-oldest has the built wheel with the oldest LangGraph that is supported: test
#   .venv-bench  has keepset from this tree and the savers it is measured beside: bench

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
.NOTPARALLEL:

# The first Python on the path that is new enough; `make PYTHON=…` says another.
NEW_ENOUGH := import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for p in python3 python3.11 python3.12 python3.13 python3.14; do \
	"$$p" -c '$(NEW_ENOUGH)' >/dev/null 2>&1 && { echo "$$p"; break; }; done)

WORKERS ?= 2
TEST := .venv-test/bin/python -m pytest
SOURCES := $(shell find src -name __pycache__ -prune -o -print)
say = printf '\n== %s\n' '$(1)'

# make-venv FOLDER: a new environment with a pip that knows dependency groups
define make-venv
	@[ -n "$(PYTHON)" ] || { echo "keepset needs Python 3.11 or newer with venv (on Debian: apt install python3-venv)" >&2; exit 1; }
	@$(call say,a new environment in $(1) with $(PYTHON) ($(shell $(PYTHON) -V 2>&1)))
	@$(PYTHON) -m venv --clear $(1)
	@$(1)/bin/python -m pip install --quiet --upgrade 'pip>=25.1'
endef

.PHONY: help demo test check bench nightly clean

help: ## say what there is to make
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: .venv/.ready ## run the worked example: a kill, a resume, the table (DEMO="--json" adds options)
	@.venv/bin/python -m keepset.cli demo $(DEMO)

test: .venv-test/.wheel $(if $(TESTS),,.venv-oldest/.wheel) ## run every test against the built wheel (TESTS="tests/codec -k enum" chooses)
ifdef TESTS
	@$(TEST) $(TESTS)
else
	@$(call say,the tests on $(WORKERS) cores against the built wheel)
	@$(TEST) -n $(WORKERS) --cov --cov-report=term
	@$(call say,the tests of its adapter on the oldest LangGraph)
	@.venv-oldest/bin/python -m pytest -q -n $(WORKERS) tests/adapters/langgraph
endif

check: .venv-test/.wheel ## hold style, types, layers, dependencies and docs to the rules
	@$(call say,style)
	@.venv-test/bin/ruff check
	@.venv-test/bin/ruff format --check
	@$(call say,types)
	@.venv-test/bin/mypy
	@$(call say,layers)
	@PYTHONPATH=src .venv-test/bin/lint-imports --no-logo
	@$(call say,dependencies)
	@.venv-test/bin/deptry src
	@$(call say,docs)
	@$(TEST) -q tests/house -k docs

bench: .venv-bench/.ready ## measure this machine, side by side with other savers (BENCH="--quick")
	@.venv-bench/bin/python -m keepset.cli bench $(BENCH)

nightly: .venv-test/.wheel ## run the tests with 100,000 examples for each property
	@HYPOTHESIS_PROFILE=nightly $(TEST) -n $(WORKERS) --timeout=0

clean: ## take away all that these targets made
	rm -rf .venv .venv-test .venv-oldest .venv-bench build dist keepset-demo .hypothesis .coverage .coverage.* \
		.import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/.ready: pyproject.toml
	$(call make-venv,.venv)
	@$(call say,keepset and what it needs)
	@.venv/bin/python -m pip install --quiet --editable .
	@touch $@

.venv-bench/.ready: pyproject.toml
	$(call make-venv,.venv-bench)
	@$(call say,keepset and the savers that it is measured beside)
	@.venv-bench/bin/python -m pip install --quiet --editable '.[bench]'
	@touch $@

.venv-test/.ready: pyproject.toml
	$(call make-venv,.venv-test)
	@$(call say,the tools for tests and checks)
	@.venv-test/bin/python -m pip install --quiet --group test --group check
	@touch $@

# The second install replaces a wheel of the same version, which pip would otherwise leave there.
.venv-test/.wheel: .venv-test/.ready README.md LICENSE NOTICE $(SOURCES)
	@$(call say,the wheel as built from the source distribution)
	@rm -rf dist
	@.venv-test/bin/python -m build --no-isolation --outdir dist . >.venv-test/build.log 2>&1 || { cat .venv-test/build.log; exit 1; }
	@wheel=$$(ls dist/keepset-*.whl); \
		.venv-test/bin/python -m pip install --quiet "./$$wheel[all,bench]"; \
		.venv-test/bin/python -m pip install --quiet --no-deps --force-reinstall "./$$wheel"
	@touch $@

.venv-oldest/.ready: pyproject.toml
	$(call make-venv,.venv-oldest)
	@$(call say,the oldest LangGraph and what the tests of its adapter need)
	@.venv-oldest/bin/python -m pip install --quiet --group oldest
	@touch $@

.venv-oldest/.wheel: .venv-oldest/.ready .venv-test/.wheel
	@wheel=$$(ls dist/keepset-*.whl); \
		.venv-oldest/bin/python -m pip install --quiet "./$$wheel[langgraph]"; \
		.venv-oldest/bin/python -m pip install --quiet --no-deps --force-reinstall "./$$wheel"
	@touch $@
