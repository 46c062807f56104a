# Foothold. Every target sets up what it needs in .cache (see CONTRIBUTING.md); nothing has to be installed before.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help test test-gui zip demo bench evidence lint clean

# More options for pytest, such as: make test PYTEST="-k rest -x"
PYTEST ?=
# More options for tools/evidence.py
EVIDENCE ?=

help: ## what there is to make
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 20

test: ## all tests that need no window: solvers without Blender, the rest on the bpy wheels of 4.5 LTS and 5.2 LTS
	@tools/test.sh $(PYTEST)

test-gui: ## the built extension in a real Blender with a window
	@tools/test_gui.sh $(PYTEST)

zip: ## build and validate dist/foothold-<version>.zip, ready to install in Blender
	@python=$$(tools/any_bpy.sh) && $$python tools/build_zip.py

demo: ## bake the pole take in demo/ onto the body in demo/; scene, contact sheet and report in build/demo
	@tools/demo.sh

bench: ## time the bake against the time that Blender needs only to write its keys
	@python=$$(tools/any_bpy.sh) && $$python tools/bench.py

evidence: ## bake the trial data, measure it and write docs/evidence.md and tests/evidence.json (EVIDENCE="--only walk")
	@python=$$(tools/any_bpy.sh) && $$python tools/evidence.py --write $(EVIDENCE)

lint: ## ruff, pinned
	@python=$$(tools/env.sh lint) && $$python -m ruff check .

clean: ## remove everything that was made here, the environments too
	@rm -rf --one-file-system build dist .cache .pytest_cache .ruff_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
