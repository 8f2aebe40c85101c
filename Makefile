# `make run` and `make test` need Python 3.11 or newer and nothing else; `make help` lists the rest.

PYTHON ?= python3
VENV ?= .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip --disable-pip-version-check --quiet install
HOME_OF_RUN := $(if $(TACIT_HOME),$(TACIT_HOME),.tacit)
# Empty PostgreSQL and Redis for one command.
BESIDE_SERVERS := $(PY) -m config.local_servers exec --

.PHONY: help run manage test screenshots bench fmt
.DEFAULT_GOAL := help

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' Makefile

run: $(VENV)/installed ## Start Tacit with its own PostgreSQL and Redis; Ctrl-C stops it (PORT=, TACIT_HOME=)
	@exec $(PY) -m config.supervisor

manage: ## Run a Django command beside a running `make run` (ARGS="shell")
	@test -f "$(HOME_OF_RUN)/servers.env" || { echo "Tacit is not running: start it with make run."; exit 1; }
	@. "$(HOME_OF_RUN)/servers.env" && exec $(PY) manage.py $(ARGS)

test: $(VENV)/installed-dev ## Run every check and test (ARGS="tests/config -k lock" narrows pytest)
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .
	$(VENV)/bin/lint-imports
	DEBUG=1 $(PY) -m mypy
	$(BESIDE_SERVERS) $(PY) manage.py makemigrations --check --dry-run
	$(BESIDE_SERVERS) $(PY) -m pytest -n 2 --dist loadgroup $(ARGS)

screenshots: $(VENV)/installed-dev ## Take the pictures of the README anew
	$(BESIDE_SERVERS) $(PY) -m tests.journeys.screenshots

bench: $(VENV)/installed-dev ## Measure what the speed claims stand on
	$(BESIDE_SERVERS) $(PY) -m bench.memory_path $(ARGS)

fmt: $(VENV)/installed-dev ## Format the code and mend what can be mended by itself
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

$(VENV)/installed: requirements.txt | $(PY)
	@echo "Installing what Tacit needs into $(VENV) ..."
	@$(PIP) -r requirements.txt
	@touch $@

$(VENV)/installed-dev: requirements.txt requirements-dev.txt | $(PY)
	@echo "Installing what Tacit and its checks need into $(VENV) ..."
	@$(PIP) -r requirements-dev.txt
	@touch $(VENV)/installed $@

$(PY):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Tacit needs Python 3.11 or newer, and $(PYTHON) is not. Name one: make run PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }
