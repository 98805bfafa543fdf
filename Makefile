# The commands of the README. Every target does its own set-up.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= python3
ADAPTER ?= images/bm25
SUITE ?= practical
ARGS ?=
BIN := .venv/bin
STAMP := .venv/.installed
PROJECTS := pyproject.toml proto/pyproject.toml adapters/pyproject.toml
FAST := not slow and not browser and not network
WORKERS ?= 2
# Each folder is a root of its own, as it is in the image: folders' names need not be Python's.
ADAPTER_MODULES := $(wildcard images/*/*_adapter.py)

.PHONY: help setup test test-rest test-all bench lint format proto proto-baseline schema \
        image-locks locks conformance-matrix bench-overhead results operations clean

help:  ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18

$(STAMP): requirements/dev.lock $(PROJECTS)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "memrig needs Python 3.11 or newer; point PYTHON= at one" >&2; exit 3; }
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv \
	  || { echo "on Debian: apt-get install python3-venv" >&2; rm -rf .venv; exit 3; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e proto -e adapters -e .
	@touch $@

setup: $(STAMP)  ## make .venv with everything, memrig included

bench: setup  ## run a benchmark: make bench ADAPTER=images/bm25 [SUITE=practical] [ARGS=…]
	$(BIN)/memrig run --adapter $(ADAPTER) --suite $(SUITE) $(ARGS)

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy harness/memrig adapters/memrig_adapters proto/generate.py proto/lint.py proto/baseline.py benchmarks
	MYPYPATH=$(subst $() ,:,$(sort $(dir $(ADAPTER_MODULES)))) $(BIN)/mypy $(ADAPTER_MODULES)

test: lint  ## everything that matters, Docker's core included; under 10 minutes
	$(BIN)/python -m pytest -q -n $(WORKERS) --dist loadfile -m "$(FAST)"

test-rest: setup  ## what test-all adds: every image, the browser, other protobufs
	$(BIN)/python -m pytest -q -n $(WORKERS) --dist loadfile -m "not ($(FAST))"

test-all: test test-rest  ## both lanes; under 40 minutes

format: setup  ## format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

proto: setup  ## regenerate the stubs of the contract
	$(BIN)/python proto/generate.py
	$(BIN)/python proto/lint.py

proto-baseline: proto  ## accept a changed contract as the new baseline
	$(BIN)/python proto/baseline.py --update

schema: setup  ## write the published JSON Schemas below docs/schema
	$(BIN)/python -m memrig.report.schema docs/schema
	$(BIN)/python -m memrig.leaderboard.schema docs/schema
	$(BIN)/python -m memrig.conformance.publish docs
	$(BIN)/python -m memrig.suites.longhorizon.records docs/schema

image-locks: setup  ## lock the wheels of every image again
	$(BIN)/python -m pip install --quiet uv
	PATH="$(CURDIR)/$(BIN):$$PATH" ./images/lock.sh $(ARGS)

locks: setup  ## lock the development environment again
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv lock --quiet
	$(BIN)/uv export --quiet --frozen --all-packages --all-extras --group dev --no-emit-workspace \
	  --no-header --format requirements-txt --output-file requirements/dev.lock

conformance-matrix: setup  ## check every image, and write docs/conformance-matrix.md
	$(BIN)/python -m benchmarks.conformance $(ARGS)

results: setup  ## every image through every suite without a key, into docs/results.md
	$(BIN)/python -m benchmarks.results $(ARGS)

operations: setup  ## every image through the suite operations, into docs/operations.md
	$(BIN)/python -m benchmarks.operations $(ARGS)

bench-overhead: setup  ## what the rig itself costs, side by side
	$(BIN)/python benchmarks/overhead.py $(ARGS)

clean: setup  ## remove what runs left in Docker, and the environment
	$(BIN)/memrig clean
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
