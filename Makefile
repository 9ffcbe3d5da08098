# The commands people type. Every target sets up what it needs by itself: Debian packages that are missing, .venv with
# pinned tools, builds in build/<preset>. Nothing is done twice: `make test` on an unchanged tree only runs the tests.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules --no-print-directory

JOBS ?= $(shell nproc)
# cmake, ninja and the linters come from .venv, whatever else the machine has.
export PATH := $(CURDIR)/.venv/bin:$(PATH)
export CMAKE_GENERATOR ?= Ninja
export CMAKE_BUILD_PARALLEL_LEVEL ?= $(JOBS)

# One line before each step, so that a log can be skimmed.
step = @printf '\n== %s\n'

ARCH := $(shell uname -m)
OTHER_ARCH := $(if $(filter x86_64,$(ARCH)),aarch64,x86_64)

cpp_files = $(shell find src tests fuzz bench -name '*.cpp' -o -name '*.h' 2>/dev/null)
headers = $(shell find src -name '*.h' -o -name '*.def')
# Not the tests: GoogleTest's macros take most of the time and say nothing about us.
tidied = $(shell find src -name '*.cpp' -not -name '*_test.cpp')
wheel_inputs = CMakeLists.txt pyproject.toml README.md LICENSE \
  $(shell find cmake src python -type f -not -path '*/__pycache__/*')

##@ The two to know

.PHONY: demo
demo: .venv/installed ## show what graphmend does, on small examples
	@tools/demo.sh

.PHONY: test
test: test-native test-python lint ## build everything, run all tests and checks
	$(step) "all tests passed"

##@ Building and testing

.PHONY: build
build: build-dev build-release ## build with sanitizers (build/dev) and optimised (build/release)

.PHONY: test-native
test-native: build-dev build-release ## C++ unit tests, in both builds
	$(step) "unit tests, with sanitizers"
	@ctest --preset dev -j $(JOBS)
	$(step) "unit tests, optimised"
	@ctest --preset release -j $(JOBS)

.PHONY: test-python
test-python: .venv/installed ## pytest, against the installed wheel
	$(step) "pytest"
	@OMP_NUM_THREADS=1 python -m pytest -n auto --dist worksteal $(PYTEST_ARGS)

# The goldens hold syntax newer than the oracle's: only the newest CPython can write them.
PYTHON315 ?= python3.15
.PHONY: golden-update
golden-update: ## rewrite the golden trees with CPython 3.15 (PYTHON315=…); look at the diff before you commit
	@command -v $(PYTHON315) >/dev/null || { echo "no $(PYTHON315); name one: make golden-update PYTHON315=…"; exit 1; }
	@$(PYTHON315) tests/golden/oracle.py --write

.PHONY: rules-update
rules-update: .venv/installed ## rewrite the mended text in the pages of rules/; look at the diff before you commit
	@python tests/test_rules.py --write

build-%: build/%/configured
	$(step) "build $*"
	@cmake --build --preset $*

# Ninja re-runs CMake by itself when a CMake file changes, but does not know the presets.
.PRECIOUS: build/%/configured
build/%/configured: CMakePresets.json | build/debian .venv/ready
	$(step) "configure $*"
	@cmake --preset $* --log-level=NOTICE
	@touch $@

##@ Linting

.PHONY: lint
lint: lint-layers lint-format lint-python lint-tidy ## layers, formatting, clang-tidy, ruff, mypy

.PHONY: lint-layers
lint-layers: | .venv/ready
	$(step) "layers"
	@python tools/check_layers.py --self-test
	@python tools/check_layers.py

.PHONY: lint-format
lint-format: | .venv/ready
	$(step) "clang-format"
	@clang-format --dry-run -Werror $(cpp_files)

.PHONY: lint-python
lint-python: | .venv/ready
	$(step) "ruff"
	@ruff check
	@ruff format --check
	$(step) "mypy"
	@mypy

# A sub-make, so that the files are looked at in parallel also when make was called without -j.
.PHONY: lint-tidy tidy
lint-tidy: build/dev/configured
	$(step) "clang-tidy"
	@$(MAKE) -j$(JOBS) --output-sync=target tidy
tidy: $(tidied:%=build/tidy/%.ok)
build/tidy/%.ok: % .clang-tidy $(headers)
	@mkdir -p $(@D)
	@clang-tidy -p build/dev --quiet --extra-arg=-Wno-unknown-warning-option $< \
	  2> >(grep -v 'generated\.$$' >&2)
	@touch $@

.PHONY: format
format: | .venv/ready ## put the C++ and Python files into the house format
	@clang-format -i $(cpp_files)
	@ruff check --fix-only --quiet
	@ruff format

##@ Measuring and hunting

.PHONY: bench
bench: build-bench .venv/bench ## speed against ast.parse, ruff and others, in bench/results/
	$(step) "worst shapes"
	@python bench/worst_shapes.py --output bench/results/worst_shapes.md
	$(step) "beside the rivals"
	@python bench/front_end.py $(BENCH_ARGS)

# What runs is the graphmend of this checkout, not the installed one.
in_checkout = GRAPHMEND_LIBRARY=$(CURDIR)/build/release/libgraphmend.so PYTHONPATH=$(CURDIR)/python python

.PHONY: bench-compile
bench-compile: build-release .venv/ready ## cost of compile where nothing is mended, leaks, in bench/results/compile_cost.md
	$(step) "cost of compile"
	@$(in_checkout) -m bench.compile_cost $(ARGS)

.PHONY: bench-mend
bench-mend: build-release .venv/ready ## from a request to mended text, beside CPython, in bench/results/mend.md
	$(step) "mends"
	@$(in_checkout) -m bench.mend --output bench/results/mend.md $(ARGS)

.PHONY: table2
table2: build-release .venv/ready ## the paper's rows: plain, Dynamo's settings, mended, in bench/results/table2.md
	$(step) "the paper's rows"
	@$(in_checkout) -m bench.table2.run $(ARGS)

.PHONY: table2-inductor
table2-inductor: build-release .venv/ready ## the rows on Inductor: plain and mended, in bench/results/table2_inductor.md
	$(step) "the paper's rows on Inductor"
	@$(in_checkout) -m bench.table2.run --backend inductor --columns plain mended --limit 1800 $(ARGS)

.PHONY: table2-wrong
table2-wrong: build-release .venv/ready ## the rows when predictions are wrong, in bench/results/table2_wrong.md
	$(step) "the paper's rows when predictions are wrong"
	@$(in_checkout) -m bench.table2.wrong --output bench/results/table2_wrong.md $(ARGS)

.PHONY: bench-speculation
bench-speculation: build-release .venv/ready ## predictions that hold and that fail, in bench/results/speculation.md
	$(step) "predictions"
	@$(in_checkout) -m bench.speculation --output bench/results/speculation.md $(ARGS)

.PHONY: bench-varied
bench-varied: build-release .venv/ready ## models whose control flow hangs on their input, in bench/results/varied.md
	$(step) "inputs that are all different"
	@$(in_checkout) -m bench.varied --output bench/results/varied.md $(ARGS)

.PHONY: bench-models
bench-models: build-release .venv/ready ## models of transformers, all that can be made tiny, in bench/results/many_models.md
	$(step) "many models"
	@$(in_checkout) -m bench.many_models --output bench/results/many_models.md $(ARGS)

.PHONY: bench-gpu
bench-gpu: build-release .venv/ready ## guards in every layer of a model, and the paper's rows at full size, on a GPU
	$(step) "guards on a GPU"
	@$(in_checkout) -m bench.gpu_guards --output bench/results/gpu_guards.md
	$(step) "the paper's rows at full size"
	@$(in_checkout) -m bench.gpu_rows --output bench/results/gpu_rows.md

.PHONY: generated
generated: build-release .venv/ready ## random programs, mended and not (ARGS="--programs N --backend B --seed S")
	$(step) "generated programs"
	@$(in_checkout) -m tests.generated $(ARGS)

.PHONY: sweep
sweep: build-release .venv/ready ## one expression after the other in each kind of place (ARGS="--around A --places P --backend B --speculate")
	$(step) "expressions"
	@$(in_checkout) -m tests.sweep $(ARGS)

.PHONY: sweep-names
sweep-names: build-release .venv/ready ## tensors with several names, at random (ARGS="--programs N --seed S --changes C --backend B")
	$(step) "names"
	@$(in_checkout) -m tests.sweep.names $(ARGS)

.PHONY: third-party
third-party: build-release .venv/ready ## test suites of other packages, plainly and mended (ARGS=backwards: their files reversed)
	$(step) "other people's tests"
	@tools/third_party_suite.sh $(ARGS)

FUZZ_SECONDS ?= 600
FUZZ_ROUNDS ?= 100000
.PHONY: fuzz
fuzz: build/debian-fuzz build-fuzz ## run each fuzzer for FUZZ_SECONDS (default 600)
	@tools/fuzz.sh $(FUZZ_SECONDS)

CORPUS = python tests/corpus
.PHONY: corpus
corpus: build-release | .venv/ready ## compare with CPython 3.13 on large corpora (takes long)
	$(step) "the files to compare on"
	@$(CORPUS)/fetch.py --site .venv
	$(step) "same tree"
	@$(CORPUS)/same_tree.py
	$(step) "same scopes"
	@$(CORPUS)/same_scopes.py --snippets --generated 20000
	$(step) "same verdict"
	@$(CORPUS)/same_verdict.py
	$(step) "tokens plus gaps are the bytes"
	@$(CORPUS)/lossless.py
	$(step) "mutated programs"
	@$(CORPUS)/differential_fuzz.py --rounds $(FUZZ_ROUNDS)

##@ Packaging

.PHONY: wheel
wheel: build/wheel ## the wheel for this machine, in dist/
	@ls dist/*linux_$(ARCH).whl

.PHONY: wheel-cross
wheel-cross: .venv/zig ## the wheel for the other architecture, in dist/ (manylinux; CROSS_ARCH=… for a given one)
	@tools/cross_wheel.sh $(or $(CROSS_ARCH),$(OTHER_ARCH))

##@ Housekeeping

.PHONY: clean
clean: ## remove what was built; .venv and the downloaded corpora stay
	rm -rf dist
	find build -mindepth 1 -maxdepth 1 -not -name corpus -exec rm -rf {} + 2>/dev/null || true

.PHONY: distclean
distclean: clean ## remove the virtual environments and the corpora too
	rm -rf build .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis

.PHONY: help
help: ## this list
	@awk 'BEGIN { FS = ":.*## " } \
	  /^##@ / { printf "\n%s\n", substr($$0, 5) } \
	  /^[a-z0-9-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile

# Set-up. Each is a file that is newer than what it was made from.

build/debian: tools/setup.sh
	@tools/setup.sh debian g++ libcli11-dev libgtest-dev nlohmann-json3-dev python3-dev
	@mkdir -p build && touch $@

build/debian-fuzz: tools/setup.sh | build/debian
	@tools/setup.sh debian clang-19 libclang-rt-19-dev llvm-19
	@touch $@

.venv/ready: pyproject.toml tools/setup.sh
	@tools/setup.sh venv
	@touch $@

.venv/zig: pyproject.toml | .venv/ready build/debian
	@tools/setup.sh cross
	@touch $@

.venv/bench: pyproject.toml tools/setup.sh | .venv/ready
	@tools/setup.sh debian valgrind
	@tools/setup.sh bench
	@touch $@

# The wheel is made from the release build, so nothing is compiled twice. The first step is pip's too, but pip is mute.
build/wheel: $(wheel_inputs) | build/release/configured
	$(step) "wheel"
	@cmake --build --preset release --target graphmend_cli graphmend_api
	@rm -f dist/*linux_$(ARCH).whl
	@python -m pip wheel . --quiet --no-deps --no-build-isolation --disable-pip-version-check \
	  --wheel-dir dist --config-settings=build-dir=build/release
	@touch $@

.venv/installed: build/wheel
	@python -m pip install --quiet --no-deps --force-reinstall --disable-pip-version-check dist/*linux_$(ARCH).whl
	@touch $@
