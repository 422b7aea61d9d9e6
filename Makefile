# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PEERS := .venv-peers
WORKERS ?= 2

.PHONY: install demo test check bench bench-evidence soak clean

install: $(STAMP)

$(STAMP): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[all,dev]'
	touch $(STAMP)

# Index this repository, assemble a context from it, show what the receipt says.
QUESTION := how is it made sure that nobody reads what they may not?
demo: install
	$(BIN)/quire index
	$(BIN)/quire assemble "$(QUESTION)" --budget 2400 --receipt .quire/receipt.json > .quire/context.txt
	cat .quire/context.txt
	$(BIN)/quire explain "$(QUESTION)" --budget 2400 | head -20
	$(BIN)/quire verify .quire/receipt.json --context .quire/context.txt
	$(BIN)/quire replay .quire/receipt.json
	$(BIN)/quire status

test: check
	$(BIN)/coverage erase
	QUIRE_COVERAGE=1 $(BIN)/coverage run -m pytest -n $(WORKERS)
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report --fail-under=90 --skip-covered

# What needs no test to run: types, style, and which room may import which.
check: install
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: install $(PEERS)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[bench]'
	$(BIN)/python -m bench

$(PEERS)/.installed: bench/peers.txt
	test -x $(PEERS)/bin/python || $(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check -r bench/peers.txt
	touch $@

# How much evidence a context holds, on the data in the folder BENCH_DATA; more with ARGS="--help".
bench-evidence: install
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[bench]'
	BENCH_DATA="$(BENCH_DATA)" $(BIN)/python -m bench.evidence $(ARGS)

soak: install
	QUIRE_CASES=100000 $(BIN)/pytest -n $(WORKERS) tests/store -k "interference"
	QUIRE_INTERFERENCE_STORES=1200 $(BIN)/pytest -n $(WORKERS) tests/workspace/test_interference.py

clean:
	rm -rf $(VENV) $(PEERS) .quire .coverage* .mypy_cache .ruff_cache .pytest_cache .hypothesis
