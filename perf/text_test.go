package perf

import (
	"bytes"
	"testing"
	"time"
)

// sampleTables has every kind of cell with times that never change.
func sampleTables() []Table {
	reduce := find0("all_reduce")
	get := find0("get")
	wrong := reduce.measurement(1<<20, 4, 812.25, 40)
	wrong.Wrong = 3
	tables := []Table{
		{
			Operation: "all_reduce", Comm: "goroutines", Algo: "ring", Ranks: 4, Type: All, Reduction: All,
			Min: 8, Max: 1 << 20, Factor: 2, Iters: 20, LoopTime: 50 * time.Millisecond, Warmup: 5, Time: Mean.String(), Checked: true,
			Rows: []Row{
				{Size: 8, Count: 2, Type: "float32", Reduction: "sum", Root: -1,
					OutOfPlace: reduce.measurement(8, 4, 1.234, 10240), InPlace: reduce.measurement(8, 4, 0.5, 20480)},
				{Size: 1 << 20, Count: 1 << 18, Type: "complex128", Reduction: "avg", Root: -1,
					OutOfPlace: wrong, InPlace: reduce.measurement(1<<20, 4, 123456.7, 20)},
			},
		},
		{
			Operation: "get", Comm: "Open MPI 4.1.4", Algo: "auto", Ranks: 2, Type: "int64", Reduction: "none",
			Min: 64, Max: 192, Step: 64, Iters: 7, Warmup: 0, Time: Slowest.String(),
			Rows: []Row{{Size: 64, Count: 8, Type: "int64", Reduction: "none", Root: -1, OutOfPlace: get.measurement(64, 2, 20, 7)}},
		},
	}
	for i := range tables {
		tables[i].finish()
	}
	return tables
}

func find0(name string) operation {
	ops, err := findOperations([]string{name})
	if err != nil {
		panic(err)
	}
	return ops[0]
}

var sampleMachine = Machine{CPU: "Test CPU", SIMD: "AVX2", Cores: 2, CPUs: 4, GOMAXPROCS: 4, Go: "go1.26", OS: "linux", Arch: "amd64"}

const goldenText = `# golops perf all_reduce: 4 ranks, communicator goroutines, algorithm ring, type all, redop all
# sizes: 8 B to 1 MB, factor 2; warm-up: 5 iterations; loop: 20 iterations, doubled until 50ms have passed; time: mean over ranks; check: on
# machine: Test CPU, CPUs 4, GOMAXPROCS 4, AVX2, go1.26 linux/amd64
#
#                                                                 out-of-place                           in-place
#       size         count        type   redop   root       time    algbw    busbw  #wrong       time    algbw    busbw  #wrong
#        (B)    (elements)                                  (us)   (GB/s)   (GB/s)               (us)   (GB/s)   (GB/s)
           8             2     float32     sum     -1       1.23     0.01     0.01       0       0.50     0.02     0.02       0
     1048576        262144  complex128     avg     -1     812.25     1.29     1.94       3     123457     0.01     0.01       0
# Out of bounds values : 3 FAILED
# Avg bus bandwidth    : 0.495723

# golops perf get: 2 ranks, communicator Open MPI 4.1.4, algorithm auto, type int64, redop none
# sizes: 64 B to 192 B, step 64 B; warm-up: 0 iterations; loop: 7 iterations; time: most of ranks; check: off
# machine: Test CPU, CPUs 4, GOMAXPROCS 4, AVX2, go1.26 linux/amd64
#
#                                                                 out-of-place                           in-place
#       size         count        type   redop   root       time    algbw    busbw  #wrong       time    algbw    busbw  #wrong
#        (B)    (elements)                                  (us)   (GB/s)   (GB/s)               (us)   (GB/s)   (GB/s)
          64             8       int64    none     -1      20.00     0.00     0.00     N/A        N/A      N/A      N/A     N/A
# Out of bounds values : N/A
# Avg bus bandwidth    : 0.0032
`

func TestText(t *testing.T) {
	var b bytes.Buffer
	text := NewText(&b, sampleMachine)
	for _, tab := range sampleTables() {
		text.Begin(&tab)
		for _, r := range tab.Rows {
			text.Row(&tab, r)
		}
		text.End(&tab)
	}
	if text.Err() != nil {
		t.Error(text.Err())
	}
	if got := b.String(); got != goldenText {
		t.Errorf("got\n%s\nwant\n%s", got, goldenText)
	}
}
