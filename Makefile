# Python 3.11 or newer and make are all it takes: each target sets up the environment that it needs, once.
# VENV names the environment to work in: .venv is editable, build/wheels holds what users get.

VENV ?= .venv
BIN := $(VENV)/bin
DEMO := $(if $(wildcard .venv/installed),.venv,build/demo)
PEERS := build/peers
UV := $(or $(shell command -v uv),build/uv/bin/uv)
INSTALL := .ci/install
PACKAGES := core langchain_websearch llamaindex_websearch
MANIFESTS := $(PACKAGES:%=%/pyproject.toml)
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Otherwise pyright asks the network for a newer version of itself.
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1

ifndef PYTHON
PYTHON := $(shell for each in python3.11 python3.12 python3.13 python3; do \
	"$$each" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$each" && break; done)
endif
NEW_VENV = $(or $(PYTHON),$(error Python 3.11 or newer is needed. Name one: make PYTHON=/path/to/python3.12)) -m venv

.PHONY: help install wheels demo test coverage lint types format docs provider bench bench-reading model record lock matrix
help:  ## show this
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*##/\t/' | expand -t 14

install: $(VENV)/installed  ## set up .venv: the three packages, editable, and the tools of a developer

.venv/installed: requirements.txt $(MANIFESTS)
	@echo "Setting up .venv with all tools of a developer, once:"
	$(NEW_VENV) .venv
	$(INSTALL) .venv --require-hashes --requirement requirements.txt
	$(INSTALL) .venv --no-deps --no-build-isolation $(PACKAGES:%=--editable %)
	@touch $@

wheels: build/wheels/dependencies  ## build dist/*.whl, and set up build/wheels with them
	rm -rf dist
	$(foreach package,$(PACKAGES),(cd $(package) && $(CURDIR)/build/wheels/bin/hatchling build -t sdist -d ../dist) &&) true
	build/wheels/bin/python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir dist dist/*.tar.gz
	$(INSTALL) build/wheels --no-deps --force-reinstall dist/*.whl
	build/wheels/bin/python -m pip check
	@touch build/wheels/installed

build/wheels/installed:
	$(MAKE) wheels

build/wheels/dependencies: requirements.txt
	$(NEW_VENV) --clear build/wheels
	$(INSTALL) build/wheels --require-hashes --requirement requirements.txt
	@touch $@

demo: $(DEMO)/installed  ## search, read and cite in both frameworks, offline
	$(DEMO)/bin/python examples/demo.py

build/demo/installed: examples/requirements.txt $(MANIFESTS)
	@echo "Setting up build/demo, once:"
	@echo "1 of 3: create the environment"
	@$(NEW_VENV) build/demo
	@echo "2 of 3: install LangChain, LlamaIndex and what they need ($$(grep -c == examples/requirements.txt) packages)"
	@$(INSTALL) build/demo --require-hashes --requirement examples/requirements.txt
	@echo "3 of 3: install the three packages of this tree"
	@$(INSTALL) build/demo --no-deps --no-build-isolation $(PACKAGES:%=--editable %)
	@touch $@

test: $(VENV)/installed  ## run all tests
	$(BIN)/python -m pytest

fuzz: $(VENV)/installed  ## try to break what the tests promise with new inputs: make fuzz SECONDS=600 for each target
	$(BIN)/python tests/fuzz/run.py --seconds $(or $(SECONDS),60)

coverage: $(VENV)/installed  ## run all tests, and hold the floors of coverage
	@mkdir -p build
	$(BIN)/python -m pytest --cov --cov-report=term:skip-covered --cov-report=json:build/coverage.json
	@$(BIN)/python .ci/floors.py coverage build/coverage.json

lint: $(VENV)/installed  ## check style, types and the direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/lint-imports

types: build/wheels/installed  ## hold the floor of types: what share of the public names has a known type
	build/wheels/bin/python .ci/floors.py types

format: $(VENV)/installed  ## bring the code into shape
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/installed  ## bring the generated parts of the documentation up to date
	$(BIN)/python -m docs.generate

provider: $(VENV)/installed  ## begin a provider: make provider NAME=kagi writes its file, its line and its cassettes
	$(BIN)/python tools/new_provider.py "$(NAME)"
	$(BIN)/python -m docs.generate

bench: $(VENV)/measuring  ## measure, and write docs/measured/benchmarks.md
	$(BIN)/python -m benchmarks.calls

bench-reading: $(VENV)/measuring $(PEERS)/installed  ## measure reading pages beside other readers, and write its part of docs/measured/benchmarks.md
	$(BIN)/python -m benchmarks.reading --peers $(PEERS)/bin/python --unseen training.train:unseen

model: $(VENV)/measuring  ## train the model that tells the content of a page
	$(BIN)/python -m training.train

$(VENV)/measuring: $(VENV)/installed benchmarks/requirements.txt
	$(INSTALL) $(VENV) --require-hashes --requirement benchmarks/requirements.txt
	@touch $@

$(PEERS)/installed: benchmarks/reading/requirements.txt
	$(NEW_VENV) $(PEERS)
	$(INSTALL) $(PEERS) --no-deps --require-hashes --requirement $<
	@touch $@

record: $(VENV)/installed  ## record the cassettes of a provider again: make record PROVIDER=tavily, with its key set
	$(BIN)/python -m tests.cassettes.record $(PROVIDER)

matrix:  ## run the tests on every Python that is found, with the lowest and the highest dependencies
	.ci/matrix

# uv.lock names hosts of registries, and so stays out of git. What is exported from it names none.
EXPORT := $(UV) export --quiet --no-emit-workspace --no-annotate --no-header
lock: $(UV)  ## resolve all dependencies anew, and export the hashed requirements
	$(UV) lock --upgrade
	$(EXPORT) --all-packages --all-extras --group dev --output-file requirements.txt
	$(EXPORT) --only-group demo --output-file examples/requirements.txt
	$(EXPORT) --only-group setup --output-file .ci/requirements.txt
	$(EXPORT) --only-group bench --output-file benchmarks/requirements.txt
	$(UV) pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-annotate --no-header \
		--output-file benchmarks/reading/requirements.txt benchmarks/reading/requirements.in

build/uv/bin/uv:
	$(NEW_VENV) build/uv
	build/uv/bin/python -m pip install --quiet --require-hashes --requirement .ci/requirements.txt
