# Requires only make and Python 3.11 or newer: each target sets up the environment it needs, once.
# VENV selects the environment: .venv has the packages editable, build/wheels has them as users install them.

VENV ?= .venv
BIN := $(VENV)/bin
DEMO := $(if $(wildcard .venv/installed),.venv,build/demo)
PEERS := build/peers
FETCHERS := build/fetchers
FAULTED := build/faulted
BULK := build/bulk
BROWSERS := build/browser-peers
CLUSTER := build/cluster
SITE := build/site-tools
UV := $(or $(shell command -v uv),build/uv/bin/uv)
INSTALL := .ci/install
# All packages are named with their hashes, so nothing is resolved.
LOCKED := --no-deps --require-hashes --requirement
# What else a target needs is resolved when it runs, with the versions of requirements.txt for what is in there.
RESOLVED := --constraint build/constraints.txt --requirement
PACKAGES := core langchain_websearch llamaindex_websearch
MANIFESTS := $(PACKAGES:%=%/pyproject.toml)
# Many tests wait: more workers than processors. tests/conftest.py orders the files.
PARALLEL := --numprocesses $(shell expr $$(getconf _NPROCESSORS_ONLN) \* 3 / 2) --dist loadfile --no-loadscope-reorder
# What `make check` runs whatever has changed: tests that take milliseconds each.
QUICK := $(addprefix tests/core/,events flow keys models provenance providers settings text tools \
	test_architecture.py test_contract.py test_exports.py test_mirror.py test_style.py) tests/test_timing.py
TIMED := tests/bounds tests/timed
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Containers often set it. Tests start hundreds of processes, which would all compile what they import.
unexport PYTHONDONTWRITEBYTECODE
# The time in sdists and wheels, so that the same commit gives the same bytes.
export SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || echo 1577836800)
# Otherwise pyright asks the network for a newer version of itself.
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1

ifndef PYTHON
PYTHON := $(shell for each in python3.11 python3.12 python3.13 python3.14 python3; do \
	"$$each" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$each" && break; done)
endif
NEW_VENV = $(or $(PYTHON),$(error Python 3.11 or newer is needed. Name one: make PYTHON=/path/to/python3.12)) -m venv

.PHONY: help install wheels demo check test test-apart test-timed test-ddgs test-cluster test-mcp conformance test-models test-service fuzz test-whole kills coverage lint types format docs docs-types docs-site provider bench bench-reading \
	bench-memory bench-data bench-citations bench-ssrf bench-browser bench-faults bench-stopping bench-bulk bench-mcp bench-facts model first-contact sdks drift plugin matrix lock distributions rehearse sbom release publish

help:  ## list the targets
	@awk -f .ci/help.awk $(firstword $(MAKEFILE_LIST))

install: $(VENV)/installed  ## set up .venv: the three packages, editable, and all development tools

.venv/installed: requirements.txt $(MANIFESTS)
	@echo "Setting up .venv with all development tools, once:"
	$(NEW_VENV) .venv
	$(INSTALL) .venv $(LOCKED) requirements.txt
	$(INSTALL) .venv --no-deps --no-build-isolation $(PACKAGES:%=--editable %)
	@touch $@

wheels: build/wheels/dependencies  ## build dist/*.whl and install them into build/wheels
	rm -rf dist
	.ci/build build/wheels/bin/python . dist
	$(INSTALL) build/wheels --no-deps --force-reinstall dist/*.whl
	build/wheels/bin/python -m pip check
	@touch build/wheels/installed

build/wheels/installed:
	$(MAKE) wheels

build/wheels/dependencies: requirements.txt
	$(NEW_VENV) --clear build/wheels
	$(INSTALL) build/wheels $(LOCKED) requirements.txt
	@touch $@

demo: $(DEMO)/installed  ## search, read and cite in both frameworks, offline
	$(DEMO)/bin/python examples/demo.py

build/demo/installed: requirements.txt $(MANIFESTS)
	@echo "Setting up build/demo, once:"
	@echo "1 of 3: create the environment"
	@$(NEW_VENV) build/demo
	@.ci/locked demo > build/demo/requirements.txt
	@echo "2 of 3: install LangChain, LlamaIndex and their dependencies ($$(grep -c == build/demo/requirements.txt) packages)"
	@$(INSTALL) build/demo $(LOCKED) build/demo/requirements.txt
	@echo "3 of 3: install the three packages of this repository"
	@$(INSTALL) build/demo --no-deps --no-build-isolation $(PACKAGES:%=--editable %)
	@touch $@

check: $(VENV)/installed  ## check style and imports, and run the quick tests and those of changed modules: a minute
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/python -m pytest $(PARALLEL) -m "not apart" $(QUICK) $$($(BIN)/python -m tests.changed)

test: $(VENV)/installed  ## run the tests, but those of test-apart and test-timed, on all processors
	$(BIN)/python -m pytest $(PARALLEL) -m "not apart" $(TIMED:%=--ignore %)

# What a page takes of a browser's memory, before it is ended, is measured with nothing beside it.
MEASURED := tests/browser/test_harm.py
test-apart: $(VENV)/installed  ## run the long tests: the browser, faults, kills, full disks, what blocks an event loop
	$(BIN)/python -m pytest $(PARALLEL) -m apart $(TIMED:%=--ignore %) --ignore $(MEASURED)
	$(BIN)/python -m pytest $(MEASURED)

# One process, with nothing beside it in there: they measure its processor time.
test-timed: $(VENV)/installed  ## run the tests that compare times: what hostile input costs
	$(BIN)/python -m pytest $(TIMED)

test-ddgs: $(VENV)/installed build/constraints.txt  ## test the provider ddgs with its library, which the other tests do without
	$(INSTALL) $(VENV) $(RESOLVED) tests/core/providers/requirements.in
	$(BIN)/python -m pytest tests/core/providers/test_ddgs.py

test-cluster: $(CLUSTER)/installed  ## test ReadPages in a local cluster of Ray, of which a worker is killed
	$(CLUSTER)/bin/python -m pytest tests/cluster --override-ini faulthandler_timeout=3600

# The vendors' clients leave connections to the collector, which warns of them.
test-models: $(VENV)/installed build/constraints.txt  ## test what six vendors of models get with their packages, and sources with deepagents
	$(INSTALL) $(VENV) $(RESOLVED) tests/langchain/requirements.in
	$(BIN)/python -m pytest -p no:unraisableexception \
		tests/langchain/test_middleware.py tests/langchain/test_models.py tests/langchain/test_sources.py \
		tests/llamaindex/test_models.py tests/cassettes/test_conversation.py
	$(BIN)/python -m pytest tests/examples/test_blocks.py -k deepagents

test-mcp: build/mcp/installed  ## test the MCP server with the SDK 1.30 and LangChain's client; the other tests have 2 and LlamaIndex's
	build/mcp/bin/python -m pytest -p no:cacheprovider tests/core/test_mcp.py tests/core/cli/commands/test_mcp.py tests/e2e/test_mcp_clients.py

build/mcp/installed: tests/e2e/requirements.in core/pyproject.toml
	$(NEW_VENV) --clear build/mcp
	$(INSTALL) build/mcp --requirement $<
	$(INSTALL) build/mcp --no-build-isolation --editable "core[mcp]"
	$(INSTALL) build/mcp --no-deps --no-build-isolation --editable langchain_websearch
	@touch $@

conformance: $(VENV)/installed  ## check the MCP server with the official conformance suite, which npm fetches
	$(BIN)/python -m tests.e2e.conformance

test-service: $(VENV)/installed build/constraints.txt  ## test the service in examples/service with FastAPI, which the other tests do without
	$(INSTALL) $(VENV) $(RESOLVED) examples/service/requirements.in
	$(BIN)/python -m pytest tests/examples/test_service.py

fuzz: $(VENV)/installed  ## fuzz each target for a minute, or longer: make fuzz SECONDS=600
	$(BIN)/python tests/fuzz/run.py --seconds $(or $(SECONDS),60)

test-whole: $(VENV)/installed  ## run in full what `make test` runs a part of: all sizes, combinations and pages
	WEBSEARCH_WHOLE=1 $(BIN)/python -m pytest $(PARALLEL) \
		$(filter-out $(TIMED:%=%/%),$(shell grep -rl "import WHOLE" tests --include=*.py))
	WEBSEARCH_WHOLE=1 $(BIN)/python -m pytest $(TIMED)

coverage: $(VENV)/installed  ## run all tests but those of times, and check that coverage is above its floors
	@mkdir -p build
	$(BIN)/python -m pytest $(PARALLEL) $(TIMED:%=--ignore %) --cov --cov-report=term:skip-covered --cov-report=json:build/coverage.json
	@$(BIN)/python .ci/floors.py coverage build/coverage.json

kills: $(VENV)/installed  ## kill commands that read lists and sites at 50 random moments, and run them again
	WEBSEARCH_KILLS=50 $(BIN)/python -m pytest tests/core/cli/test_bulk.py -k "killed or ctrl_c or disk" --override-ini faulthandler_timeout=3600

lint: $(VENV)/installed  ## check style, types and which module may import which
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/lint-imports

types: build/wheels/installed  ## check that enough of the public names have a complete type
	build/wheels/bin/python .ci/floors.py types

format: $(VENV)/installed  ## fix and format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/installed  ## update the generated parts of the documentation
	$(BIN)/python -m docs.generate
	$(BIN)/python -m benchmarks.failures

docs-types: $(VENV)/installed  ## check the types of all code in the documentation, with mypy and pyright
	$(BIN)/python -m pytest -p no:cacheprovider tests/typing/blocks.py

docs-site: $(VENV)/installed $(SITE)/installed  ## build the site in build/site/html, and check its links; REPOSITORY=https://... for links to the code
	$(BIN)/python -m docs.site --tools $(SITE) --repository "$(REPOSITORY)"

provider: $(VENV)/installed  ## start a new provider with its file, registration and cassettes: make provider NAME=lighthouse
	$(BIN)/python tools/new_provider.py "$(NAME)"
	$(BIN)/python -m docs.generate

bench: $(VENV)/measuring  ## measure the cost of a call, and write benchmarks/results/benchmarks.md; ONLY=concurrency for one section
	$(BIN)/python -m benchmarks.calls $(if $(ONLY),--write $(ONLY))

bench-reading: $(VENV)/measuring $(PEERS)/installed  ## compare our reader with others, and write that part of benchmarks/results/benchmarks.md
	$(BIN)/python -m benchmarks.reading --peers $(PEERS)/bin/python --unseen training.train:unseen

bench-facts: $(VENV)/installed $(PEERS)/installed  ## measure how many facts of a page reach a model, and write benchmarks/results/facts.md
	$(BIN)/python -m benchmarks.facts --peers $(PEERS)/bin/python

bench-memory: $(VENV)/installed  ## measure what the worst pages cost to read, and write benchmarks/results/memory.md
	$(BIN)/python -m benchmarks.reading.memory

bench-data: $(VENV)/installed  ## measure how many prices of pages a model is shown, and write benchmarks/results/data.md
	$(BIN)/python -m benchmarks.reading.data

bench-citations: $(VENV)/installed  ## measure the checks of citations, and write benchmarks/results/citations.md
	$(BIN)/python -m benchmarks.citations

bench-browser: $(VENV)/installed $(BROWSERS)/installed  ## attack and measure the browser, and write benchmarks/results/browser.md
	$(BIN)/python -m benchmarks.browser --peers $(BROWSERS)/bin/python $(if $(CRAWL4AI),--crawl4ai $(CRAWL4AI))

bench-ssrf: $(VENV)/installed $(FETCHERS)/installed  ## compare our guard with others, and write benchmarks/results/ssrf.md
	$(BIN)/python -m benchmarks.ssrf --peers $(FETCHERS)/bin/python

bench-mcp: $(VENV)/installed  ## measure what a call through the MCP server costs, and write benchmarks/results/mcp.md
	$(BIN)/python -m benchmarks.mcp

bench-faults: $(VENV)/installed $(FAULTED)/installed  ## let our calls and those of others meet 72 faults, and write benchmarks/results/faults.md
	$(BIN)/python -m benchmarks.faults --peers $(FAULTED)/bin/python

bench-stopping: $(VENV)/installed  ## measure the time from Ctrl-C to the next line, and write benchmarks/results/stopping.md
	$(BIN)/python -m benchmarks.stopping

bench-bulk: $(VENV)/measuring $(BULK)/installed $(CLUSTER)/installed  ## read lists of real pages, compare with others, and write benchmarks/results/bulk.md
	$(BIN)/python -m benchmarks.bulk --peers $(BULK)/bin/python --cluster $(CLUSTER)/bin/python

model: $(VENV)/measuring  ## train the model that finds the main content of a page: make model, or make model PAGES="folder ..."
	$(BIN)/python -m training.train $(PAGES)

build/constraints.txt: requirements.txt
	@mkdir -p build
	sed -E '/^( |--)/d; s/ \\$$//' $< > $@

$(VENV)/measuring: benchmarks/requirements.in $(VENV)/installed build/constraints.txt
	$(INSTALL) $(VENV) $(RESOLVED) $<
	@touch $@

$(PEERS)/installed: benchmarks/reading/requirements.in
	$(NEW_VENV) $(PEERS)
	$(INSTALL) $(PEERS) --requirement $<
	@touch $@

$(CLUSTER)/installed: tests/cluster/requirements.in requirements.txt build/constraints.txt
	$(NEW_VENV) $(CLUSTER)
	$(INSTALL) $(CLUSTER) $(LOCKED) requirements.txt
	$(INSTALL) $(CLUSTER) $(RESOLVED) $<
	$(INSTALL) $(CLUSTER) --no-deps --no-build-isolation $(PACKAGES:%=--editable %)
	@touch $@

$(SITE)/installed: docs/site/requirements.in build/constraints.txt
	$(NEW_VENV) --clear $(SITE)
	$(INSTALL) $(SITE) $(RESOLVED) $<
	@touch $@

$(BROWSERS)/installed: benchmarks/browser/requirements.in
	$(NEW_VENV) $(BROWSERS)
	$(INSTALL) $(BROWSERS) --requirement $<
	@touch $@

$(FETCHERS)/installed: benchmarks/ssrf/requirements.in
	$(NEW_VENV) $(FETCHERS)
	$(INSTALL) $(FETCHERS) --requirement $<
	@touch $@

$(FAULTED)/installed: benchmarks/faults/requirements.in
	$(NEW_VENV) $(FAULTED)
	$(INSTALL) $(FAULTED) --requirement $<
	@touch $@

$(BULK)/installed: benchmarks/bulk/requirements.in
	$(NEW_VENV) $(BULK)
	$(INSTALL) $(BULK) --requirement $<
	@touch $@

first-contact: $(VENV)/installed  ## ask the services and models that have a key here, and record what differs: make first-contact USD=2 REQUESTS=200
	$(BIN)/python -m tests.cassettes.first_contact --usd $(or $(USD),2) --requests $(or $(REQUESTS),200) \
		$(PROVIDER) $(if $(SCENARIO),--scenario $(SCENARIO)) $(if $(MODEL),--model $(MODEL)); \
		status=$$?; $(BIN)/python -m docs.generate && exit $$status

sdks: $(VENV)/installed  ## download the services' SDKs of today to build/sdks, where `make drift` parses them; nothing of them runs
	$(BIN)/python -m tests.cassettes.vocabulary | xargs $(BIN)/python -m pip install --quiet --upgrade --no-deps --only-binary :all: --target build/sdks
	@touch build/sdks/downloaded

build/sdks/downloaded:
	$(MAKE) sdks

drift: $(VENV)/installed build/sdks/downloaded  ## compare what we send with the services' SDKs, and how services with a key answer with their cassettes
	$(BIN)/python -m tests.cassettes.drift $(PROVIDER)

plugin: $(VENV)/installed  ## build the plug-in in examples/plugin, install its wheel beside the packages, and test it
	rm -rf build/plugin
	$(BIN)/python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir build/plugin/dist examples/plugin
	$(BIN)/python -m pip install --quiet --no-deps --target build/plugin/installed build/plugin/dist/*.whl
	PYTHONPATH=build/plugin/installed $(BIN)/python -m pytest --rootdir examples/plugin -c examples/plugin/pyproject.toml examples/plugin

matrix:  ## run the tests on every supported Python on PATH, with the lowest and the highest dependencies
	.ci/matrix

distributions: build/wheels/dependencies build/release/installed  ## build dist/, check that it can be built again bit for bit, and that an index takes it
	$(MAKE) wheels
	.ci/reproducible build/wheels/bin/python
	cd dist && sha256sum --check --strict ../build/reproducible/here.sha256
	build/release/bin/python -m twine check --strict dist/*

build/release/installed: .ci/release-requirements.in
	$(NEW_VENV) --clear build/release
	$(INSTALL) build/release --requirement $<
	@touch $@

rehearse: distributions $(UV) build/constraints.txt  ## upload dist/ to an index on this machine, install from it with pip and uv, and run the sdists' tests
	.ci/rehearse build/wheels/bin/python $(UV)

sbom: $(UV) build/wheels/dependencies  ## write a bill of materials for each package: build/sbom/*.cdx.json
	.ci/sbom $(UV) build/wheels/bin/python

release: $(VENV)/installed  ## write the version and the changelog of a release: make release VERSION=0.2.0
	$(BIN)/python tools/release.py cut "$(VERSION)"

publish: distributions  ## check the release and show what publishes it; make publish CONFIRM=0.2.0 does it
	build/wheels/bin/python tools/release.py publish $(CONFIRM)

lock: $(UV) $(VENV)/installed  ## upgrade all packages in requirements.txt, or one: make lock PACKAGE=h11
	$(BIN)/python tools/lock.py --uv $(UV) $(PACKAGE)

build/uv/bin/uv:
	$(NEW_VENV) build/uv
	.ci/locked uv > build/uv/requirements.txt
	build/uv/bin/python -m pip install --quiet --only-binary :all: $(LOCKED) build/uv/requirements.txt
