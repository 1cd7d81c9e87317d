# make test installs what the tests need; everything else needs only Go.

export GOFLAGS = -buildvcs=auto

# Two goals at a time: what is installed comes over the network, while lint needs the cores.
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j2
endif

# Tests of these MPIs, of a browser, of FFTW and of NVIDIA's compiler must not be skipped:
# the scripts have just tried to install them.
TEST_ENV = GOLOPS_TEST_MPI=openmpi,mpich GOLOPS_TEST_BROWSER=1 GOLOPS_TEST_FFTW=1 GOLOPS_TEST_NVRTC=$(CURDIR)/build/nvrtc/old:$(CURDIR)/build/nvrtc/new

# The platforms that golops is built for, besides linux/amd64.
PLATFORMS = linux/arm64 darwin/arm64 darwin/amd64 windows/amd64

.PHONY: test build lint platforms race bench fuzz soak compare install scipy clean arm64 $(PLATFORMS)

# The suite of the communicators comes first and alone, for its log: on which
# communicators and how many ranks it passed. Tests are not vetted again: lint has done it.
#
# Three packages are tested at a time, because tests of launchers wait more than they work.
# There is no go build of all packages: vet and the tests compile each of them.
test: install lint
	@mkdir -p build
	$(TEST_ENV) CGO_ENABLED=0 go test -vet=off -v -timeout 20m -run '^TestSuite$$' ./comm/local ./comm/mpi ./comm/nccl >build/suite.log || { grep -vE '^ *(=== RUN|--- PASS)' build/suite.log; exit 1; }
	@grep -oE 'commtest \(.*|^ok .*' build/suite.log
	$(TEST_ENV) CGO_ENABLED=0 go test -vet=off -p 3 -timeout 15m -skip '^TestSuite$$' ./...
	$(MAKE) race

# The race detector looks at goroutine ranks. It learns little from many problems that are solved alike, from processes
# of MPI and from the simulator of GPUs, which is C, and it allocates by itself: make soak has those too.
RACE_SKIP = ^TestAllocs$$|^TestRandom|Golden|^TestSciPy$$|^TestConvergedIsTrue$$|/sim|/openmpi|/mpich|//openmpi|//mpich
race:
	CGO_ENABLED=1 go test -vet=off -race -timeout 15m -skip '$(RACE_SKIP)' ./comm/local ./comm ./trace ./dist ./solve

install:
	@scripts/install-mpi
	@scripts/install-browser
	@scripts/mpi-wheels
	@scripts/install-nvrtc

# Compilers and staticcheck spend a third of their time collecting garbage that would fit into memory.
lint $(PLATFORMS): export GOGC = 400
lint:
	@test -z "$$(gofmt -l .)" || { echo "gofmt would change:"; gofmt -l .; exit 1; }
	CGO_ENABLED=0 go vet ./...
	CGO_ENABLED=0 go tool staticcheck ./...
	@$(MAKE) --no-print-directory $(PLATFORMS)

# One target for each platform; docs/platforms.md says what has run there. Nothing of it
# is run, so the compiler does not optimise, which saves a third of the time. lint builds
# the command, two platforms at a time, since loading and linking leave a core idle. make
# platforms, and so make soak, also vets all packages and tests, for what differs between
# platforms; formats and the like are checked in files of linux/amd64.
$(PLATFORMS): export CGO_ENABLED = 0
$(PLATFORMS): export GOOS = $(@D)
$(PLATFORMS): export GOARCH = $(@F)
$(PLATFORMS):
	@echo "build for $@"
	@$(VET) go build $(QUICK) -o /dev/null ./cmd/golops
platforms:
	@$(MAKE) --no-print-directory $(PLATFORMS) VET='go vet $$(QUICK) -asmdecl -buildtag -unsafeptr ./... &&'
QUICK = -gcflags='all=-N -l -dwarf=false'

# The tests of the floors for linux/arm64, under QEMU. mpirun cannot start a program
# of another processor, nor can a test start itself again, and the simulator of
# GPUs is compiled for this processor: those tests are left out.
# Names of whole tests come first: go test looks no further behind one with a slash.
ARM64_SKIP = ^TestLock$$|^TestMakeUnderLimit$$|^TestKill$$|/sim|/openmpi|/mpich|//openmpi|//mpich
ARM64 = ./scalar ./shape ./trace ./device ./device/cpu ./comm ./comm/local ./array ./dist ./linop ./ops/wave ./solve ./data ./report ./internal/disk ./internal/golden
arm64:
	@scripts/install-qemu
	CGO_ENABLED=0 GOARCH=arm64 go test -timeout 60m -exec $(CURDIR)/scripts/run-arm64 -skip '$(ARM64_SKIP)' $(ARM64)

build:
	CGO_ENABLED=0 go build -o build/golops ./cmd/golops

bench:
	CGO_ENABLED=0 go test -run '^$$' -bench . ./comm ./comm/local ./internal/dl ./trace ./device/cpu ./dist ./ops ./ops/wave ./solve ./data ./report

# Every fuzz target in turn, each for its share of TIME.
TIME = 10m
fuzz:
	@scripts/fuzz $(TIME)

# The packages whose tests do more if GOLOPS_SOAK is set: longer random sequences, more
# numbers of ranks, every version of MPI, kills, faults of the disk. It takes as long as it takes.
soak: install
	$(TEST_ENV) GOLOPS_SOAK=1 CGO_ENABLED=0 go test -count 1 -timeout 0 -v $$(grep -rl --include='*_test.go' 'soak\.O[nr]' . | xargs -n 1 dirname | sort -u)
	$(MAKE) race RACE_SKIP='^$$'
	$(MAKE) platforms

# Runs that measure golops and others side by side: messages, operators, products, migration;
# see docs/benchmarks.md. ROUNDS says how often, RUN which operators.
compare: install build
	@scripts/install-fftw-mpi
	@scripts/peer-python
	CGO_ENABLED=0 go run ./perf/peer/fft $(if $(ROUNDS),-rounds $(ROUNDS))
	CGO_ENABLED=0 go run ./perf/peer/fft -split $(if $(ROUNDS),-rounds $(ROUNDS))
	CGO_ENABLED=0 go run ./perf/peer $(if $(ROUNDS),-rounds $(ROUNDS))
	CGO_ENABLED=0 go run ./perf/peer/operators $(if $(ROUNDS),-rounds $(ROUNDS)) $(if $(RUN),-run '$(RUN)')
	@scripts/install-scalapack
	CGO_ENABLED=0 go run ./perf/peer/product -onesided $(if $(ROUNDS),-rounds $(ROUNDS))
	CGO_ENABLED=0 go run ./perf/peer/sparse $(if $(ROUNDS),-rounds $(ROUNDS))
	@scripts/golden-ct venv
	CGO_ENABLED=0 go run ./perf/peer/ct $(if $(ROUNDS),-rounds $(ROUNDS))
	@scripts/golden-lsm venv
	CGO_ENABLED=0 go run ./perf/peer/inversion $(if $(ROUNDS),-rounds $(ROUNDS))

# Random systems against SciPy, live. N says how many, FIRST which is the first.
scipy:
	@scripts/scipy $(or $(N),2000) build/scipy.txt $(or $(FIRST),0)
	GOLOPS_SCIPY=$(CURDIR)/build/scipy.txt CGO_ENABLED=0 go test -v -count 1 -timeout 30m -run '^TestSciPy$$' ./solve

clean:
	rm -rf build
