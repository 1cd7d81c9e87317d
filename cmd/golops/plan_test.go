package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/golops/golops/cost"
)

func TestPlanCommand(t *testing.T) {
	dir := t.TempDir()
	file, plot := filepath.Join(dir, "p.json"), filepath.Join(dir, "p.svg")
	machine := filepath.Join(dir, "machine.json")
	var b bytes.Buffer
	m := cost.Defaults()
	m.Cores = 4
	if err := m.Write(&b); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(machine, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args string
		want []string
	}{
		{"plan product --size 20000 --ranks 16,64,1024", []string{"20000 x 20000", "    1024 ", "*", "summa", "2.5d", "usual values"}},
		{"plan product --rows 100 --depth 200 --columns 1 --batch 64 -d complex64 --ranks 8 --kind block", []string{"64 times 100 x 200", "(b,b,b)"}},
		{"plan halo --extents 100,200 --depth 3 --ranks 6 --network 1us,10GB/s", []string{"latency 1 us, overhead 0.25 us, 10 GB/s", "onesided"}},
		{"plan lsm --ranks 1024 --nodes 32 --cores 32 --network 2us,100Gb/s", []string{"1000 sources", "12.5 GB/s", "     32 ", "traces split"}},
		{"plan product --size 64 --ranks 2,1024 --check --machine " + machine, []string{"checked on goroutine ranks", "median", " 256 *auto "}},
	} {
		start := time.Now()
		code, stdout, stderr := golops(t.Context(), c.args+" --json "+file+" --plot "+plot)
		if code != 0 || stderr != "" {
			t.Errorf("%s: exit code %d, %s", c.args, code, stderr)
		}
		t.Logf("%s: %v", c.args, time.Since(start))
		for _, want := range c.want {
			if !strings.Contains(stdout, want) {
				t.Errorf("%s: no %q in\n%s", c.args, want, stdout)
			}
		}
		for _, name := range []string{file, plot} {
			if s, err := os.Stat(name); err != nil || s.Size() < 500 {
				t.Errorf("%s: %s: %v", c.args, name, err)
			}
		}
	}
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"plan", 2, "plan what? have product, halo, lsm"},
		{"plan product --ranks 0", 2, "--ranks has 0"},
		{"plan product --kind sumo", 2, `unknown kind "sumo": have auto, block`},
		{"plan product --size 0", 2, "extents must be at least 1"},
		{"plan product -d int32", 2, "must be float32"},
		{"plan product -d floaty", 2, `unknown element type "floaty"`},
		{"plan product --machine nowhere.json", 2, "--machine nowhere.json: no such file"},
		{"plan product --network fast", 2, "--network fast: must be latency,bandwidth"},
		{"plan product --network 2us,100", 2, `bandwidth "100" has no unit`},
		{"plan product --network 2us,-1GB/s", 2, `bandwidth "-1GB/s": must be a positive number`},
		{"plan product --network 2,1GB/s", 2, `latency "2": must be a time`},
		{"plan product --nodes 0", 2, "--nodes is 0"},
		{"plan product --memory none", 2, "--memory none: must be a size"},
		{"plan product --plot a.gif", 2, "must end in .svg or .png"},
		{"plan halo --extents 1,2,3,4,5", 2, "--extents are [1 2 3 4 5]"},
		{"plan halo --depth -1", 2, "--depth is -1"},
		{"plan lsm --image 5", 2, "--image is [5]"},
		{"plan lsm --sources 0", 2, "0 sources"},
		{"plan lsm --memory 1K --ranks 2", 1, "nothing fits into the memory"},
		{"perf product --sizes 0", 2, "size 0"},
		{"perf product --mode twosided", 2, `unknown mode "twosided"`},
		{"perf halo --ranks 0", 2, "--ranks is 0"},
		{"perf roofline --ranks 1", 2, "1 rank: messages need 2"},
		{"perf roofline --machine nowhere/m.json", 2, "there is no folder nowhere"},
	} {
		code, _, stderr := golops(t.Context(), c.args)
		if code != c.code || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: got exit code %d and %q, want %d and %q", c.args, code, stderr, c.code, c.want)
		}
	}
}

func TestPerfRoofline(t *testing.T) {
	dir := t.TempDir()
	machine := filepath.Join(dir, "machine.json")
	code, stdout, stderr := golops(t.Context(), "perf roofline --ranks 2 --sizes 8,64K --messages 1,10 --memory 1M --rounds 1 --machine "+machine+" --plot "+filepath.Join(dir, "r.svg")+" --json "+filepath.Join(dir, "r.json"))
	if code != 0 || !strings.Contains(stdout, "median error") {
		t.Fatalf("exit code %d\n%s\n%s", code, stdout, stderr)
	}
	if code, stdout, stderr := golops(t.Context(), "plan product --size 100 --ranks 2 --machine "+machine); code != 0 || !strings.Contains(stdout, "measured: goroutines, 2 ranks") {
		t.Errorf("exit code %d\n%s\n%s", code, stdout, stderr)
	}
	for _, args := range []string{"perf halo --ranks 2 --sizes 64", "perf product --ranks 2 --sizes 16"} {
		code, stdout, stderr := golops(t.Context(), args+" --rounds 1 --mode messages,onesided --plot "+filepath.Join(dir, "o.svg"))
		if code != 0 || !strings.Contains(stdout, "onesided") || stderr != "" {
			t.Errorf("%s: exit code %d\n%s\n%s", args, code, stdout, stderr)
		}
	}
}
