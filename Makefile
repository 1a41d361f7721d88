# What can be asked of this folder:
#
#   make dedup CORPUS=DIR [OUT=DIR] [ALGORITHMS=LIST] [ARGS=...]   find the duplicates of a corpus; CLEAN=1 writes it without them
#   make dedup CORPUS=DIR CUT=runs:200 CLEAN=1                     also cut repeated passages: lines, paragraphs, sentences:N, runs:L
#   make wheel                                                     the Python package as a wheel, in dist; the program is in it
#   make python                                                    the wheel tested, alone and beside the libraries whose frames it takes
#   make spark CORPUS=DIR [OUT=DIR] [ALGORITHMS=LIST] [MASTER=URL]  the same on Apache Spark; two workers on this machine if no MASTER
#   make python-spark                                              the wheel tested on Apache Spark, which takes Java 17 or later
#   make dist                                                      what a release holds: wheel, sdist, .tar.gz, .deb, Dockerfile checked
#   make test                                                      everything that must hold
#   make test-environments                                         the tests with umask 002 and 077, as an ordinary user, without a home
#   make test-browser                                              report.html by axe-core in Chromium, at two widths; screenshots
#   make crate CRATE=engine                                        the unit tests of one crate, built quickly: for use while you edit
#   make lint                                                      format, clippy, documentation
#   make lab                                                       lists the measurements, which need minutes and often other corpora
#   make lab RUN=growth CORPORA=DIR [WRITE=FILE] [ARGS=...]         one of them; CORPORA=DIR or CORPUS=DIR is its first argument
#   make instructions [CORPORA=DIR] [WRITE=1]                      instructions of complete runs beside those in the repository; valgrind
#   make book                                                      the manual of docs/ as a book, in out/book
#   make golden                                                    renew golden files and transcripts; read the difference
#   make venv                                                      Python and the readers of Parquet, in .venv
#
# It takes Rust, for lint with rustfmt and clippy, a C compiler, and for tests Python 3.11 or later. What else is needed is installed into
# folders of this checkout or by cargo. Without Java, Chromium or valgrind, `make test` skips the tests that need them, and says so at its end.
# Everything is built with the release profile, so that dependencies are compiled once. CARGO_TARGET_DIR is honoured.

SHELL := /bin/sh
CARGO ?= cargo
PYTHON ?= python3
PROGRAM := $(or $(CARGO_TARGET_DIR),target)/release/dupsift
# The renderer of the manual; where none is in PATH, `make book` installs one here.
MDBOOK_VERSION := 0.5.4
MDBOOK := $(or $(shell command -v mdbook),$(CURDIR)/.mdbook/bin/mdbook)
VENV_PYTHON := $(CURDIR)/.venv/bin/python
WHEEL_PYTHON := $(CURDIR)/.venv-wheel/bin/python
FRAMES_PYTHON := $(CURDIR)/.venv-frames/bin/python
BROWSER_PYTHON := $(CURDIR)/.venv-browser/bin/python
SPARK_PYTHON := $(CURDIR)/.venv-spark/bin/python

# Read by recipes as variables of the shell, so that names with spaces and quotes arrive as they were typed.
export CRATE CORPUS OUT ALGORITHMS CUT MASTER CLEAN CORPORA RUN WRITE PYTHON
# Where tests find the interpreter that can read Parquet.
export DUPSIFT_PYTHON = $(VENV_PYTHON)

.PHONY: help dedup wheel spark python-spark dist test environments crate test-browser test-environments lint fmt clippy doc unit python lab instructions golden book venv clean
.NOTPARALLEL:

help:
	@sed -n '/^#/!q; s/^# \{0,1\}//p' Makefile

# Exit code 3 of the program says "done, but look": here that is success with a notice. make itself ends with 2 whenever
# the program ends with 1, 2 or 4, and prints the program's own code. 4 says that the result was held back.
dedup:
	@if [ -z "$$CORPUS" ]; then \
	  echo 'CORPUS is missing: say which corpus, such as: make dedup CORPUS=data-samples/docs' >&2; \
	  echo 'Optional: CLEAN=1 CUT=runs:200 OUT=DIR ALGORITHMS=exact,minhash:bands=20,rows=5 ARGS="--memory 4GiB --threads 8"' >&2; exit 2; fi
	@case "$${OUT:-$$CORPUS}" in *['*?[']*) \
	  echo 'OUT is missing: CORPUS is a pattern, so there is no name to call the output by; add OUT=DIR' >&2; exit 2;; esac
	$(CARGO) build --release --bin dupsift
	@out="$${OUT:-out/$$(basename -- "$$CORPUS")}"; \
	$(CARGO) run --quiet --release --bin dupsift -- run "$$CORPUS" --out "$$out" --overwrite \
	  $${ALGORITHMS:+--algorithms "$$ALGORITHMS"} $${CLEAN:+--corpus keep} $${CUT:+--cut "$$CUT"} $(ARGS); code=$$?; \
	if [ $$code -eq 3 ]; then \
	  echo "notice: done, but rows or files were rejected or a guard fired; see above, $$out/rejected and $$out/run.json" >&2; \
	elif [ $$code -eq 4 ]; then \
	  echo "held back: $$out stays as it was; look at $$out.held, then: $(PROGRAM) accept $$out.held" >&2; exit 4; \
	else exit $$code; fi

# By the profile and the features of the program: only pyo3 and what stands in python/src are compiled besides.
wheel: .venv-wheel/ready
	rm -f dist/dupsift-*.whl
	"$(WHEEL_PYTHON)" -m maturin build --release --locked --compression-level 9 --manifest-path python/Cargo.toml --out dist

dist: .venv-dist/ready
	sh scripts/dist.sh "$(CURDIR)/.venv-dist/bin/python" "$(PROGRAM)"

test:
	@sh scripts/test.sh "$(FRAMES_PYTHON)" "$(SPARK_PYTHON)" "$(BROWSER_PYTHON)"

environments: .venv/ready .venv-wheel/ready .venv-frames/ready .venv-spark/ready .venv-browser/ready

# The wheel in an environment that holds nothing else, then beside the libraries whose frames it takes.
python: wheel .venv-frames/ready
	PYTHON="$(PYTHON)" sh scripts/test_wheel.sh "$(FRAMES_PYTHON)" dist/dupsift-*.whl

python-spark: wheel .venv-spark/ready
	sh scripts/test_spark.sh "$(SPARK_PYTHON)" "$(CURDIR)"/dist/dupsift-*.whl

spark:
	@if [ -z "$$CORPUS" ]; then \
	  echo 'CORPUS is missing: say which corpus, such as: make spark CORPUS=data-samples/docs' >&2; exit 2; fi
	@$(MAKE) --no-print-directory wheel .venv-spark/ready
	@sh scripts/spark.sh "$(SPARK_PYTHON)" "$(CURDIR)"/dist/dupsift-*.whl $(ARGS)

unit:
	@if $(CARGO) nextest --version >/dev/null 2>&1; then $(CARGO) nextest run --release --workspace --exclude dupsift-python --no-fail-fast; else $(CARGO) test --release --workspace --exclude dupsift-python --no-fail-fast; fi

# It builds the tests, and runs all of them twice. ENVIRONMENTS="umask-002" runs one; PROFILE=dev is quick to build; WHEEL=0 leaves Python out.
test-environments: .venv/ready
	@sh scripts/test_environments.sh "$(VENV_PYTHON)"

# It takes Chromium and its driver as the system has them; look at the screenshots in out/browser.
test-browser: .venv-browser/ready
	$(CARGO) build --release --bin dupsift
	"$(BROWSER_PYTHON)" scripts/test_browser.py data-samples/docs --dupsift "$(PROGRAM)" --shots out/browser

# The development profile: quick to build, slow to run.
crate:
	@if [ -z "$$CRATE" ]; then echo 'CRATE is missing: a folder of crates, such as: make crate CRATE=engine' >&2; exit 2; fi
	@if $(CARGO) nextest --version >/dev/null 2>&1; then $(CARGO) nextest run -p "dupsift-$$CRATE"; \
	else $(CARGO) test -p "dupsift-$$CRATE"; fi

lint: fmt clippy doc

fmt:
	$(CARGO) fmt --all --check

# The library alone too, without what its faces need.
clippy:
	$(CARGO) clippy --release --workspace --all-targets -- -D warnings
	$(CARGO) clippy --release --lib --no-default-features -- -D warnings

doc:
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --release --workspace --exclude dupsift-python --no-deps --document-private-items

# A script in benches/lab or a benchmark in benches; what it needs is built first.
lab:
	@$(PYTHON) benches/lab $${RUN:+"$$RUN"} $${CORPORA:+"$$CORPORA"} $${CORPUS:+"$$CORPUS"} $${WRITE:+--write "$$WRITE"} $(ARGS)

instructions:
	$(CARGO) build --release --bin dupsift
	@$(PYTHON) benches/lab/instructions.py data-samples $${WRITE:+--write} $(ARGS)
	@if [ -n "$$CORPORA" ]; then $(PYTHON) benches/lab/instructions.py "$$CORPORA/mixed-100m" $${WRITE:+--write} $(ARGS); fi

book: $(MDBOOK)
	@"$(MDBOOK)" build docs

$(CURDIR)/.mdbook/bin/mdbook:
	@echo 'mdbook is not in PATH: it is built into .mdbook now, which takes some minutes; or stop here, install it yourself, and type make book again' >&2
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

.venv-wheel/ready: scripts/requirements-wheel.txt scripts/venv.sh
	@sh scripts/venv.sh .venv-wheel scripts/requirements-wheel.txt

.venv-browser/ready: scripts/requirements-browser.txt scripts/venv.sh
	@sh scripts/venv.sh .venv-browser scripts/requirements-browser.txt

.venv-dist/ready: scripts/requirements-dist.txt scripts/venv.sh
	@sh scripts/venv.sh .venv-dist scripts/requirements-dist.txt

.venv-peers/ready: scripts/requirements-peers.txt scripts/venv.sh
	@sh scripts/venv.sh .venv-peers scripts/requirements-peers.txt

clean:
	$(CARGO) clean
	rm -rf .venv .venv-browser .venv-dist .venv-frames .venv-peers .venv-spark .venv-wheel .mdbook dist
