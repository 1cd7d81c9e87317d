package perf

import (
	"strings"
	"testing"
)

// Tables of one operation stand side by side; sizes that one of them lacks are
// not measured there; what stands alone is not compared.
func TestComparison(t *testing.T) {
	reduce := find0("all_reduce")
	row := func(size int64, micros float64) Row {
		return Row{Size: size, Type: "float32", Reduction: "sum", Root: -1, OutOfPlace: reduce.measurement(size, 2, micros, 1)}
	}
	tables := []Table{
		{Operation: "all_reduce", Comm: "Open MPI 4.1.4", Algo: "auto", Ranks: 2, Memory: HostMemory, Rows: []Row{row(8, 2), row(1<<20, 1000)}},
		{Operation: "get", Comm: "Open MPI 4.1.4", Algo: "auto", Ranks: 2, Rows: []Row{{Size: 8, Type: "float32", Reduction: "none", OutOfPlace: reduce.measurement(8, 2, 3, 1)}}},
		{Operation: "all_reduce", Comm: "NCCL 2.28.3 over Open MPI 4.1.4", Algo: "auto", Ranks: 2, Memory: GPUMemory, Rows: []Row{row(1<<20, 100)}},
	}
	const want = `
# comparison of all_reduce, float32, sum, 2 ranks: time in us and bus bandwidth in GB/s, out of place if there is such
#   [1] host memory, Open MPI 4.1.4
#   [2] GPU memory, NCCL 2.28.3 over Open MPI 4.1.4
#
#         size      [1] time    busbw      [2] time    busbw
#            8          2.00     0.00           N/A      N/A
#      1048576       1000.00     1.05        100.00    10.49
`
	var b strings.Builder
	if err := WriteComparison(&b, tables); err != nil || b.String() != want {
		t.Errorf("%v\n%s\nwant\n%s", err, b.String(), want)
	}
	b.Reset()
	if err := WriteComparison(&b, tables[:2]); err != nil || b.Len() > 0 {
		t.Errorf("%v, nothing to compare, but got\n%s", err, b.String())
	}
}
