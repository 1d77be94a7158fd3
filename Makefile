# Everything this book can do, one word each; `make` alone explains them.
# All of it happens inside .venv, which is made on first use from requirements.txt.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

# One thread per process: results do not depend on the number of cores.
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1
export PYTHONHASHSEED := 0
# Compiled modules are kept, even where the environment forbids it: each process starts faster.
export PYTHONDONTWRITEBYTECODE :=

PY := .venv/bin/python
READY := .venv/.ready
PORT ?= 8000

# -- explain -------------------------------------------------------------------------------------

.PHONY: help
help: ## Explain the targets (this list)
	@echo 'Machine Learning You Can Check'
	@echo
	@awk -F ':[^#]*## ' '/^[a-z-]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# -- environment ---------------------------------------------------------------------------------

# The Python on which the book was verified (3.11), else any newer one, and then it says so.
# A missing piece is named with the command that installs it.
$(READY): requirements.txt pyproject.toml
	@python=; for last in 11 99; do for p in python3 python3.13 python3.12 python3.11 python3.14; do \
	  if [ -z "$$python" ] && command -v $$p >/dev/null && \
	    $$p -c "import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, $$last))" 2>/dev/null; then \
	    python=$$p; \
	    if [ $$last = 99 ] && [ ! -x $(PY) ]; then \
	      echo "The book was verified on Python 3.11; there is only $$($$p --version) here: trying." >&2; fi; \
	  fi; done; done; \
	if [ -z "$$python" ]; then \
	  echo 'Python 3.11 or newer is missing. On Debian or Ubuntu: sudo apt-get install python3 python3-venv' >&2; exit 1; fi; \
	if [ ! -x $(PY) ]; then \
	  if ! $$python -c 'import ensurepip, venv' 2>/dev/null; then \
	    echo 'The venv module of Python is missing. On Debian or Ubuntu: sudo apt-get install python3-venv' >&2; exit 1; fi; \
	  echo "Creating .venv with $$($$python --version) ..."; \
	  $$python -m venv .venv; fi
	@echo 'Installing the pinned packages (one to three minutes the first time) ...'
	@$(PY) -m pip install --disable-pip-version-check --quiet --progress-bar off -r requirements.txt
	@$(PY) -m pip install --disable-pip-version-check --quiet --no-deps --editable .
	@touch $@

.PHONY: setup
setup: $(READY) ## Create .venv with the pinned packages and mllib

# -- the site ------------------------------------------------------------------------------------

.PHONY: book
book: $(READY) ## Build the site into _build/html
	@$(PY) _ext/build/site.py

.PHONY: serve
serve: $(READY) ## Show the site on localhost and rebuild it when a file changes (PORT=8000)
	@$(PY) _ext/build/site.py --serve --port $(PORT)

.PHONY: live
live: $(READY) ## Show the site with cells that can be edited and run, on this machine (PORT=8000)
	@$(PY) _ext/build/site.py
	@$(PY) _ext/build/live.py --port $(PORT)

.PHONY: pdf
pdf: $(READY) ## Print the whole book into _build/book.pdf, and offer it on the site
	@$(PY) _ext/build/site.py
	@$(PY) _ext/pdf/book.py
	@$(PY) _ext/build/site.py

# -- notebooks -----------------------------------------------------------------------------------

CHAPTER ?= all

.PHONY: run
run: $(READY) ## Execute a notebook again and pair it with its text (CHAPTER=perceptron, or all)
	@$(PY) _ext/build/notebooks.py $(CHAPTER)

.PHONY: lab
lab: $(READY) ## Open the notebooks in JupyterLab
	@mkdir -p .venv/jupyter/custom && cp _ext/build/lab.css .venv/jupyter/custom/custom.css
	@JUPYTER_CONFIG_DIR="$(CURDIR)/.venv/jupyter" $(PY) -m jupyterlab --custom-css --LabApp.news_url=None chapters

# -- verify --------------------------------------------------------------------------------------

.PHONY: test
test: $(READY) ## Run every gate; ends with one line for each (GATE=library, SLOWEST=10)
	@GATE="$(GATE)" SLOWEST="$(SLOWEST)" $(PY) tools/gates.py

VARIANT ?= all

.PHONY: anywhere
anywhere: $(READY) ## Verify as other processors would run it (CHAPTER=perceptron, VARIANT=none)
	@exec $(PY) tools/anywhere.py --chapter $(CHAPTER) --variant $(VARIANT)

SHIFTS ?= 1

.PHONY: reseed
reseed: $(READY) ## Run the cells with all seeds moved: which sentence hangs on a seed? (CHAPTER=, SHIFTS=5)
	@$(PY) tools/reseed.py --chapter $(CHAPTER) --shifts $(SHIFTS)

.PHONY: mutants
mutants: $(READY) ## Break the code of a chapter bit by bit: what notices? (CHAPTER= KIND=human SAMPLE=60 FUNCTION=)
	@$(PY) tools/mutants.py $(CHAPTER) $(if $(KIND),--kind $(KIND)) \
	  $(if $(SAMPLE),--sample $(SAMPLE)) $(if $(FUNCTION),--function $(FUNCTION))

.PHONY: bench
bench: $(READY) ## Measure speed side by side with the usual choice (MODULE=perceptron for one)
	@$(PY) benchmarks/run.py $(MODULE)

# -- tidy up -------------------------------------------------------------------------------------

.PHONY: clean
clean: ## Remove everything that was built; keeps .venv
	rm -rf _build .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +
