# Everything this book can do, one word each: `make` alone explains them. Each target is a word of
# book.py, which does the same where there is no make; settings are passed on (PORT=8001).

PYTHON ?= python3
WORDS := help setup book serve live pdf slides run lab workbook assignment grade test anywhere \
  reseed mutants bench new-chapter release pins upgrade clean

.PHONY: $(WORDS)
$(WORDS):
	@$(PYTHON) book.py $@ $(filter-out PYTHON=%,$(MAKEOVERRIDES))
