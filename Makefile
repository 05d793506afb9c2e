# What a newcomer needs: `make demo` and `make test`. Everything goes into .venv; nothing else is touched.
VENV := .venv
BIN := $(VENV)/bin
# Processes share the tests, a file of them at a time, so that what a file builds for its tests is built once. They are two more
# than two cores, as tests of networks and of Spark often wait.
SHARED := -n 4 --dist loadfile --no-loadscope-reorder
# Tests that take little time; CONTRIBUTING.md says what they leave out.
FAST := tests/test_rooms.py tests/store tests/net tests/bags tests/text

.PHONY: help demo test test-fast test-spark setup setup-dev lint types bench screenshots docs dist wheels clean

help:  ## show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

setup:  ## set up .venv with Pagekin and what it needs to run
	@sh scripts/setup.sh core

setup-dev:
	@sh scripts/setup.sh dev

demo: setup  ## index the built-in demo web and serve it as a web site
	@$(BIN)/pagekin demo $(DEMO_ARGS)

# Type checks take a minute of one core, so all else runs beside them. What is compiled beforehand, kernels and the tests
# themselves, no two processes compile.
test: setup-dev lint  ## set up; lint, type checks, tests, also in a browser
	@unset PYTHONDONTWRITEBYTECODE; $(BIN)/mypy & types=$$!; \
	$(BIN)/python -m pytest --collect-only >/dev/null & $(BIN)/pagekin compile; wait $$!; \
	$(BIN)/python -m pytest $(SHARED) $(PYTEST_ARGS); tests=$$?; wait $$types && exit $$tests

test-fast: setup-dev lint types  ## lint, type checks, and the tests that take little time
	@$(BIN)/python -m pytest $(SHARED) $(FAST) $(PYTEST_ARGS)

test-spark: setup-dev  ## the larger tests of the Spark engine, which take long
	@$(BIN)/python -m pytest tests/engines/large_spark.py $(PYTEST_ARGS)

lint: setup-dev
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: setup-dev
	@$(BIN)/mypy

bench:  ## the benchmarks: see docs/benchmarks.md for what each needs
	@sh scripts/setup.sh bench
	@$(BIN)/python benchmarks/run.py $(BENCH_ARGS)

screenshots: setup-dev  ## the pictures of docs/web.md, from the demo web
	@$(BIN)/python -m scripts.screenshots

docs: setup-dev  ## build/docs: the documentation as a static site; a dead link is an error
	@$(BIN)/zensical build --strict

dist: setup-dev  ## dist/: a wheel and an sdist for every machine, which compile at the first use
	@$(BIN)/python -m hatchling build -d dist

wheels: setup-dev  ## dist/: a wheel for this interpreter and kind of processor, with its kernels compiled
	@$(BIN)/pagekin compile
	@PAGEKIN_COMPILED_WHEEL=1 $(BIN)/python -m hatchling build -t wheel -d dist

clean:  ## remove .venv and caches
	rm -rf $(VENV) dist build .cache .pytest_cache .mypy_cache .ruff_cache .hypothesis
