# Everything works on a machine with Python 3.11 or newer and make: the first call sets up .venv.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
INSTALLED := .venv/installed
MEASURING := .venv/measuring
PEERS := build/peers

.PHONY: help install demo test lint format docs provider bench bench-reading model record lock
help:  ## show this
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*##/\t/' | expand -t 14

install: $(INSTALLED)  ## set up .venv from requirements.txt

$(INSTALLED): requirements.txt core/pyproject.toml langchain_websearch/pyproject.toml llamaindex_websearch/pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation \
		--editable core --editable langchain_websearch --editable llamaindex_websearch
	touch $@

demo: install  ## search, read and cite in both frameworks, offline
	$(BIN)/python examples/demo.py

test: install  ## run all tests
	$(BIN)/python -m pytest

.PHONY: fuzz
fuzz: install  ## try to break what the tests promise, with new inputs: make fuzz SECONDS=600, for each of the targets
	$(BIN)/python tests/fuzz/run.py --seconds $(or $(SECONDS),60)

lint: install  ## check style, types and the direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: install  ## bring the code into shape
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: install  ## bring the generated parts of the documentation up to date
	$(BIN)/python -m docs.generate

provider: install  ## begin a provider: make provider NAME=kagi writes its file, its line and its cassettes
	$(BIN)/python tools/new_provider.py "$(NAME)"
	$(BIN)/python -m docs.generate

bench: $(MEASURING)  ## measure, and write docs/measured/benchmarks.md
	$(BIN)/python -m benchmarks.calls

bench-reading: $(MEASURING) $(PEERS)/installed  ## measure reading pages beside other readers, and write its part of docs/measured/benchmarks.md
	$(BIN)/python -m benchmarks.reading --peers $(PEERS)/bin/python --unseen training.train:unseen

model: $(MEASURING)  ## train the model that tells the content of a page
	$(BIN)/python -m training.train

$(MEASURING): $(INSTALLED) benchmarks/requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement benchmarks/requirements.txt
	touch $@

$(PEERS)/installed: benchmarks/reading/requirements.txt
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes --requirement $<
	touch $@

record: install  ## record the cassettes of a provider again: make record PROVIDER=tavily, with its key set
	$(BIN)/python -m tests.cassettes.record $(PROVIDER)

lock: install  ## resolve anew, with uv, and export
	uv lock --upgrade
	uv export --quiet --all-packages --all-extras --group dev --no-emit-workspace --no-annotate --no-header --output-file requirements.txt
	uv export --quiet --only-group bench --no-emit-workspace --no-annotate --no-header --output-file benchmarks/requirements.txt
	uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-annotate --no-header \
		--output-file benchmarks/reading/requirements.txt benchmarks/reading/requirements.in
