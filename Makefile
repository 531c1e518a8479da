# make figures/fig2c.pdf   sets up .venv and makes the figure
# make report              makes what is not up to date, then report.html of all of it
# make diagram             redraws the rules in docs/architecture.md
# make test                sets up .venv and runs every test that needs no other software
# make test-system         tests against a real SLURM and Chromium, which it installs (Debian, as root)

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: all report diagram test lint unit workflow test-system clean

all: $(VENV)/installed
	$(BIN)/snakemake

figures/%: $(VENV)/installed FORCE
	$(BIN)/snakemake $@

report: $(VENV)/installed
	$(BIN)/snakemake --report-after-run --report report.html

diagram: $(VENV)/installed
	$(BIN)/python docs/diagram.py

$(VENV)/installed: envs/requirements.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r envs/requirements.txt
	touch $@

test: lint unit workflow

lint: $(VENV)/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile rules
	$(BIN)/snakemake --lint

unit: $(VENV)/installed
	$(BIN)/pytest tests/unit

workflow: $(VENV)/installed
	$(BIN)/pytest -n 2 --dist loadfile tests/workflow

test-system: $(VENV)/installed
	$(BIN)/pytest -rs tests/system

clean:
	rm -rf data/specs data/theory data/bayes data/laptop data/exact data/paper data/smoke figures/*.pdf figures/*.png report.html report.zip logs benchmarks/results .snakemake

FORCE:
