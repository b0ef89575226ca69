# `make help` lists the targets. What takes more than a line stands in tools/, a script a target.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

# Arguments, as in `make fuzz TIME=5m`.
ANSWER ?=
CASES ?=
ROUNDS ?=
STORES ?= SQLite,DynamoDB
STAGE ?= production
TIME ?= 30s
ARGS ?=
BASE ?= HEAD~1

.PHONY: help demo serve build test check lint vuln conformance behaviours browser screenshots crash bench bench-serve bench-aws fuzz test-long functions synth deploy aws-up aws-deploy aws-smoke aws-test aws-faults aws-versions aws-down clean

help: ## list the targets
	@sed -nE 's/^([a-z-]+):[^#]*## (.*)/\1\t\2/p' Makefile | while IFS=$$'\t' read -r name text; do \
		printf '  %-12s %s\n' "$$name" "$$text"; done

demo: build ## an agent asks, you answer, it verifies (or ANSWER=approve)
	@ANSWER='$(ANSWER)' bin/mash demo

serve: build ## run a hub on this machine (flags: ARGS='--data DIR')
	@bin/mash serve $(ARGS)

build: ## build bin/mash
	@[ -e bin/mash ] || echo 'Building bin/mash; the first time takes a minute or two.'
	@mkdir -p bin
	@go build -o bin/mash ./cmd/mash

test: ## the tests; Go and make are enough, more where Python is
	@tools/test.sh

check: ## what CI runs; what is missing fails (CASES=folder adds to it)
	@CASES='$(CASES)' ROUNDS='$(ROUNDS)' STORES='$(STORES)' tools/check.sh

lint: ## golangci-lint over the module, tools and infra
	@tools/lint.sh

vuln: ## govulncheck, where its database can be reached
	@go tool -modfile=tools/go.mod govulncheck ./...

conformance: ## mash conform against hubs, with CASES=folder its cases too
	@CASES='$(CASES)' tools/conformance.sh

behaviours: ## each behaviour of the protocol, tested over both stores
	@STORES='$(STORES)' tools/behaviours.sh

browser: ## the pages in Chromium: axe-core, keys, phones, races
	@tools/browser.sh

screenshots: ## every page, phone and desktop, into bin/screenshots
	@tools/screenshots.sh

crash: ## kill -9 under writers, look for what was lost (ROUNDS=40)
	@ROUNDS='$(ROUNDS)' tools/crash.sh

bench: ## the hub against its store, and how fast an answer arrives
	@tools/bench.sh

bench-serve: ## start and idle memory of serve against BASE=commit
	@BASE='$(BASE)' ROUNDS='$(ROUNDS)' tools/bench-serve.sh

bench-aws: ## functions: sizes, starts, and requests against an empty one
	@tools/bench-aws.sh

fuzz: ## every fuzz test for TIME=30s
	@TIME='$(TIME)' tools/fuzz.sh

test-long: ## the tests with what takes minutes: mutated inputs, races
	@tools/test-long.sh

functions: ## every Lambda function as a zip under bin/functions
	@tools/functions.sh

synth: ## every stage's functions and CloudFormation template
	@tools/synth.sh

deploy: ## the stack to AWS (STAGE=production)
	@STAGE='$(STAGE)' ARGS='$(ARGS)' tools/deploy.sh

aws-up: ## start the emulated AWS, without Docker
	@localstack/up

aws-deploy: ## build the stack and deploy it to the emulated AWS
	@tools/aws-deploy.sh

aws-smoke: ## one ask at the deployed stack, to its verified answer
	@tools/aws-smoke.sh

aws-test: ## every real-time test on mash serve and a deployed stack
	@tools/aws-test.sh

aws-faults: ## the deployed stack while its parts fail, and after
	@tools/aws-faults.sh

aws-versions: ## the functions of BASE=commit beside these, on one table
	@BASE='$(BASE)' tools/aws-versions.sh

aws-down: ## stop the emulated AWS; what is deployed goes with it
	@localstack/down

clean: ## remove what was built; .tools/ stays
	@rm -rf bin
