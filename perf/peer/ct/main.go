// Command ct compares the projector of a tomograph with scikit-image and ASTRA on the
// CPU, one thread each. All take turns, because machines are noisy: only ratios of times
// taken side by side mean anything. `make compare` runs it.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"time"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/launch"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/ops"
)

func main() {
	rounds := flag.Int("rounds", 7, "how often each contender runs, in turns")
	n := flag.Int("n", 256, "pixels along each side of the image, and detectors")
	views := flag.Int("views", 180, "views over half a turn")
	python := flag.String("python", "build/ct-venv/bin/python", "Python with ASTRA and scikit-image; scripts/golden-ct venv makes it")
	flag.Parse()
	err := launch.Config{Ranks: 1, Threads: 1}.Local(context.Background(), func(ctx context.Context, r dist.Proc) error {
		return compare(ctx, r, *python, *n, *views, *rounds)
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "ct:", err)
		os.Exit(1)
	}
}

// both are seconds of a projection and of a back-projection.
type both [2]float64

func (b *both) best(c both) {
	for i := range b {
		if b[i] == 0 || c[i] < b[i] {
			b[i] = c[i]
		}
	}
}

// compare prints the table.
func compare(ctx context.Context, r dist.Proc, python string, n, views, rounds int) error {
	a, x, y, err := projector(ctx, r, n, views)
	if err != nil {
		return err
	}
	peer, err := start(python, n, views)
	if err != nil {
		return err
	}
	defer peer.close()
	var mine both
	theirs := map[string]both{}
	for range rounds {
		var took both
		for i, f := range []func() error{func() error { return a.Forward(ctx, y, x) }, func() error { return a.Adjoint(ctx, x, y) }} {
			if i == 0 {
				if x, err = image(ctx, a.Domain(), n); err != nil {
					return err
				}
			}
			begin := time.Now()
			if err := f(); err != nil {
				return err
			}
			took[i] = time.Since(begin).Seconds()
		}
		mine.best(took)
		answer, err := peer.ask()
		if err != nil {
			return err
		}
		for name, t := range answer.Times {
			b := theirs[name]
			b.best(t)
			theirs[name] = b
		}
		if err := same(y.Local().Mem().Host, answer.Check); err != nil {
			return err
		}
	}
	fmt.Printf("Tomography of %d × %d pixels, %d views, %d detectors, float32, one thread: milliseconds, and the time of each peer over that of golops.\n\n", n, n, views, n)
	fmt.Print("| | projection ms | back-projection ms | projection | back-projection |\n|---|---|---|---|---|\n")
	fmt.Printf("| golops | %.1f | %.1f | 1 | 1 |\n", 1e3*mine[0], 1e3*mine[1])
	for _, name := range slices.Sorted(maps.Keys(theirs)) {
		t := theirs[name]
		fmt.Printf("| %s | %.1f | %.1f | %.2f | %.2f |\n", name, 1e3*t[0], 1e3*t[1], t[0]/mine[0], t[1]/mine[1])
	}
	crossings := float64(n) * float64(n) * float64(views)
	fmt.Printf("\ngolops: %.2f and %.2f ns for each pixel and view.\n", 1e9*mine[0]/crossings, 1e9*mine[1]/crossings)
	return nil
}

func projector(ctx context.Context, r dist.Proc, n, views int) (a linop.Operator[float32], x, y dist.Array[float32], err error) {
	space, err := dist.NewSpace(ctx, r, dist.Replicated, n, n)
	if err != nil {
		return a, x, y, err
	}
	data, err := space.Like(dist.Split(0), views, n)
	if err != nil {
		return a, x, y, err
	}
	o := ops.ProjectorDefaults(make([]float64, views))
	for i := range o.Angles {
		o.Angles[i] = float64(i) * math.Pi / float64(views)
	}
	if a, err = ops.Projector[float32](ctx, space, data, o); err != nil {
		return a, x, y, err
	}
	if x, err = image(ctx, space, n); err == nil {
		y, err = linop.Apply(ctx, a, x) // warm
	}
	return a, x, y, err
}

// image is that of the Python program.
func image(ctx context.Context, s *dist.Space, n int) (dist.Array[float32], error) {
	return dist.FromFunc(ctx, s, func(i []int) float32 {
		y, x := float64(i[0])-float64(n-1)/2, float64(i[1])-float64(n-1)/2
		if math.Hypot(x, y) >= 0.45*float64(n) {
			return 0
		}
		return float32(1 + math.Cos(x/9)*math.Sin(y/7))
	})
}

// same wants ASTRA's projection by Joseph's method to be ours.
func same(mine []float32, some []float64) error {
	step, most := max(1, len(mine)/100), 0.0
	for _, v := range some {
		most = max(most, math.Abs(v))
	}
	for i, v := range some {
		if d := math.Abs(float64(mine[i*step]) - v); !(d <= 1e-4*most) {
			return fmt.Errorf("element %d of the projection is %g, ASTRA has %g", i*step, mine[i*step], v)
		}
	}
	return nil
}

// process is the Python program.
type process struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

// answer is what it says.
type answer struct {
	Times map[string]both
	Check []float64
}

func start(python string, n, views int) (*process, error) {
	cmd := exec.Command(python, "perf/peer/ct/ct.py", strconv.Itoa(n), strconv.Itoa(views))
	cmd.Env = append(os.Environ(), "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &process{cmd, in, bufio.NewScanner(out)}, cmd.Start()
}

func (p *process) ask() (a answer, err error) {
	if _, err := fmt.Fprintln(p.in); err != nil {
		return a, err
	}
	if !p.out.Scan() {
		return a, fmt.Errorf("the Python program has ended: %w", p.cmd.Wait())
	}
	return a, json.Unmarshal(p.out.Bytes(), &a)
}

func (p *process) close() {
	p.in.Close()
	_ = p.cmd.Wait()
}
