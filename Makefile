# Every target makes what it needs: the virtual environment, the pinned packages, a Java.
# PYTHON=… chooses the interpreter, JAVA_HOME=… the Java, ARGS=… is passed on to demo, kill, bench, differential.
.DEFAULT_GOAL := help

VENV := .venv
PY := $(VENV)/bin/python
READY := $(VENV)/.ready
FAST := not spark and not cluster and not kill
# Before a command that starts a JVM.
WITH_JAVA = JAVA_HOME="$$(scripts/ensure_java.sh)" && export JAVA_HOME &&

# The jobs that between them run every engine path; the others repeat them at other sizes.
QUICK_JOBS := runtime,patterns,window-runtime,windows,interval-join,failed-logins,word-count,start-up,files

.PHONY: help demo test check kill bench bench-quick differential cep-parity memory setup java lint types fast format rules parity lock clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST)

demo: setup ## the main job on embedded Spark, about a minute
	@$(WITH_JAVA) $(PY) examples/demo.py $(ARGS)

test: java lint types ## everything: ruff, mypy, all tests
	@$(WITH_JAVA) $(PY) -m pytest

check: lint types fast ## ruff, mypy and the tests that need no JVM

kill: setup ## fifty kills; writes the log
	@$(WITH_JAVA) $(PY) -m tests.kill.loop --kills 50 $(ARGS)

differential: setup ## the same programs under PyFlink and Penstock, compared
	@$(WITH_JAVA) $(PY) -m differential $(ARGS)

bench: setup ## benchmarks against the peers
	@$(WITH_JAVA) $(PY) -m benchmarks $(ARGS)

bench-quick: setup ## Penstock alone on small inputs, a few minutes: does every benchmark still run, is it still right?
	@$(WITH_JAVA) $(PY) -m benchmarks --quick --rounds 1 --peers penstock,loop --only $(QUICK_JOBS) $(ARGS)

cep-parity: setup ## random patterns under the real FlinkCEP and ours; ARGS="FOLDER_OF_JARS [N]"
	@$(WITH_JAVA) $(PY) -m tests.parity.flink_cep.compare $(ARGS)

memory: setup ## BATCH mode with 2 GiB of keyed state in 512 MiB a worker
	@$(WITH_JAVA) $(PY) -m tests.soak.batch_state $(ARGS)

setup: $(READY) ## the virtual environment only

$(READY): pyproject.toml requirements-dev.lock scripts/ensure_venv.sh
	@scripts/ensure_venv.sh $(VENV)
	@$(PY) -m pip install --quiet -r requirements-dev.lock
	@$(PY) -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

java:
	@scripts/ensure_java.sh >/dev/null

lint: setup
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .

types: setup
	@$(PY) -m mypy

fast: setup
	@$(PY) -m pytest -q -m "$(FAST)"

format: setup ## let ruff put the code in order
	@$(PY) -m ruff check --fix .
	@$(PY) -m ruff format .

rules: setup ## regenerate docs/rules.md
	@$(PY) scripts/rules.py

parity: setup ## regenerate docs/parity.md
	@$(PY) -m scripts.parity

lock: ## pin anew what pyproject.toml allows
	@scripts/lock.sh requirements-dev.lock

clean: ## remove the virtual environment and caches
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist
