# Touchstone. `make demo` shows the whole loop; `make test` passes the tests.

GO ?= go
export CGO_ENABLED ?= 0

.PHONY: build
build: ## Build both binaries into bin/
	$(GO) build -trimpath -o bin/ ./relay ./agent
