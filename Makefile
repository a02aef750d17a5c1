# netmatrix: make run and make test do all the set-up on a fresh machine.
SHELL := /bin/bash
export CGO_ENABLED := 0

# What a binary was built from: the tree that git has, and what was changed since.
SOURCE  := $(shell { git rev-parse 'HEAD^{tree}'; git diff HEAD; } 2>/dev/null | sha256sum | cut -c1-64)
LDFLAGS := -s -w -X github.com/netmatrix/netmatrix/core/agent.source=$(SOURCE)
BUILD   := go build -trimpath -ldflags '$(LDFLAGS)'
# Tools are run at these versions and are no dependency of the module.
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
BENCHSTAT   := golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da

.PHONY: help run build test check race cross fuzz generate bench micro all-cells clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: build ## build, run the quick suite, print the report
	bin/netmatrix run --suite quick

build: ## build the command and every plugin into bin/
	@mkdir -p bin/plugins
	$(BUILD) -o bin/netmatrix ./cmd/netmatrix
	$(BUILD) -o bin/plugins/ ./plugins/...

test: build check race fuzz ## everything that must hold: checks, all tests with -race, fuzzing

check: cross ## formatting, vet, staticcheck, tidy modules, generated code
	@test -z "$$(gofmt -l bench cmd core plugins runtimes)" || { gofmt -d bench cmd core plugins runtimes; exit 1; }
	go vet ./...
	go mod tidy -diff
	go run $(STATICCHECK) ./...
	@if command -v protoc >/dev/null; then $(MAKE) --no-print-directory generate && git diff --exit-code -- core/goplugin/proto; \
	else echo "protoc is not here: generated code is not compared"; fi

cross: ## what other systems compile
	GOOS=darwin go vet ./...
	GOOS=freebsd go vet ./...

race: ## all tests, with the race detector
	CGO_ENABLED=1 go test -race -timeout 20m ./...

FUZZTIME ?= 10s
fuzz: ## each fuzz target for FUZZTIME
	@for p in $$(go list ./...); do \
	  for f in $$(go test -list '^Fuzz' $$p | grep '^Fuzz'); do \
	    echo "$$p $$f"; go test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) $$p || exit 1; \
	  done; done

generate: ## write generated code anew
	go generate ./...

bench: build bin/asio_loop bin/pingpong ## rawpoll against Asio and against C: ratios of alternating pairs
	go run ./bench asio
	go run ./bench pingpong

bin/asio_loop: bench/asio/asio_loop.cpp
	@test -e /usr/include/asio.hpp || apt-get install -y --no-install-recommends g++ libasio-dev
	g++ -O3 -std=c++20 -DNDEBUG $< -o $@ -lpthread

bin/pingpong: bench/pingpong/pingpong.c
	@command -v gcc >/dev/null || apt-get install -y --no-install-recommends gcc libc6-dev
	gcc -O2 -Wall -Wextra -Werror $< -o $@

micro: ## Go benchmarks of the parts, ten times each, through benchstat
	go test -run '^$$' -bench . -benchmem -count 10 ./core/... ./runtimes/... | tee bin/micro.txt
	go run $(BENCHSTAT) bin/micro.txt

all-cells: build ## one short trial of every legal combination of axes
	NETMATRIX_ALL_CELLS=1 go test -timeout 4h -run TestEveryLegalCell -v ./cmd/netmatrix

clean: ## remove what was built; results stay
	rm -rf bin
