# `make` alone lists the targets. Only Go, make and git are needed for demo and test.
.DEFAULT_GOAL := help
GO      ?= go
# Programs need no cgo, and tests without it share what a build has compiled. The race detector needs it.
export CGO_ENABLED ?= 0
# How long specs wait for processes of a busy machine, unless they have a limit of their own.
export GOMEGA_DEFAULT_EVENTUALLY_TIMEOUT ?= 30s
OUT     ?= rehearse-runs/demo
FUZZ    ?= 10s
REAL    ?= ../shared/corpora
BENCHTIME ?= 1s
RUNS    ?= 6
SIMULATED ?= Equivalence/|pass_0.5_in_one_scenario|Power/normal_1_dev|Simulation/rare|Load/1_scenarios_5
KILLS   ?= $(if $(AGENT),25,300)
EXPLORE ?= loop/golden-marker loop/golden-stream stop/golden-fr stop/follow-up-golden interview/golden-lea \
  persist/golden react/golden-note all/long-release
GATED   ?= loop/golden-json loop/golden-marker loop/golden-stream stop/golden-fr stop/golden-en stop/follow-up-golden 'interview/golden-*' persist/golden persist/ten-hours \
  'react/golden-*' all/long-release
PKGS    ?= ./...
PLATFORMS ?= linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
TOOLS   := $(GO) tool -modfile=tools/lint/go.mod
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## build bin/rehearse
	$(GO) build -ldflags "-s -w -X github.com/rehearse-dev/rehearse/cli.version=$(VERSION)" -o bin/rehearse ./cmd/rehearse

.PHONY: demo
demo: build ## drive the agents, and a demo agent of test/demo, through every scenario, offline, and show the reports
	$(GO) build -ldflags "-s -w" -o bin/rehearse-demo ./test/demo/agent
	PATH="$(CURDIR)/bin:$$PATH" ./bin/rehearse run '*/*' test/demo/scenarios --out $(OUT) $(RUNFLAGS)

explored = set -e; for scenario in $(1); do echo "== $$scenario"; \
	  ./bin/rehearse explore $$scenario --out rehearse-runs/explore/$$scenario; done
.PHONY: explore
explore: build ## run golden paths of every agent under every fault, and fail if an invariant breaks
	@$(call explored,$(EXPLORE))
	$(GO) run ./tools/figures explore $(addprefix rehearse-runs/explore/,$(EXPLORE))

# These and EXPLORE are the golden paths in the documentation.
EXPLORED := loop/golden-json loop/golden-exec loop/golden-claude stop/golden-en react/golden-audit react/golden-release-notes \
  react/golden-triage persist/check-tests-fixed persist/checks-all-fixed
.PHONY: figures
figures: ## measure the figures of the documentation, on an idle machine in less than 10 minutes (RUNS=6, ONLY=REGEXP for some of them)
	$(GO) run ./tools/figures measure -runs $(RUNS) $(if $(ONLY),-only '$(ONLY)') docs/figures/performance.md
ifndef ONLY
	@$(MAKE) --no-print-directory explorations
endif

.PHONY: simulations
simulations: ## simulate the error rates of the documentation, which every machine finds alike (ONLY=REGEXP for some of them)
	$(GO) run ./tools/figures measure $(if $(ONLY),-only '$(ONLY)') docs/figures/statistics.md

.PHONY: resimulate
resimulate: ## simulate some error rates again, and fail if one is not that of the documentation
	$(GO) run ./tools/figures repeat '$(SIMULATED)' docs/figures/statistics.md

.PHONY: explorations
explorations: build ## explore the golden paths of the documentation and write their figures into it
	@$(call explored,$(EXPLORE) $(EXPLORED))
	@./bin/rehearse explore stop/hook-claude --pairs 0 --out rehearse-runs/explore/stop/hook-claude
	$(GO) run ./tools/figures explore -write $(addprefix rehearse-runs/explore/,$(EXPLORE) $(EXPLORED) stop/hook-claude)

.PHONY: gate
gate: build ## compare golden paths of every agent with the committed baseline, rehearse.baseline.json
	./bin/rehearse run $(GATED) --out rehearse-runs/gate --baseline

.PHONY: bless
bless: build ## accept the current figures of the golden paths as the baseline; review the difference before you commit it
	./bin/rehearse run $(GATED) --out rehearse-runs/gate
	./bin/rehearse bless rehearse-runs/gate

# Tests link without tables for debuggers, which saves a third of the time for linking. Most of what vet finds is
# found by make lint, so that no test waits for it.
.PHONY: test
test: ## run the whole test suite, and print which tests this machine skipped and why
	$(GO) test -vet=off -timeout 20m -ldflags=-w $(TESTFLAGS) $(PKGS) $(SPECFLAGS)
	@.ci/missing

.PHONY: race
race: ## run the tests of packages with goroutines under the race detector
	CGO_ENABLED=1 GORACE="$(GORACE) atexit_sleep_ms=0" $(GO) test -race -vet=off -timeout 20m -ldflags=-w $(TESTFLAGS) $(if $(filter ./...,$(PKGS)),$$($(GO) run ./tools/raced),$(PKGS)) $(SPECFLAGS)

.PHONY: conformance
conformance: ## call the mock server with the vendors' own clients and agent frameworks, and check examples/fleet with those of Compose and Kubernetes
	cd test/conformance && $(GO) test ./...

.PHONY: conformance-table
conformance-table: ## write the tables of clients in docs/reference/protocols.md from a run of make conformance
	cd test/conformance && $(GO) test . -count 1 -ginkgo.focus "hands on|table of the documentation" -update

.PHONY: kind
kind: ## use a kind of agent from another module with every command (examples/kind)
	cd examples/kind && $(GO) test ./...

.PHONY: detect
detect: build ## score the stop guard and the rule on reflections on the shipped texts, and fail below the thresholds
	./bin/rehearse detect --by language --errors 0 --min precision=0.98 --min recall=0.95
	./bin/rehearse detect reflections --by language,part --errors 0 --min precision=0.95 --min recall=0.93

.PHONY: kill
kill: ## kill -9 the stores of interviews and plans KILLS=300 times each; AGENT=claude: loop and supervise over it, 25 times
ifdef AGENT
	.ci/kill $(KILLS) $(AGENT)
else
	REHEARSE_KILLS=$(KILLS) $(GO) test ./agents/interview/store ./agents/persist -count 1 -timeout 30m -v -ginkgo.focus "kill"
endif

.PHONY: soak
soak: ## kill 200 workers and 20 coordinators of runs over a queue, and crash its server (PostgreSQL; not part of CI)
	@if [ -z "$$REHEARSE_TEST_POSTGRES" ] && ! ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1; then \
	  echo "skipped: there is no PostgreSQL (apt-get install postgresql), and REHEARSE_TEST_POSTGRES names no server"; exit 0; fi; \
	  .ci/postgres $(GO) test ./cli -count 1 -timeout 60m -v -run '^TestFleet' $(SOAKFLAGS) -soak

.PHONY: quick
quick: ## lint a change and test what it touches, in less than a minute (see .ci/quick)
	@.ci/quick

.PHONY: cross
cross: ## compile all packages for every platform of a release
	@set -e; for platform in $(PLATFORMS); do echo "== $$platform"; \
	  GOOS=$${platform%/*} GOARCH=$${platform#*/} $(GO) build ./...; done

.PHONY: release
release: ## build dist/: programs for all platforms, licences, bill of materials and checksums (see docs/how-to/releasing.md)
	rm -rf dist
	@set -e; for platform in $(PLATFORMS); do os=$${platform%/*}; arch=$${platform#*/}; suffix=; [ $$os != windows ] || suffix=.exe; \
	  echo "== $$platform"; GOOS=$$os GOARCH=$$arch $(GO) build -trimpath -ldflags "-s -w -X github.com/rehearse-dev/rehearse/cli.version=$(VERSION)" \
	    -o dist/rehearse_$(VERSION)_$${os}_$$arch$$suffix ./cmd/rehearse; done
	$(GO) run ./tools/release -in dist -version $(VERSION)

.PHONY: image
image: ## build the container image rehearse:VERSION, with the program alone (Docker)
	@set -e; folder=$$(mktemp -d); trap 'rm -rf "$$folder"' EXIT; \
	  GOOS=linux $(GO) build -trimpath -ldflags "-s -w -X github.com/rehearse-dev/rehearse/cli.version=$(VERSION)" -o $$folder/rehearse ./cmd/rehearse; \
	  docker build --tag rehearse:$(VERSION) --tag rehearse --file tools/release/Dockerfile $$folder

.PHONY: lint
lint: ## check format and style
	$(TOOLS) golangci-lint run --allow-serial-runners $(PKGS)

.PHONY: format
format: ## rewrite all files in the project's format
	$(TOOLS) gofumpt -w $$(git ls-files '*.go')

.PHONY: bench
bench: ## measure speed and memory, each beside its floor (see docs/figures/performance.md)
	$(GO) test -run "^$$" -bench . -benchmem -benchtime $(BENCHTIME) $(BENCHFLAGS) \
	  $$(git grep -l '^func Benchmark' -- '*_test.go' ':!test/conformance' | xargs -n1 dirname | sort -u | sed 's|^|./|')

.PHONY: fuzz
fuzz: ## fuzz each parser for FUZZ=10s
	@set -e; for file in $$(git grep -l '^func Fuzz' -- '*_test.go'); do \
	  for target in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' $$file); do \
	    echo "== $$(dirname $$file) $$target"; \
	    $(GO) test ./$$(dirname $$file) -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZ) -fuzzminimizetime 1x; \
	  done; done

.PHONY: detect-real
detect-real: build ## score the guard on the real messages in REAL, where there are any
	@set -- $(REAL)/*.jsonl; if [ ! -e "$$1" ]; then \
	  echo "skipped: there is no *.jsonl in $(REAL); set REAL to a folder of labelled messages"; exit 0; fi; set -e; \
	for how in "--against naive --by confidence,language --out rehearse-runs/detect-real" \
	  "--only confidence=high --by language" "--detector guard:strict --only confidence=high --by language"; do \
	  echo "== $$* $$how"; ./bin/rehearse detect "$$@" --errors 0 $$how; done

.PHONY: schema
schema: ## generate the JSON Schemas from the Go types
	$(GO) test ./scenarios -run TestSchema -update
	$(GO) test ./harness/record -ginkgo.focus "JSON Schema" -update

.PHONY: docs
docs: schema ## generate the pages of keys, commands, exit codes and environment variables, and the tables of stored figures
	$(GO) test ./schema -update
	$(GO) test ./cli -run 'TestReference|TestEventReference' -update
	$(GO) test ./agents/stop -ginkgo.focus documentation -update
	$(GO) test ./agents/interview/session ./agents/interview/validate -run TestFigures -update
	$(GO) run ./tools/figures render docs/figures/performance.md docs/figures/statistics.md

.PHONY: golden
golden: ## rewrite all golden files; review the difference before you commit it
	$(GO) test $$(git grep -lE 'flag\.Bool\("update"|golden\.Expect' -- '*_test.go' ':!internal/golden' | xargs -n1 dirname | sort -u | sed 's|^|./|') -update

.PHONY: trace
trace: demo ## list each requirement with the specs and scenarios that prove it, and their last results
	$(GO) tool ginkgo run -r --timeout 10m --skip-package conformance --keep-going --succinct --json-report=specs.json --output-dir=rehearse-runs > rehearse-runs/specs.txt || { cat rehearse-runs/specs.txt; exit 1; }
	$(GO) run ./tools/trace -specs rehearse-runs/specs.json $(OUT)/report.json

.PHONY: clean
clean: ## remove the files that the other targets made
	rm -rf bin dist rehearse-runs
