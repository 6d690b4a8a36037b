# The usual names; everything here is one command of Go's or of .ci.

PREFIX ?= /usr/local
GOFLAGS_BUILD ?=

.DEFAULT_GOAL := build

.PHONY: build
build: ## build ./heddle
	go build $(GOFLAGS_BUILD) -o heddle ./cmd/heddle

.PHONY: test
test: ## run all tests, without compiling everything a second time by cmd/heddle's profile
	go test -pgo=off ./...

.PHONY: long
long: ## run all tests at their long size, for a night
	HEDDLE_LONG=1 go test -timeout 12h ./...

.PHONY: lint
lint: ## formatting, vet, staticcheck
	.ci/lint

.PHONY: ci
ci: ## what must pass before a change lands (installs the tests' tools on Debian)
	.ci/run

.PHONY: docs
docs: build ## rewrite the generated pages
	./heddle cli > docs/reference/cli.md
	./heddle config schema --markdown > docs/reference/configuration.md
	./heddle stats describe --markdown > docs/reference/statistics.md
	./heddle isa --markdown > docs/reference/isa.md
	./heddle config draw vortex-6c32w32t-weaver > docs/design/machine.svg

.PHONY: man
man: build ## write the manual pages into ./man
	./heddle man man

.PHONY: install
install: build man ## install heddle, manual pages and completions below PREFIX
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/man/man1 $(DESTDIR)$(PREFIX)/share/bash-completion/completions
	install -m 755 heddle $(DESTDIR)$(PREFIX)/bin/heddle
	install -m 644 man/*.1 $(DESTDIR)$(PREFIX)/share/man/man1
	./heddle completion bash > $(DESTDIR)$(PREFIX)/share/bash-completion/completions/heddle

.PHONY: clean
clean: ## remove what build and man have made (results stay)
	rm -rf heddle man

.PHONY: help
help: ## show this list
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 12
