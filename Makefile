# make figures/fig2c.pdf   sets up .venv and makes the figure
# make report              makes everything that is not up to date, then report.html of all results
# make explorer            makes explorer.html, the theorems to play with
# make docs                redraws the rules in docs/architecture.md, writes the tables of the docs
# make gallery             draws all figures from the archive, without training, and writes docs/gallery.md
# make test                sets up .venv and runs the tests
# make test-all            those, and the slow ones: the whole DAG at protocol smoke, random kills
# make torch               installs torch, which is large, for the figures, jobs and tests that need it
# make test-system         tests against a real SLURM, Chromium and an S3 store, which it installs (Debian, as root)

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# Snakemake's cache is below HOME; here, if that is not writable.
ifneq ($(shell mkdir -p "$${XDG_CACHE_HOME:=$$HOME/.cache}" 2>&1 && test -w "$$XDG_CACHE_HOME" || echo no),)
export XDG_CACHE_HOME := $(CURDIR)/.snakemake/cache
endif

.PHONY: all report explorer docs gallery torch test test-all lint unit unit-processors workflow slow test-system clean

all: $(VENV)/torch
	$(BIN)/snakemake

figures/%: $(VENV)/installed FORCE
	$(BIN)/snakemake $@

figures/transformer.pdf figures/transformer.png figures/scoreboard.pdf figures/scoreboard.png: $(VENV)/torch

report: $(VENV)/torch
	$(BIN)/snakemake --report-after-run --report report.html

explorer: $(VENV)/installed
	$(BIN)/snakemake explorer.html

docs: $(VENV)/installed
	$(BIN)/python docs/diagram.py
	$(BIN)/snakemake --forcerun page_tables -- docs/findings.md

gallery: $(VENV)/installed
	$(BIN)/snakemake --config results=archive -- all docs/gallery.md

$(VENV)/installed: envs/requirements.txt
	@$(PYTHON) envs/check.py
	rm -rf $(VENV)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r envs/requirements.txt
	touch $@

torch: $(VENV)/torch

$(VENV)/torch: envs/requirements-torch.txt $(VENV)/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r envs/requirements-torch.txt
	touch $@

test: lint unit workflow

# In one run, so that no core is idle at the end of either.
test-all: CHOSEN := "slow or not slow"
test-all: test

CHOSEN := "not slow"

lint: $(VENV)/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile rules
	PYTHONPATH=scripts $(BIN)/lint-imports --no-cache --no-logo
	$(BIN)/snakemake --lint

unit: $(VENV)/torch
	$(BIN)/pytest -n 2 tests/unit

# Tests that compute, as on two older processors: they round sums in other ways, and no test may depend on that.
unit-processors: $(VENV)/torch
	OPENBLAS_CORETYPE=Haswell NPY_DISABLE_CPU_FEATURES="X86_V4 AVX512_ICL" $(BIN)/pytest -n 2 -m numerical tests/unit
	OPENBLAS_CORETYPE=Prescott NPY_DISABLE_CPU_FEATURES="X86_V3 X86_V4 AVX512_ICL" NUMBA_CPU_NAME=nehalem \
		$(BIN)/pytest -n 2 -m numerical tests/unit

workflow: $(VENV)/torch
	$(BIN)/pytest -n 2 --dist worksteal -m $(CHOSEN) tests/workflow

slow: $(VENV)/torch
	$(BIN)/pytest -n 2 --dist worksteal -m slow tests/workflow

test-system: $(VENV)/torch
	$(BIN)/pytest -rs -n 2 --dist loadfile tests/system

clean:
	rm -rf data/archived data/specs data/theory data/bayes data/identity data/sampled data/tables data/laptop data/exact data/paper data/smoke figures/*.pdf figures/*.png figures/*.json report.html report.zip explorer.html logs benchmarks/results .snakemake .kernels

FORCE:
