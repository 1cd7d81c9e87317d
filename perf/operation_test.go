package perf

import (
	"math"
	"strings"
	"testing"
)

func find(t *testing.T, name string) operation {
	t.Helper()
	ops, err := findOperations([]string{name})
	if err != nil {
		t.Fatal(err)
	}
	return ops[0]
}

func TestExtent(t *testing.T) {
	for _, tc := range []struct {
		op           string
		size         int64
		elem, n      int
		count, total int
	}{
		{"all_reduce", 8, 4, 3, 2, 2},
		{"all_reduce", 7, 4, 3, 1, 1},
		{"all_reduce", 8, 16, 3, 0, 0},
		{"all_gather", 64, 4, 3, 5, 15},
		{"all_gather", 8, 4, 3, 0, 0},
		{"reduce_scatter", 64, 8, 4, 2, 8},
		{"alltoall", 1024, 4, 4, 64, 256},
		{"alltoallv", 48, 4, 4, 3, 12}, // 0, 2, 4 and 6 elements
		{"alltoallv", 56, 4, 4, 3, 13}, // 14 elements: 0, 2, 4 and 7
		{"alltoallv", 64, 4, 1, 16, 16},
		{"put", 64, 4, 4, 16, 16},
	} {
		got := find(t, tc.op).extent(tc.size, tc.elem, tc.n)
		if got.count != tc.count || got.total != tc.total {
			t.Errorf("%s of %d bytes in elements of %d on %d ranks: got %+v, want count %d, total %d",
				tc.op, tc.size, tc.elem, tc.n, got, tc.count, tc.total)
		}
	}
}

// Each rank must send what the others expect, as much as every other rank,
// and the same in both directions.
func TestRagged(t *testing.T) {
	for n := 1; n < 9; n++ {
		for _, size := range []int64{0, 1, 7, 100, 1000, 1 << 40} {
			o := find(t, "alltoallv")
			e := o.extent(size, 1, n)
			empty := 0
			for i := range n {
				sum := 0
				for j := range n {
					sum += o.between(e, i, j, n)
					if o.between(e, i, j, n) != o.between(e, j, i, n) {
						t.Errorf("n=%d size=%d: (%d,%d) is not symmetric", n, size, i, j)
					}
					if o.between(e, i, j, n) == 0 {
						empty++
					}
				}
				if sum != e.total || int64(sum) > size || int64(sum) < size-int64(n) {
					t.Errorf("n=%d size=%d: rank %d sends %d, total is %d", n, size, i, sum, e.total)
				}
			}
			if size == 1000 && n > 1 && empty != n {
				t.Errorf("n=%d: %d pairs of %d are empty, want one for each rank", n, empty, n*n)
			}
		}
	}
}

// By hand: 1e6 bytes in 500 µs are 2 GB/s.
func TestBusBandwidth(t *testing.T) {
	for _, tc := range []struct {
		ops  string
		n    int
		want float64
	}{
		{"all_reduce", 4, 3},
		{"all_reduce", 2, 2},
		{"all_reduce", 1, 0},
		{"all_gather reduce_scatter gather scatter alltoall alltoallv", 4, 1.5},
		{"all_gather reduce_scatter gather scatter alltoall alltoallv", 2, 1},
		{"broadcast reduce sendrecv put get accumulate", 4, 2},
		{"broadcast reduce sendrecv put get", 1, 2},
	} {
		for name := range strings.FieldsSeq(tc.ops) {
			m := find(t, name).measurement(1e6, tc.n, 500, 20)
			if m.AlgBW != 2 || math.Abs(m.BusBW-tc.want) > 1e-12 {
				t.Errorf("%s on %d ranks: algbw %v, busbw %v, want 2 and %v", name, tc.n, m.AlgBW, m.BusBW, tc.want)
			}
		}
	}
}

func TestFindOperations(t *testing.T) {
	all, err := findOperations([]string{"get", "all", "get"})
	if err != nil || len(all) != len(operations) || all[0].name != "get" {
		t.Errorf("got %d operations, the first %q, and %v", len(all), all[0].name, err)
	}
	_, err = findOperations([]string{"all_reduce", "allreduce", "x"})
	if err == nil || !strings.Contains(err.Error(), `"allreduce" (did you mean all_reduce?), "x": have all_reduce, all_gather`) {
		t.Errorf("got %v, want the unknown names and the known ones", err)
	}
}
