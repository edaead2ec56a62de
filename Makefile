# Aliases only: every verb is `python3 -m twohalves VERB`, also where there is no make.
PYTHON ?= python3
VERBS := site edition measure serve lab doctor preview test address clean

.PHONY: help $(VERBS)

help:
	@$(PYTHON) -m twohalves --help

$(VERBS):
	@$(PYTHON) -m twohalves $@ $(ARGS)
