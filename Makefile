# `make help` lists the targets. Everything is installed below .cache/; nothing needs root, an account or a container
# engine.

PYTHON ?= $(firstword $(foreach p,python3.11 python3.12 python3.13 python3,$(shell command -v $(p))))
DEV := .cache/dev
BIN := $(DEV)/bin
FAILED := ../.cache/failed-beside-others.txt
# The command line of ./pushbench in the tests' environment, so that the tests need no second environment.
PUSHBENCH := PYTHONPATH='$(CURDIR)/bench' $(BIN)/python -P -m pushbench
PYTHON_SOURCES := . ../compose ../servers
K6_BIN := .cache/k6-bench
BIOME := npx --yes @biomejs/biome@2.6.8
STATICCHECK := go run honnef.co/go/tools/cmd/staticcheck@v0.8.2
ACTIONLINT := go run github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
JAVA_FORMAT := mvn -q -B -ntp com.spotify.fmt:fmt-maven-plugin:2.29

# The same as in the build of the generator: its packages are compiled once, for checks, tests and the program.
export GOFLAGS := -trimpath

ORDINARY := not images and not engine and not measurement and not workflows and not cluster
# Most tests wait more than they work. A test that failed beside others may have waited for the CPU: it is named, and
# its result alone counts. Arguments: how many at a time, and which.
define BESIDE
cd bench && { ../$(BIN)/python -m pytest -n $(1) --dist worksteal --write-failed=$(FAILED) \
	-m "$(2) and $(ORDINARY)" || { [ $$? = 1 ] && \
	echo "failed beside others, repeated alone:" >&2 && cat $(FAILED) >&2 && \
	../$(BIN)/python -m pytest --maxfail 3 @$(FAILED); }; }
endef

# Nothing is compiled or tested beside the packages whose tests bound times. `make check` vets.
GO_TIMED := /internal/(clock|conversation|engine|scripted)
GO_TEST = go test -vet=off $(1) $$(go list ./... | grep -Ev '$(GO_TIMED)') && \
	go test -vet=off -p 1 $(1) $$(go list ./... | grep -E '$(GO_TIMED)')

# The tests start Python hundreds of times: without cached bytecode, each start compiles every module again.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help bench bench-all test test-fast stack stack-down images test-images test-workflows test-cluster fuzz \
	agreement bench-judge capacity-truth explain-truth bisect-truth screenshots check format schemas lock lock-images \
	bench-generator clean

help: ## list the targets
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | sort | \
		awk -F '\t' '{printf "  make %-18s %s\n", $$1, $$2}'

bench: ## set up, then benchmark the baseline servers whose toolchain is there (profile quick)
	@./pushbench run --suite whiteboard --servers tier:baseline

bench-all: ## benchmark every server, the scaled and the tuned ones too
	@./pushbench run

test: $(DEV)/stamp ## run every test, real servers and real load included
	cd k6 && $(call GO_TEST)
	@$(PUSHBENCH) build --test
	@$(PUSHBENCH) verify --driver process --jobs 4
	@# Tests with real load come first, two at a time: one process compiles the others' modules.
	cd bench && ../$(BIN)/python -m pytest -m "alone and $(ORDINARY)"
	$(call BESIDE,2,timed)
	$(call BESIDE,8,not alone and not timed)

test-fast: $(DEV)/stamp ## run what takes less than a minute
	cd k6 && $(call GO_TEST,-short)
	cd bench && ../$(BIN)/python -m pytest -n 3 --dist worksteal \
		-m "not slow and not workflows and not measurement and not cluster"

fuzz: $(DEV)/stamp ## feed mutated inputs to each reader of strangers' files (10,000; INPUTS=N, TARGET=NAME, SEED=N)
	cd bench && PYTHONPATH=../compose/runner ../$(BIN)/python -m tests.fuzz.campaign $(if $(INPUTS),--inputs $(INPUTS)) \
		$(if $(TARGET),--target "$(TARGET)") $(if $(SEED),--seed $(SEED))
	$(if $(TARGET),,cd k6 && for target in declared/FuzzFind declared/FuzzRead http1/FuzzReader http1/FuzzRequest \
		msgpack/FuzzBack \
		socketio/FuzzLink socketio/FuzzPacket sse/FuzzEvents wire/FuzzAnswer wire/FuzzMessage wire/FuzzNext; do \
		go test ./internal/$${target%/*} -run '^$$' -fuzz "^$${target#*/}\$$" -fuzztime 30s || exit 1; done)

test-workflows: $(DEV)/stamp ## run the GitHub workflows on this machine, with act: real servers, a forge in a folder
	cd bench && ../$(BIN)/python -m pytest -n 2 --dist loadscope -m "workflows and not alone" tests/workflows
	cd bench && ../$(BIN)/python -m pytest -m "workflows and alone" tests/workflows

test-images: images $(DEV)/stamp ## verify every server in its container, measure half of them, and test the engine
	@# A run verifies what it measures. Trials try the driver and the suites: more of them would show nothing more.
	@# 3 means that the machine was disturbed, which says nothing of the images.
	./pushbench run tier:baseline tier:scaled --driver docker --profile smoke --out .cache/pushbench/test-images || \
		test $$? = 3
	./pushbench verify tier:tuned --driver docker
	cd bench && ../$(BIN)/python -m pytest -n 2 --dist worksteal -m "(images or engine) and not alone"
	cd bench && ../$(BIN)/python -m pytest -m "engine and alone"

test-cluster: $(DEV)/stamp ## play loads on Kubernetes (CLUSTER=current: of kubectl; CLUSTER=PROGRAM: starts one)
	@mkdir -p .cache/pushbench
	$(if $(filter-out current,$(CLUSTER)), \
		./pushbench bake node-ws node-cluster-redis spring-mvc-sse k6 > .cache/pushbench/bake-cluster.json && \
		docker buildx bake --file .cache/pushbench/bake-cluster.json && \
		(docker image inspect redis:8-alpine >/dev/null 2>&1 || ./pushbench services))
	cd bench && CLUSTER=$(if $(filter current,$(CLUSTER)),current,$(abspath $(CLUSTER))) \
		../$(BIN)/python -m pytest -m cluster tests/cluster

bench-judge: $(DEV)/stamp ## measure what judging by a history of 5,000 runs takes
	cd bench && ../$(BIN)/python -m pytest -q -s -m measurement tests/judging/test_judge_speed.py

capacity-truth: $(DEV)/stamp ## find set capacities of servers: two hours (KIND=rate, clients, bytes, pause or twice)
	cd bench && ../$(BIN)/python -m pytest -q -s -m measurement tests/capacity/test_capacity_truth.py \
		$(if $(KIND),-k "$(KIND)")

explain-truth: $(DEV)/stamp ## put a burn into one function of four servers, and see it named (SERVER=go: one)
	cd bench && ../$(BIN)/python -m pytest -q -s -m measurement tests/comparing/test_explain_truth.py \
		$(if $(SERVER),-k "$(SERVER)")

bisect-truth: $(DEV)/stamp ## find a regression of 15 % in 40 commits, five times half an hour (SEARCHES=1: once)
	cd bench && $(if $(SEARCHES),SEARCHES=$(SEARCHES)) ../$(BIN)/python -m pytest -q -s -m measurement \
		tests/comparing/test_bisect_truth.py

screenshots: $(DEV)/stamp ## pictures of every page of the report site, to look at, and those of the README
	@cd bench && ../$(BIN)/python -m tests.site.pictures ../.cache/pushbench/pictures

agreement: $(DEV)/stamp ## measure whether both drivers find the same CPU per delivery
	cd bench && ../$(BIN)/python -m pytest -s -m measurement tests/drivers/test_agreement.py

stack: $(DEV)/stamp ## VictoriaMetrics, Grafana and Redis, to watch runs with --live (PROFILE=cadvisor: and cAdvisor)
	@PUSHBENCH_STACK_CPUS=$$(cd bench && ../$(BIN)/python -c 'import os; from pushbench.machine.environment import *; \
		print(*split_cpus(physical_cores(os.sched_getaffinity(0))).generator, sep=",")') \
		docker compose --file compose/stack.yml $(if $(PROFILE),--profile $(PROFILE)) up --detach --wait $(SERVICES)

stack-down: ## end them (VOLUMES=1: and forget their data)
	@docker compose --file compose/stack.yml --profile '*' down $(if $(VOLUMES),--volumes)

images: ## build the container image of every server and of k6, and fetch those of services, for the docker driver
	@mkdir -p .cache/pushbench
	@./pushbench bake > .cache/pushbench/bake.json
	docker buildx bake --file .cache/pushbench/bake.json
	@./pushbench services

check: $(DEV)/stamp ## lint, format check and types of every language, schemas current
	cd bench && ../$(BIN)/ruff format --check $(PYTHON_SOURCES) && ../$(BIN)/ruff check $(PYTHON_SOURCES) && ../$(BIN)/mypy
	@command -v shellcheck >/dev/null || \
		{ echo "make check: needs shellcheck (on Debian and Ubuntu: apt install shellcheck)"; exit 1; }
	shellcheck $$(git ls-files '*.sh') pushbench .ci/run
	@test -z "$$(gofmt -l k6 docs)" || { echo "gofmt: run 'make format' for"; gofmt -l k6 docs; exit 1; }
	cd k6 && go vet ./... && $(STATICCHECK) ./... && go mod tidy -diff
	@for module in servers/*/go.mod; do echo "go vet, staticcheck $$module"; \
		(cd $$(dirname $$module) && test -z "$$(gofmt -l .)" && go vet ./... && $(STATICCHECK) ./... && \
		go mod tidy -diff) || exit 1; done
	@for crate in servers/*/Cargo.toml; do echo "cargo fmt, clippy $$crate"; cargo fmt --check --manifest-path $$crate && \
		cargo clippy --quiet --locked --release --all-targets --manifest-path $$crate -- -D warnings || exit 1; done
	$(BIOME) check .
	cd report-site && npm ci --ignore-scripts --no-audit --no-fund --silent && npx tsc
	@for pom in servers/*/pom.xml; do echo "$(JAVA_FORMAT):check -f $$pom"; $(JAVA_FORMAT):check -f $$pom || exit 1; done
	$(ACTIONLINT)
	$(BIN)/zizmor --offline --persona pedantic --quiet .github
	@$(PUSHBENCH) schema --check

format: $(DEV)/stamp ## format every language
	cd bench && ../$(BIN)/ruff check --fix $(PYTHON_SOURCES); ../$(BIN)/ruff format $(PYTHON_SOURCES)
	gofmt -w k6 docs servers/*/*.go
	@for crate in servers/*/Cargo.toml; do cargo fmt --manifest-path $$crate || exit 1; done
	$(BIOME) check --write .
	@for pom in servers/*/pom.xml; do $(JAVA_FORMAT):format -f $$pom || exit 1; done

schemas: ## write docs/schemas from the models
	./pushbench schema --write

bench-generator: ## what generating load costs beside plain k6 scripts: half an hour (ARGS="-only streams")
	@mkdir -p $(K6_BIN)
	cd k6 && go build -trimpath -o ../$(K6_BIN)/ . ./cmd/...
	@$(K6_BIN)/bench-generator -bin $(K6_BIN) -sources k6 $(ARGS)

lock: $(DEV)/stamp ## resolve the Python requirements again, with hashes
	cd bench && for name in requirements requirements-uv requirements-dev; do \
		../$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
		--no-header --no-emit-index-url --no-annotate --upgrade $$name.in -o $$name.txt || exit 1; done

lock-images: ## look the digests of the services' images up again, and write compose/images.lock.json
	@./pushbench services --lock

clean: ## remove everything that was built or installed below this folder, records excepted
	rm -rf .cache servers/*/node_modules servers/*/dist servers/*/.venv servers/*/target

$(DEV)/stamp: bench/requirements-dev.txt bench/requirements-uv.txt
	@echo "setting up the development tools in $(DEV)" >&2
	@rm -rf $(DEV) && $(PYTHON) -m venv $(DEV)
	@$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r bench/requirements-uv.txt
	@$(BIN)/uv pip install --quiet --system-certs --python $(BIN)/python --require-hashes -r bench/requirements-dev.txt
	@touch $@
