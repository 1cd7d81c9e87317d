// Command peer compares golops with C over the same MPI library, in one run
// and in turns, because machines are noisy: only ratios of times taken side by
// side mean anything. `make compare` runs it.
package main

import (
	"bytes"
	"encoding/csv"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

var sizes = []int{8, 1 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20}

// contender is a program that measures all_reduce on two ranks.
type contender struct {
	name string
	run  func() (map[int]float64, error) // microseconds by bytes
}

func main() {
	rounds := flag.Int("rounds", 15, "how often each contender runs, in turns")
	mpirun := flag.String("mpirun", "mpirun.openmpi", "launcher of the MPI to compare with")
	mpicc := flag.String("mpicc", "mpicc.openmpi", "its C compiler")
	dir := flag.String("build", "build", "folder with the golops binary; the C program goes there too")
	flag.Parse()
	if err := compare(*rounds, *mpirun, *mpicc, *dir); err != nil {
		fmt.Fprintln(os.Stderr, "peer:", err)
		os.Exit(1)
	}
}

func compare(rounds int, mpirun, mpicc, dir string) error {
	c := filepath.Join(dir, "peer")
	if out, err := exec.Command(mpicc, "-O3", "-march=native", "-o", c, "perf/peer/c/allreduce.c").CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", mpicc, err, out)
	}
	start := []string{mpirun}
	if strings.Contains(mpirun, "openmpi") {
		start = append(start, "--allow-run-as-root")
	}
	start = append(start, "-n", "2")
	golops := filepath.Join(dir, "golops")
	contenders := []contender{
		{"C", func() (map[int]float64, error) { return runC(append(slices.Clone(start), c)) }},
		{"golops, goroutines", func() (map[int]float64, error) { return runPerf([]string{golops}, "--ranks", "2") }},
		{"golops, MPI", func() (map[int]float64, error) { return runPerf(append(slices.Clone(start), golops)) }},
	}
	times := make([]map[int][]float64, len(contenders))
	for i := range times {
		times[i] = map[int][]float64{}
	}
	for round := range rounds {
		for i, k := range contenders {
			fmt.Fprintf(os.Stderr, "round %d of %d: %s\n", round+1, rounds, k.name)
			got, err := k.run()
			if err != nil {
				return fmt.Errorf("%s: %w", k.name, err)
			}
			for _, s := range sizes {
				times[i][s] = append(times[i][s], got[s])
			}
		}
	}
	report("medians of the rounds", times, median)
	report("best of the rounds", times, slices.Min[[]float64])
	return nil
}

// report prints a table. Medians say what a user sees; the best of each, what
// the programs can do when the machine leaves them alone.
func report(title string, times []map[int][]float64, pick func([]float64) float64) {
	fmt.Printf("%s, %d rounds\n\n", title, len(times[0][sizes[0]]))
	fmt.Println("| bytes | C us | goroutines us | MPI us | C GB/s | goroutines GB/s | MPI GB/s | goroutines/C time | goroutines/C bandwidth | MPI/C bandwidth | MPI-C us |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|---|")
	for _, s := range sizes {
		c, g, m := pick(times[0][s]), pick(times[1][s]), pick(times[2][s])
		bw := func(us float64) float64 { return float64(s) / us / 1e3 }
		fmt.Printf("| %d | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f | %.1f | %.2f | %+.2f |\n",
			s, c, g, m, bw(c), bw(g), bw(m), g/c, c/g, c/m, m-c)
	}
	fmt.Println()
}

func median(x []float64) float64 {
	x = slices.Clone(x)
	slices.Sort(x)
	return x[len(x)/2]
}

func runC(cmd []string) (map[int]float64, error) {
	for _, s := range sizes {
		cmd = append(cmd, strconv.Itoa(s))
	}
	out, err := exec.Command(cmd[0], cmd[1:]...).Output()
	if err != nil {
		return nil, err
	}
	got := map[int]float64{}
	for line := range strings.Lines(string(out)) {
		var s int
		var us float64
		if _, err := fmt.Sscan(line, &s, &us); err != nil {
			return nil, fmt.Errorf("line %q: %w", line, err)
		}
		got[s] = us
	}
	return got, nil
}

// runPerf takes the out of place times of golops perf.
func runPerf(cmd []string, args ...string) (map[int]float64, error) {
	got := map[int]float64{}
	file := filepath.Join(os.TempDir(), fmt.Sprintf("golops-peer-%d.csv", os.Getpid()))
	defer os.Remove(file)
	cmd = append(append(slices.Clone(cmd), "perf", "all_reduce", "-c", "0", "-b", "8", "-e", "64M", "-f", "2", "--csv", file), args...)
	if out, err := exec.Command(cmd[0], cmd[1:]...).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		return nil, err
	}
	size, us := slices.Index(rows[0], "size_bytes"), slices.Index(rows[0], "out_of_place_time_us")
	if size < 0 || us < 0 {
		return nil, fmt.Errorf("columns of %s: %v", file, rows[0])
	}
	for _, row := range rows[1:] {
		s, _ := strconv.Atoi(row[size])
		got[s], err = strconv.ParseFloat(row[us], 64)
		if err != nil {
			return nil, err
		}
	}
	return got, nil
}
