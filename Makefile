# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
RUN_STAMP := $(VENV)/.installed-to-run
PEERS := .venv-peers
RELEASE := .venv-release
LOCKED := .venv-locked
SITE := .venv-site
ADAPTERS := .venv-adapters
WORKERS ?= 2

.PHONY: install demo quick browser test check test-adapters bench bench-evidence bench-pages bench-use bench-definitions calibrate intents golden-pages soak lock model-wheel docs test-site pictures reference packages release-dry-run smoke licenses sbom audit clean

install: $(STAMP)

# The embedding model is a distribution of its own, built from the folder `model`.
MODEL := $(wildcard model/*.* model/weights/*)
INSTALL_MODEL = $(BIN)/python -m pip install --quiet --disable-pip-version-check ./model

$(STAMP): pyproject.toml $(MODEL)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(INSTALL_MODEL)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[all,dev]'
	touch $(STAMP)

# What the demo needs, which installs faster than everything.
$(RUN_STAMP): pyproject.toml $(MODEL)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(INSTALL_MODEL)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[local,code,signing]'
	touch $(RUN_STAMP)

# Index this project's own documents, assemble a context from them, verify and replay its receipt.
QUESTION := Which files are skipped when a folder is indexed?
PAGES := README.md ARCHITECTURE.md CONTRIBUTING.md docs/guide
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

# The browser of the inspector's tests. Without it, and without apt or the right to install, they are skipped.
browser:
	@command -v chromium >/dev/null || command -v google-chrome >/dev/null || \
		! command -v apt-get >/dev/null || test "$$(id -u)" != 0 || \
		{ apt-get install -qq -y chromium >/dev/null 2>&1 || \
		{ apt-get update -qq && apt-get install -qq -y chromium; } >/dev/null 2>&1 || \
		echo "chromium could not be installed: the tests of the inspector are skipped"; }

# Tests that repeat many times, or in many processes, what others run once: measuring them doubles
# their time and adds no line.
UNMEASURED := tests/crash tests/fuzz tests/growth tests/inspector tests/interference tests/rot tests/trust \
	tests/user_code tests/store/test_histories.py tests/store/test_interference.py \
	tests/workspace/test_interference.py tests/workspace/test_real_importers.py \
	tests/test_bench_same_bytes.py
PYTEST_ALL = pytest -n $(WORKERS) --dist worksteal
# Thousands of tests start processes, servers and browsers that share the cores, so one may miss its time.
# What fails is run once more, alone: whoever fails twice has failed. Who passes only then stands in the output.
AGAIN = pytest --last-failed --last-failed-no-failures none
test: check browser
	$(BIN)/coverage erase
	$(BIN)/$(PYTEST_ALL) $(UNMEASURED) || $(BIN)/$(AGAIN) $(UNMEASURED)
	$(BIN)/coverage run -m $(PYTEST_ALL) $(UNMEASURED:%=--ignore=%) || \
		$(BIN)/coverage run -m $(AGAIN) $(UNMEASURED:%=--ignore=%)
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
	$(BANDIT) --recursive src --exclude src/quire/store/sql,src/quire/store/sqlite,src/quire/store/postgres,src/quire/store/shards
	$(BANDIT),B608 --recursive src/quire/store/sql src/quire/store/sqlite src/quire/store/postgres src/quire/store/shards

# Each adapter inside its framework, in an environment of its own; one of them: make test-adapters-dspy.
# Frameworks warn of themselves, hence -W; LangChain's standard tests have coroutines.
FRAMEWORKS := langchain llamaindex haystack pydantic-ai dspy openai-agents
test-adapters: $(FRAMEWORKS:%=test-adapters-%)

PYTEST_langchain := -o asyncio_mode=auto -o asyncio_default_fixture_loop_scope=function
test-adapters-%: $(ADAPTERS)/%/.installed
	$(ADAPTERS)/$*/bin/mypy src/quire/adapters/$(subst -,_,$*).py
	$(ADAPTERS)/$*/bin/python -m pytest -q -W default $(PYTEST_$*) tests/adapters/test_$(subst -,_,$*).py \
		tests/adapters/test_missing.py tests/adapters/test_examples.py

.PRECIOUS: $(ADAPTERS)/%/.installed
$(ADAPTERS)/%/.installed: pyproject.toml tests/adapters/requirements.txt tests/adapters/requirements-langchain.txt
	test -x $(ADAPTERS)/$*/bin/python || $(PYTHON) -m venv $(ADAPTERS)/$*
	$(ADAPTERS)/$*/bin/python -m pip install --quiet --disable-pip-version-check -e '.[$*]' \
		$(patsubst %,-r %,$(wildcard tests/adapters/requirements.txt tests/adapters/requirements-$*.txt))
	touch $@

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

# Whether pages answer questions about real projects, which are cloned (docs/use.md).
bench-use: install
	$(BIN)/python -m bench.use $(ARGS)

# Whether pages show the definitions of libraries that are asked for by name: make bench-definitions LIBRARIES="…".
bench-definitions: install
	$(BIN)/python -m bench.definitions $(LIBRARIES) $(ARGS)

# Fit the probability of relevance to the labelled pages: after another model, or with new labels.
calibrate: install
	BENCH_DATA="$(BENCH_DATA)" $(BIN)/python -m bench.pages calibrate --write $(ARGS)

# Embed the labelled questions that intents are guessed by (docs/pages.md): after another model.
intents: install
	$(BIN)/python -m bench.pages.intents --write

# Write the golden pages anew, of all recipes or of one (NAME=agent); then read each difference.
golden-pages: install
	QUIRE_GOLDEN=write $(BIN)/pytest -q tests/pages/test_golden_pages.py $(if $(NAME),-k "$(NAME)")
	git diff --stat -- tests/pages/golden

# Hours: what `make test` tries a few thousand times, as often as docs/reliability.md promises.
soak: export QUIRE_RANDOM = 1
soak: export PYTEST_TIMEOUT = 0
soak: install
	QUIRE_CASES=4000 $(BIN)/pytest -n $(WORKERS) tests/pipeline tests/packing tests/rendering tests/specs
	QUIRE_KILLS=1000 $(BIN)/pytest -s tests/crash -k kill
	QUIRE_KILLS=600 $(BIN)/pytest -s tests/indexing/test_cut_connections.py
	QUIRE_FUZZ=1000000 $(BIN)/pytest -s tests/fuzz
	QUIRE_ROT=20000 $(BIN)/pytest -s tests/rot
	QUIRE_SECRETS=200 $(BIN)/pytest -s tests/ingest/test_secret_formats.py
	QUIRE_HISTORIES=2000 $(BIN)/pytest -n $(WORKERS) tests/store/test_histories.py
	QUIRE_CASES=100000 $(BIN)/pytest -n $(WORKERS) tests/store -k "interference"
	QUIRE_CASES=20000 $(BIN)/pytest -n $(WORKERS) tests/indexing/test_document_worlds.py
	QUIRE_INTERFERENCE_STORES=1200 $(BIN)/pytest -n $(WORKERS) tests/workspace/test_interference.py
	QUIRE_REQUESTS=500 $(BIN)/pytest tests/server/test_fuzz.py
	QUIRE_MUTATIONS=all QUIRE_WORLDS=200 $(BIN)/pytest -n $(WORKERS) tests/interference

# The versions and hashes that the container and a release are made of; ARGS=--upgrade takes newer ones.
# The model is built from this repository and is not in the lock: its files have hashes in the code.
LOCK = $(RELEASE)/bin/uv --no-config pip compile --quiet --universal --python-version 3.11 \
	--find-links model/dist --no-emit-package quire-context-model \
	--generate-hashes --no-annotate --custom-compile-command "make lock" $(ARGS)
lock: $(RELEASE)/.installed model-wheel
	$(LOCK) pyproject.toml --extra all --output-file requirements/run.txt
	$(LOCK) pyproject.toml --extra all --extra postgresql --constraints requirements/run.txt \
		--output-file requirements/postgresql.txt
	$(LOCK) pyproject.toml --extra all --extra dev --constraints requirements/run.txt \
		--output-file requirements/dev.txt
	$(LOCK) --group release --output-file requirements/release.txt
	$(LOCK) --group site --output-file requirements/site.txt

$(RELEASE)/.installed: requirements/release.txt
	test -x $(RELEASE)/bin/python || $(PYTHON) -m venv $(RELEASE)
	$(RELEASE)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/release.txt
	touch $@

$(SITE)/.installed: requirements/site.txt
	test -x $(SITE)/bin/python || $(PYTHON) -m venv $(SITE)
	$(SITE)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/site.txt
	touch $@

# The documentation site, in the folder `site`: a dead link or a page outside the navigation fails.
# Material for MkDocs prints news of its own maker unless it is told not to.
docs: $(SITE)/.installed
	NO_MKDOCS_2_WARNING=1 $(SITE)/bin/mkdocs build --strict --clean

# The built site in a browser: search, widths, nothing from elsewhere.
test-site: docs install browser
	QUIRE_SITE=site $(BIN)/pytest -q tests/supply/test_built_site.py

# The pictures of the documentation; evidence.svg is drawn by `make bench-evidence` from its own data.
pictures: install browser
	$(BIN)/python docs/make_page.py
	$(BIN)/python docs/make_pictures.py
	$(BIN)/python docs/make_screenshots.py

# The pages of the documentation that are made from the code.
reference: install
	$(BIN)/python docs/make_cli.py
	$(BIN)/python docs/make_http.py
	$(BIN)/python docs/make_reference.py

# The distribution that holds the embedding model.
model-wheel: $(RELEASE)/.installed
	$(RELEASE)/bin/python -m build --no-isolation --wheel --outdir model/dist model

# The packages of a release, in `dist`: both distributions, as wheel and as source.
packages: $(RELEASE)/.installed
	rm -rf dist/*.whl dist/*.tar.gz
	$(RELEASE)/bin/python -m build --no-isolation
	$(RELEASE)/bin/python -m build --no-isolation --outdir dist model
	$(RELEASE)/bin/twine check --strict dist/*.whl dist/*.tar.gz

# Install the wheels as a user would, into a bare environment outside the repository, and use them;
# for other versions: make smoke PYTHONS="python3.11 python3.13".
PYTHONS ?= $(PYTHON)
smoke: packages
	for python in $(PYTHONS); do $$python tests/supply/smoke.py dist || exit 1; done

# Which licences the locked packages have, as their own metadata say.
licenses: install
	$(BIN)/python docs/make_licenses.py

# What a release is made of, in CycloneDX: an environment that holds what the lock says and nothing else.
sbom: $(RELEASE)/.installed model-wheel
	rm -rf $(LOCKED)
	$(PYTHON) -m venv --without-pip $(LOCKED)
	$(RELEASE)/bin/python -m pip --python $(LOCKED)/bin/python install --quiet --disable-pip-version-check \
		--require-hashes -r requirements/run.txt --report $(LOCKED)/locked.json
	$(RELEASE)/bin/python -m pip --python $(LOCKED)/bin/python install --quiet --disable-pip-version-check \
		--no-index --no-deps model/dist/*.whl --report $(LOCKED)/model.json
	mkdir -p dist
	$(RELEASE)/bin/cyclonedx-py environment $(LOCKED)/bin/python --pyproject pyproject.toml \
		--mc-type application --output-reproducible --output-format JSON --output-file dist/quire-context.cdx.json
	$(RELEASE)/bin/python docs/make_sbom.py dist/quire-context.cdx.json $(LOCKED)/locked.json $(LOCKED)/model.json

# Everything that a release publishes, without publishing it: packages that were installed and used, the
# bill of materials and the site; then a table of sizes and hashes, which change with each build.
release-dry-run: smoke sbom docs
	$(PYTHON) docs/make_release_table.py dist site

# Known vulnerabilities of the locked packages; this asks a service, so it is no part of `make test`.
audit: $(RELEASE)/.installed
	$(RELEASE)/bin/pip-audit --strict --disable-pip --require-hashes --requirement requirements/run.txt
	$(RELEASE)/bin/pip-audit --strict --disable-pip --require-hashes --requirement requirements/postgresql.txt
	$(RELEASE)/bin/pip-audit --strict --disable-pip --require-hashes --requirement requirements/release.txt
	$(RELEASE)/bin/pip-audit --strict --disable-pip --require-hashes --requirement requirements/site.txt

clean:
	rm -rf $(VENV) $(ADAPTERS) $(PEERS) $(RELEASE) $(LOCKED) $(SITE) site .quire .coverage* .mypy_cache .ruff_cache .pytest_cache .hypothesis
