# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
RUN_STAMP := $(VENV)/.installed-to-run
PEERS := .venv-peers
RELEASE := .venv-release
LOCKED := .venv-locked
WORKERS ?= 2

.PHONY: install demo quick test check bench bench-evidence bench-pages bench-definitions calibrate soak lock licenses sbom audit clean

install: $(STAMP)

$(STAMP): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[all,dev]'
	touch $(STAMP)

# What the demo needs, which installs faster than everything.
$(RUN_STAMP): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[local,code]'
	touch $(RUN_STAMP)

# Index this project's own documents, assemble a context from them, verify and replay its receipt.
QUESTION := Which files are skipped when a folder is indexed?
PAGES := README.md ARCHITECTURE.md CONTRIBUTING.md docs/guide.md
STORE := --store .quire/demo.db
demo: $(RUN_STAMP)
	$(BIN)/quire index $(PAGES) --history none $(STORE)
	$(BIN)/quire assemble "$(QUESTION)" --budget 500 --reserve none $(STORE) --receipt .quire/receipt.json > .quire/context.txt
	cat .quire/context.txt
	$(BIN)/quire explain "$(QUESTION)" --budget 500 --reserve none $(STORE) | head -20
	$(BIN)/quire verify .quire/receipt.json --context .quire/context.txt $(STORE)
	$(BIN)/quire replay .quire/receipt.json $(STORE)
	$(BIN)/quire status $(STORE)

# What a contributor runs all day: style, types, layers, and the tests that need no process of their own.
QUICK := tests/core tests/packing tests/ranking tests/rendering tests/retrieval tests/rules tests/tokens tests/specs
quick: check
	$(BIN)/pytest -q -n $(WORKERS) $(QUICK)

test: check
	$(BIN)/coverage erase
	QUIRE_COVERAGE=1 $(BIN)/coverage run -m pytest -n $(WORKERS)
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report --fail-under=90 --skip-covered

# B101: invariants are asserted. B404: an import runs nothing; each call of subprocess says why it
# may be made. B608, only in the store: statements are put together from names and numbers of our own.
BANDIT = $(BIN)/bandit --quiet --skip B101,B404

# What needs no test to run: types, style, and which package may import which.
check: install
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BANDIT) --recursive src --exclude src/quire/store/sqlite
	$(BANDIT),B608 --recursive src/quire/store/sqlite

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

# Whether pages help, on labelled questions (docs/pages.md); more with ARGS="score --help".
ARGS_PAGES = $(if $(ARGS),$(ARGS),score)
bench-pages: install
	BENCH_DATA="$(BENCH_DATA)" $(BIN)/python -m bench.pages $(ARGS_PAGES)

# Whether pages show the definitions of libraries that are asked for by name: make bench-definitions LIBRARIES="…".
bench-definitions: install
	$(BIN)/python -m bench.definitions $(LIBRARIES) $(ARGS)

# Fit the probability of relevance to the labelled pages: after another model, or with new labels.
calibrate: install
	BENCH_DATA="$(BENCH_DATA)" $(BIN)/python -m bench.pages calibrate --write $(ARGS)

# Hours: what `make test` tries a few thousand times, as often as docs/reliability.md promises.
soak: install
	QUIRE_KILLS=1000 $(BIN)/pytest -s tests/crash -k kill
	QUIRE_FUZZ=1000000 $(BIN)/pytest -s tests/fuzz
	QUIRE_ROT=20000 $(BIN)/pytest -s tests/rot
	QUIRE_SECRETS=200 $(BIN)/pytest -s tests/ingest/test_secret_formats.py
	QUIRE_CASES=100000 $(BIN)/pytest -n $(WORKERS) tests/store -k "interference"
	QUIRE_INTERFERENCE_STORES=1200 $(BIN)/pytest -n $(WORKERS) tests/workspace/test_interference.py
	QUIRE_MUTATIONS=all QUIRE_WORLDS=200 $(BIN)/pytest -n $(WORKERS) tests/interference

# The versions and hashes that the container and a release are made of; ARGS=--upgrade takes newer ones.
LOCK = $(RELEASE)/bin/uv --no-config pip compile --quiet --universal --python-version 3.11 \
	--generate-hashes --no-annotate --custom-compile-command "make lock" $(ARGS)
lock: $(RELEASE)/.installed
	$(LOCK) pyproject.toml --extra all --output-file requirements/run.txt
	$(LOCK) pyproject.toml --extra all --extra dev --constraints requirements/run.txt \
		--output-file requirements/dev.txt
	$(LOCK) --group release --output-file requirements/release.txt

$(RELEASE)/.installed: requirements/release.txt
	test -x $(RELEASE)/bin/python || $(PYTHON) -m venv $(RELEASE)
	$(RELEASE)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/release.txt
	touch $@

# Which licences the locked packages have, as their own metadata say.
licenses: install
	$(BIN)/python docs/make_licenses.py

# What a release is made of, in CycloneDX: an environment that holds what the lock says and nothing else.
sbom: $(RELEASE)/.installed
	rm -rf $(LOCKED)
	$(PYTHON) -m venv --without-pip $(LOCKED)
	$(RELEASE)/bin/python -m pip --python $(LOCKED)/bin/python install --quiet --disable-pip-version-check \
		--require-hashes -r requirements/run.txt
	mkdir -p dist
	$(RELEASE)/bin/cyclonedx-py environment $(LOCKED)/bin/python --pyproject pyproject.toml \
		--mc-type application --output-reproducible --output-format JSON --output-file dist/quire-context.cdx.json

# Known vulnerabilities of the locked packages; this asks a service, so it is no part of `make test`.
audit: $(RELEASE)/.installed
	$(RELEASE)/bin/pip-audit --strict --disable-pip --require-hashes --requirement requirements/run.txt
	$(RELEASE)/bin/pip-audit --strict --disable-pip --require-hashes --requirement requirements/release.txt

clean:
	rm -rf $(VENV) $(PEERS) $(RELEASE) $(LOCKED) .quire .coverage* .mypy_cache .ruff_cache .pytest_cache .hypothesis
