# Everything a person needs: make run, make test. The rest is for those who change the project.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
HOST ?= 127.0.0.1
PORT ?= 8000

.PHONY: setup run test test-sqlite test-postgres check bench wheel screenshot

setup: .venv/installed

.venv/installed: requirements.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] < (3, 11) and "CrowdSelect needs Python 3.11 or newer: make PYTHON=/path/to/python3.11")'
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --requirement requirements.txt
	$(BIN)/python -m topk.compile
	touch $@

run: setup
	$(BIN)/python manage.py launch --host $(HOST) --port $(PORT)

test: test-sqlite test-postgres

test-sqlite: setup
	$(BIN)/pytest

# What touches the database runs a second time on PostgreSQL.
test-postgres: setup
	$(BIN)/python -m tests.postgres $(BIN)/pytest --ignore tests/topk --ignore tests/project/test_browser.py

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python manage.py makemigrations --check --dry-run

bench: setup
	$(BIN)/python -m benchmarks

# A wheel in var/wheel. What setuptools leaves in build/ would go into the next one, gone or not.
wheel: setup
	rm -rf build
	$(BIN)/pip wheel --quiet --no-deps --no-build-isolation --wheel-dir var/wheel .

# While `make run` is going: the picture in README.md.
screenshot: setup
	$(BIN)/python -m tests.screenshot http://$(HOST):$(PORT)
