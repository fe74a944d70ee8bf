# Touchstone: `make demo` shows the whole loop, `make test` passes the tests.

GO ?= go
STATICCHECK = $(GO) tool staticcheck

# Everything here and in the tests is compiled with the same settings, so that Go's cache keeps one copy: static,
# and without this machine's paths.
export CGO_ENABLED = 0
export GOFLAGS := $(shell $(GO) env GOFLAGS) -trimpath

.DEFAULT_GOAL := help

.PHONY: help
help: ## Show this help
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# On the same file system, Go renames a finished build into place. So two builds at once, or a build beside a
# running program, do not disturb each other.
EXE = $(shell $(GO) env GOEXE)
BUILD = mkdir -p bin && GOTMPDIR="$(CURDIR)/bin" $(GO) build -o bin/

# Prints what is being compiled, until the demo has been built here once.
TELL = @test -e bin/demo$(EXE) || echo "compiling"

.PHONY: build
build: ## Build both binaries, static, into bin/
	$(TELL) touchstone-relay
	@$(BUILD)touchstone-relay$(EXE) ./relay
	$(TELL) touchstone
	@$(BUILD)touchstone$(EXE) ./agent

.PHONY: snapshot
snapshot: ## Build all parts of a release into dist/, and publish nothing
	GOBIN="$(CURDIR)/bin" $(GO) install github.com/goreleaser/goreleaser/v2@v2.16.0
	GOBIN="$(CURDIR)/bin" $(GO) install github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0
	PATH="$(CURDIR)/bin:$$PATH" bin/goreleaser release --snapshot --clean
	sh scripts/release/image.sh dist

.PHONY: try
try: snapshot ## Install, run and remove all parts of a release, on a Debian machine and as root
	sh scripts/release/try.sh dist

.PHONY: patience
patience:
	@test -e bin/demo$(EXE) || echo "five programs are compiled, which the first time takes some minutes and fetches what they are made of"

.PHONY: demo
demo: patience build ## Watch a pull request being reviewed, fixed and merged (ARGS="--keep", ARGS="--model claude")
	$(TELL) githubsim, scriptedmodel and demo
	@$(BUILD) ./scripts/githubsim ./scripts/scriptedmodel ./scripts/demo
	@exec bin/demo --bin bin $(ARGS)

.PHONY: screenshots
screenshots: build ## Take the README's pictures of the relay's page, from the demo
	@$(BUILD) ./scripts/githubsim ./scripts/scriptedmodel ./scripts/demo
	@$(GO) run ./scripts/screenshots

.PHONY: live
live: ## Set everything up as a team of five would, with a machine user and with a GitHub App, and count the actions
	@$(MAKE) --no-print-directory demo ARGS="--live $(ARGS)"
	@bin/demo --bin bin --live --app $(ARGS)

# Each sweep runs hundreds of whole loops. One kills an agent at each of its outward calls, one breaks each promise
# that the simulation checks, and three review hostile, persuasive and ordinary changes.
SWEEP = ^(TestKilledAtEachCall|TestBreaksAreSeen|TestNoHostileChangeIsApproved|TestWhatOnlyTalksLeaksNothing|TestOrdinaryChangesPass)$$

# Tests that disturb an agent at a sample of its outward calls; a sweep takes each call.
SAMPLED = ^(TestTwo.*Machines.*|TestPersonTakesACommitOff|TestLostAnswerOfAnEnqueueIsRecognised|TestAFullDiskAtEachWrite)$$

# Tests that drive the real model CLIs, each of which needs seconds of processor time to start. `make programs` has
# each CLI answer once (TestEachRealCLIGivesAnAnswer), and has one of them close the loop.
CLIS = ^TestReal.*$$

# Packages whose tests start the built programs, the model CLIs or a browser, or have agents work on pull requests.
PROGRAMS = ./agent ./agent/author ./agent/daemon ./agent/e2e/... ./agent/engine/conformance ./agent/reviewer \
	./agent/worker ./relay ./relay/dashboard ./scripts/chaosrelay ./scripts/demo

# A slow or busy machine makes no test fail.
PATIENCE = -timeout 30m

# AGAIN=N runs up to N failed tests once more, alone, and reports those that pass then as unsteady.
AGAIN = 0

# go test with a summary in the last line. `make check` vets all packages.
TEST = ./scripts/runtests -again=$(AGAIN) -vet=off $(PATIENCE)
RUNTESTS = $(GO) run $(TEST)

# Files that tests keep for people, such as a picture of each page.
ARTIFACTS = .artifacts

.PHONY: test
test: tools ## Set up what the tests need and run all but those of `make programs` and `make sweep`
	@$(RUNTESTS) -without='$(PROGRAMS)' -shuffle=on -skip '$(SWEEP)|$(CLIS)' ./...

.PHONY: programs
programs: tools ## The tests that start the built programs, the model CLIs or a browser, or have agents work on pull requests; pictures of the pages come into .artifacts
	@rm -rf $(ARTIFACTS) && mkdir $(ARTIFACTS)
	@$(RUNTESTS) -artifacts -outputdir "$(CURDIR)/$(ARTIFACTS)" -shuffle=on -skip '$(SWEEP)|$(CLIS)' $(PROGRAMS)

# A random Nth of the long runs: places in sweeps, packages under the race detector. 1 takes all.
EVERY = 1

# Tests that start programs. The demo's programs are built without the race detector, and the scripts do one thing at
# a time. TestHappyLoop covers the loop that a real CLI closes.
STARTED = ^(TestScripts|TestClaudeClosesTheLoop|TestTeamSetsItselfUp|TestTwoDemosAtOnce|TestSignalEndsIt|TestKeepLeavesItRunningUntilInterrupted)$$

.PHONY: race
race: tools ## Tests and programs with the race detector, without the tests that run whole programs; needs a C compiler (EVERY=2: every second package)
	@$(GO) run -exec "env CGO_ENABLED=1" $(TEST) -every=$(EVERY) -race -shuffle=on -skip '$(SWEEP)|$(CLIS)|$(STARTED)' ./...

.PHONY: sweep
sweep: tools ## The tests that run hundreds of whole loops or drive the model CLIs (EVERY=4 takes a random fourth of the places)
	@$(RUNTESTS) -run '$(CLIS)' ./agent/engine/... ./agent/skill
	@$(RUNTESTS) -run '$(SWEEP)' ./agent/e2e/hostile
	@$(RUNTESTS) -run '$(SWEEP)|$(SAMPLED)' ./agent/e2e ./agent/e2e/schedule -every $(EVERY)

.PHONY: tools
tools: ## Install the model CLIs for the engine tests, if npm is there
	@sh scripts/install-engines.sh

# The suite mostly waits, so more cases can run at once than there are cores. With CI=true, a CLI or a sandbox that is missing
# is a failure.
.PHONY: engines
engines: tools ## Drive every case of the engines' conformance suite through the real model CLIs
	@CI=true TOUCHSTONE_ENGINES=all $(RUNTESTS) -count=1 -parallel=3 -run '^TestRealConformance$$' ./agent/engine/conformance

.PHONY: hostile
hostile: ## Review hostile pull requests with a model that obeys them
	@$(GO) run ./scripts/hostile $(ARGS)

.PHONY: guard-mutants
guard-mutants: ## Rewrite the guard's scenarios without changing their meaning, and count different results
	@$(GO) run ./scripts/guardmutants $(ARGS)

.PHONY: actions
actions: ## Run the GitHub Action in workflows on this machine, by act without containers
	GOBIN="$(CURDIR)/bin" $(GO) install github.com/nektos/act@v0.2.89
	@PATH="$(CURDIR)/bin:$$PATH" $(GO) test -count=1 -v -run TestScripts/actions ./agent

CLONES ?= ..

.PHONY: guard-real
guard-real: ## Measure the guard and the text checks on real histories (CLONES=directory of clones)
	@$(GO) run ./scripts/guardreal -clones "$(CLONES)" $(ARGS)

.PHONY: judge
judge: build ## Measure reviews on real changes (CLONES=directory of clones ARGS="--model opus --strategy session|specialists")
	@$(GO) run ./scripts/judge --clones "$(CLONES)" $(ARGS)

.PHONY: standin
standin: tools ## Answer for the model while a pull request of a clone goes through the loop (ARGS="--clone DIR --base A --head B")
	@$(GO) run ./scripts/standin --cli .tools/node_modules/.bin/claude $(ARGS)

.PHONY: forge
forge: ## Attack the loop as people with and without rights would (ARGS="-run TEXT")
	@$(GO) run ./scripts/forge $(ARGS)

SEEDS ?= 100
SEED ?= 1

.PHONY: sim
sim: ## Run the loop in random schedules, and look for what must never happen (SEEDS=10000 SEED=1)
	@$(GO) run ./scripts/sim -seeds $(SEEDS) -seed $(SEED)

# The platforms of a release.
PLATFORMS = linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64

.PHONY: check
check: ## Everything that a change must pass besides the tests: format, vet, lint, types for all platforms, import rules, tidiness
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); echo "make check: run gofmt on the files above"; exit 1; }
	$(GO) vet ./...
	$(STATICCHECK) ./...
	$(GO) run ./scripts/platforms $(PLATFORMS)
	$(GO) test -count=1 -vet=off ./scripts/imports
	$(GO) run ./agent guidelines lint guidelines/docs
	$(GO) mod tidy -diff

.PHONY: builds
builds: ## Build both programs for all platforms; `make check` only checks their types
	@for platform in $(PLATFORMS); do \
		echo "build $$platform"; GOOS=$${platform%/*} GOARCH=$${platform#*/} $(GO) build -o /dev/null ./relay || exit 1; \
		GOOS=$${platform%/*} GOARCH=$${platform#*/} $(GO) build -o /dev/null ./agent || exit 1; done

.PHONY: release-check
release-check: check builds test programs race sweep demo engines try ## Everything before a release: all suites whole, 10,000 schedules, and all attacks
	@$(GO) test -count=1 ./verdict/decide -states 1500000
	@$(MAKE) --no-print-directory sim SEEDS=10000
	@$(MAKE) --no-print-directory forge hostile
	@$(MAKE) --no-print-directory break
	@$(MAKE) --no-print-directory break ARGS=-seeded
	@$(MAKE) --no-print-directory chaos-relay ARGS="--store firestore --clocks"

.PHONY: bench
bench: ## Measure what the documentation claims
	$(GO) test -run '^$$' -bench . -benchtime 1x ./...

.PHONY: bench-relay
bench-relay: ## Measure the relay, each figure beside its yardstick
	@$(GO) run ./scripts/benchrelay $(ARGS)

.PHONY: bench-dashboard
bench-dashboard: ## Measure the relay's page over 1,000,000 events, about 5 GB on the disk (ARGS="-pulls 1000 -events 100000")
	@$(GO) run ./scripts/benchdashboard $(ARGS)

.PHONY: break
break: build ## Attack the built programs on loopback, and count what succeeds (ARGS="-only TEXT")
	@$(GO) run ./scripts/break $(ARGS)

.PHONY: chaos-relay
chaos-relay: ## Kill relays and lose commits, and count what got lost (ARGS="--store firestore --minutes 1 --clocks")
	@$(GO) run ./scripts/chaosrelay $(ARGS)
