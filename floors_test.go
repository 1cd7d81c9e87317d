package golops_test

import (
	"os/exec"
	"strings"
	"testing"
)

const (
	root   = "github.com/golops/golops"
	module = root + "/"
)

// floor is the height of each package, from docs/architecture.md. Imports go
// strictly down. Leaves stand outside: they may use floors up to comm, and only
// launch and tests may use them.
var floor = map[string]int{
	"scalar": 0, "shape": 0, "trace": 0, "internal/suggest": 0, "internal/splitmix": 0,
	"cost": 1, "device": 1, "device/devicetest": 2,
	"comm/driver": 2, "array": 2, "comm": 3, "comm/commtest": 4,
	"dist": 4, "internal/disk": 4, "linop": 5, "linop/optest": 6,
	"ops": 6, "ops/signal": 7, "ops/wave": 7,
	"solve": 7, "prox": 8, "prox/proxtest": 9,
	"report": 8, "data": 8, "report/reporttest": 9,
	"launch": 9,
	root:     10, "app": 11,
	"perf": 11, "app/lsm": 12, "app/ct": 12, "app/mdd": 12, "app/seismic": 12,
	"app/poststack": 13, "app/prestack": 13, "app/reflectivity": 13,
	"cmd/golops": 14, "perf/peer": 12, "perf/peer/operators": 12, "perf/peer/inversion": 12, "perf/peer/product": 12, "perf/peer/gpu": 12, "perf/peer/fft": 12, "perf/peer/sparse": 12, "perf/peer/ct": 12,
}

// leaf packages, and helpers that leaves and launch share.
var leaf = map[string]bool{
	"comm/local": true, "comm/mpi": true, "comm/nccl": true,
	"device/cpu": true, "device/cuda": true, "device/hip": true,
	"internal/dl": true, "internal/sched": true, "internal/mpirun": true, "internal/golden": true,
	"internal/gpu": true, "internal/fft": true, "internal/gpusim": true, "internal/staged": true, "internal/fakegpu": true,
}

// forTests are packages that only tests import; they may import everything.
var forTests = map[string]bool{"internal/testdevices": true, "internal/soak": true}

const commFloor, launchFloor = 3, 9

func TestImportsGoDown(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		from := strings.TrimPrefix(f[0], module)
		height, known := floor[from]
		if forTests[from] {
			continue
		}
		if !known && !leaf[from] {
			t.Errorf("%s has no floor: give it one here and in docs/architecture.md", from)
			continue
		}
		for _, imp := range f[1:] {
			to, ours := strings.CutPrefix(imp, module)
			if !ours && imp != root {
				continue
			}
			n++
			if why := wrong(from, height, to); why != "" {
				t.Errorf("%s imports %s: %s", from, to, why)
			}
		}
	}
	if n < 20 {
		t.Errorf("only %d imports seen: the list is broken", n)
	}
}

// wrong says why from, on a floor of that height or a leaf, may not import to.
func wrong(from string, height int, to string) string {
	switch {
	case forTests[to]:
		return "only tests may import it"
	case leaf[from] && leaf[to] && !strings.HasPrefix(to, "internal/"):
		return "a leaf may not import another"
	case leaf[from] && !leaf[to] && floor[to] > commFloor:
		return "a leaf may use floors up to comm"
	case leaf[from]:
		return ""
	case leaf[to] && height != launchFloor:
		return "only launch and tests may import a leaf"
	case to == "comm" && strings.HasPrefix(from, "ops"):
		return "operators reach other ranks through dist"
	case !leaf[to] && floor[to] >= height:
		return "imports must go down"
	}
	return ""
}

func TestWrongImportsAreFound(t *testing.T) {
	for _, c := range []struct {
		from, to string
		ok       bool
	}{
		{"comm", "scalar", true}, {"comm", "dist", false}, {"comm", "comm/local", false}, {"launch", "comm/mpi", true},
		{"perf", "comm/local", false}, {"comm/local", "comm", true}, {"comm/local", "launch", false},
		{"comm/mpi", "internal/dl", true}, {"comm/mpi", "comm/local", false}, {"perf", "launch", true}, {"launch", "perf", false},
		{"cmd/golops", "perf", true}, {"comm", "comm", false}, {"solve", "internal/dl", false}, {"launch", "internal/testdevices", false},
		{root, "launch", true}, {"launch", root, false}, {"app/lsm", root, true}, {root, "perf", false}, {"app", root, true}, {root, "app", false}, {"ops", "comm", false}, {"ops/wave", "comm", false}, {"ops", "dist", true},
	} {
		if why := wrong(c.from, floor[c.from], c.to); (why == "") != c.ok {
			t.Errorf("%s to %s: %q, want ok=%v", c.from, c.to, why, c.ok)
		}
	}
}
