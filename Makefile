# Touchstone: `make demo` shows the whole loop, `make test` passes the tests.

GO ?= go
STATICCHECK = $(GO) tool staticcheck

.DEFAULT_GOAL := help

.PHONY: help
help: ## Show this help
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## Build both binaries, static, into bin/
	CGO_ENABLED=0 $(GO) build -trimpath -o bin/ ./relay ./agent

.PHONY: demo
demo: ## Watch a pull request being reviewed, fixed and merged (ARGS="--keep", ARGS="--model claude")
	@$(GO) run ./scripts/demo $(ARGS)

.PHONY: test
test: tools ## Set up what the tests need and run them all, with the race detector
	CGO_ENABLED=1 $(GO) test -race -shuffle=on ./...

.PHONY: tools
tools: ## Install the model CLI that the engine tests drive, if npm is there
	@sh scripts/install-claude.sh

.PHONY: check
check: ## Everything a change has to pass besides the tests: format, vet, lint, import rules, tidiness
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); echo "make check: run gofmt on the files above"; exit 1; }
	$(GO) vet ./...
	$(STATICCHECK) ./...
	$(GO) test -count=1 ./scripts/imports
	$(GO) mod tidy -diff
	@for os in linux darwin windows; do for arch in amd64 arm64; do \
		echo "build $$os/$$arch"; CGO_ENABLED=0 GOOS=$$os GOARCH=$$arch $(GO) build -o /dev/null ./relay || exit 1; \
		CGO_ENABLED=0 GOOS=$$os GOARCH=$$arch $(GO) build -o /dev/null ./agent || exit 1; done; done

.PHONY: bench
bench: ## Measure what the documentation claims
	$(GO) test -run '^$$' -bench . -benchtime 1x ./...
