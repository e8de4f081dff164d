# Every target makes what it needs: the virtual environment, the pinned packages, a Java.
# PYTHON=… chooses the interpreter, JAVA_HOME=… the Java, ARGS=… is passed on to demo, kill, bench, differential.
.DEFAULT_GOAL := help

VENV := .venv
PY := $(VENV)/bin/python
READY := $(VENV)/.ready
DOCS := .venv-docs
FAST := not spark and not cluster and not kill
# Two processes, each with half of the tests; more would gain little over what each of them has to import.
FAST_RING = $(PY) -m pytest -q -n 2 --dist worksteal
# A file's tests share a JVM, which waits most of the time; two at a time fill the machine.
SLOW_RING = $(PY) -m pytest -n 2 --dist loadfile
# Before a command that starts a JVM.
WITH_JAVA = JAVA_HOME="$$(scripts/ensure_java.sh)" && export JAVA_HOME &&

# The jobs that between them run every engine path; the others repeat them at other sizes.
QUICK_JOBS := runtime,patterns,window-runtime,windows,interval-join,failed-logins,word-count,start-up,files

.PHONY: help demo test check kill soak bench bench-quick differential cep-parity pyflink-tests memory back-pressure docs pictures setup java postgres mariadb lint types fast format rules reference parity settings lock lock-docs clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST)

demo: setup ## the main job on embedded Spark, about a minute
	@$(WITH_JAVA) $(PY) -m penstock.cli demo $(ARGS)

test: java postgres mariadb lint types ## everything: ruff, mypy, all tests
	@$(FAST_RING) -m "$(FAST)"
	@$(WITH_JAVA) $(SLOW_RING) -m "not ($(FAST))"

check: lint types fast ## ruff, mypy and the tests that need no JVM, with fewer random examples; under a minute

kill: setup postgres ## fifty kills; writes the log; ARGS="--kills 200"
	@$(WITH_JAVA) $(PY) -m tests.kill.loop --kills 50 $(ARGS)

soak: setup ## half an hour at a fixed rate with kills; writes a table; ARGS="--minutes 3"
	@$(WITH_JAVA) $(PY) -m tests.soak.steady $(ARGS)

differential: setup ## the same programs under PyFlink and Penstock, compared
	@$(WITH_JAVA) $(PY) -m differential $(ARGS)

bench: setup ## benchmarks against the peers
	@$(WITH_JAVA) $(PY) -m benchmarks $(ARGS)

bench-quick: setup ## Penstock alone on small inputs, a few minutes: does every benchmark still run, is it still right?
	@$(WITH_JAVA) $(PY) -m benchmarks --quick --rounds 1 --peers penstock,loop --only $(QUICK_JOBS) $(ARGS)

cep-parity: setup ## random patterns under the real FlinkCEP and ours; ARGS=5000 for so many
	@$(WITH_JAVA) $(PY) -m tests.parity.flink_cep.compare $(ARGS)

pyflink-tests: setup ## PyFlink's own tests on Penstock; ARGS=--record keeps the figures
	@$(WITH_JAVA) $(PY) -m tests.parity.pyflink_suite $(ARGS)

memory: setup ## BATCH mode with 2 GiB of keyed state in 512 MiB a worker
	@$(WITH_JAVA) $(PY) -m tests.soak.batch_state $(ARGS)

back-pressure: setup ## ten minutes with a sink ten times too slow: memory flat, batches near their target
	@$(WITH_JAVA) $(PY) -m tests.soak.back_pressure $(ARGS)

docs: $(DOCS)/.ready ## the guide as a site, in build/site
	@NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/mkdocs build --quiet --strict
	@echo "build/site/guide/index.html"

$(DOCS)/.ready: requirements-docs.lock scripts/ensure_venv.sh
	@scripts/ensure_venv.sh $(DOCS)
	@$(DOCS)/bin/python -m pip install --quiet -r requirements-docs.lock
	@touch $@

pictures: setup ## draw the pictures of the guide and of the architecture anew
	@$(PY) -m scripts.pictures

setup: $(READY) ## the virtual environment only

$(READY): pyproject.toml requirements-dev.lock scripts/ensure_venv.sh
	@scripts/ensure_venv.sh $(VENV)
	@$(PY) -m pip install --quiet -r requirements-dev.lock
	@$(PY) -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

java:
	@scripts/ensure_java.sh >/dev/null

postgres:
	@scripts/ensure_postgres.sh >/dev/null

mariadb:
	@scripts/ensure_mariadb.sh >/dev/null

lint: setup
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .

types: setup
	@$(PY) -m mypy

fast: setup
	@HYPOTHESIS_PROFILE=check $(FAST_RING) -m "$(FAST) and not process"

format: setup ## let ruff put the code in order
	@$(PY) -m ruff check --fix .
	@$(PY) -m ruff format .

rules: setup ## regenerate docs/rules.md and docs/rules.json
	@$(PY) scripts/rules.py

reference: setup ## regenerate docs/guide/reference from the docstrings
	@$(PY) -m scripts.reference

parity: setup ## regenerate docs/parity.md
	@$(PY) -m scripts.parity

settings: setup ## rewrite the guide's tables of settings
	@$(PY) -m scripts.settings

lock: ## pin anew what pyproject.toml allows
	@scripts/lock.sh requirements-dev.lock

lock-docs: ## pin anew what the guide is built with
	@scripts/lock_docs.sh requirements-docs.lock

clean: ## remove the virtual environments and caches
	rm -rf $(VENV) $(DOCS) .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist
