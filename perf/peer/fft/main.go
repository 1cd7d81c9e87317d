// Command fft compares Fourier transforms of the host with SciPy, ducc0 and FFTW, one
// thread each. All take turns, because machines are noisy: only ratios of times taken
// side by side mean anything. `make compare` runs it.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"regexp"
	"time"

	"github.com/golops/golops/array"
	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/launch"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/shape"
)

// problem is one block to transform, as the Python program reads it.
type problem struct {
	Dims    []int   `json:"dims"`
	Axes    []int   `json:"axes"`
	DType   string  `json:"dtype"`
	Seconds float64 `json:"seconds"` // that each measurement takes
}

func (p problem) String() string { return fmt.Sprintf("%s %v along %v", p.DType, p.Dims, p.Axes) }

// peers are the columns of the table.
var peers = []string{"scipy", "ducc0", "fftw"}

func problems(seconds float64) (all []problem) {
	for _, dtype := range []string{"complex128", "complex64", "float64", "float32"} {
		for _, n := range []int{256, 501, 651, 1000, 1024, 1300, 4096, 65536, 65537} {
			all = append(all, problem{[]int{1, n}, []int{1}, dtype, seconds}, problem{[]int{64, n}, []int{1}, dtype, seconds})
		}
		for _, n := range []int{256, 501, 1000, 4096} {
			all = append(all, problem{[]int{n, 64}, []int{0}, dtype, seconds})
		}
		all = append(all, problem{[]int{1024, 1024}, []int{0, 1}, dtype, seconds},
			problem{[]int{128, 128, 128}, []int{0, 1, 2}, dtype, seconds}, problem{[]int{256, 256, 256}, []int{0, 1, 2}, dtype, seconds})
	}
	return all
}

func main() {
	rounds := flag.Int("rounds", 3, "how often each contender runs, in turns")
	seconds := flag.Float64("seconds", 0.05, "how long a measurement takes at least")
	python := flag.String("python", "build/golden-venv/bin/python", "Python with SciPy, ducc0 and pyFFTW; scripts/peer-python makes it")
	run := flag.String("run", "", "only problems whose text matches this regular expression")
	flag.Parse()
	only, err := regexp.Compile(*run)
	if err == nil {
		err = launch.Config{Ranks: 1, Threads: 1}.Local(context.Background(), func(ctx context.Context, r dist.Proc) error {
			return compare(r.Device, *python, only, *rounds, *seconds)
		})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "fft:", err)
		os.Exit(1)
	}
}

// compare prints the table.
func compare(d device.Device, python string, only *regexp.Regexp, rounds int, seconds float64) error {
	p, err := start(python)
	if err != nil {
		return err
	}
	defer p.close()
	fmt.Print("Microseconds of one transform, and the time of each peer over that of golops: above 1 golops is faster.\n\n")
	fmt.Print("| type | block | axes | golops µs | SciPy | ducc0 | FFTW |\n|---|---|---|---|---|---|---|\n")
	worst := map[string]float64{}
	for _, c := range problems(seconds) {
		if !only.MatchString(c.String()) {
			continue
		}
		mine, best := math.Inf(1), map[string]float64{}
		f, err := transform(d, c)
		if err != nil {
			return fmt.Errorf("%v: %w", c, err)
		}
		for range rounds {
			mine = min(mine, measure(f, seconds))
			theirs, err := p.ask(c)
			if err != nil {
				return fmt.Errorf("%v: %w", c, err)
			}
			for name, t := range theirs {
				if best[name] == 0 || t < best[name] {
					best[name] = t
				}
			}
		}
		fmt.Printf("| %s | %v | %v | %.4g |", c.DType, c.Dims, c.Axes, 1e6*mine)
		for _, name := range peers {
			if t := best[name]; t > 0 {
				fmt.Printf(" %.2f |", t/mine)
				if worst[name] == 0 || t/mine < worst[name] {
					worst[name] = t / mine
				}
			} else {
				fmt.Print(" |")
			}
		}
		fmt.Println()
	}
	fmt.Printf("\nThe least ratio: SciPy %.2f, ducc0 %.2f, FFTW %.2f.\n", worst["scipy"], worst["ducc0"], worst["fftw"])
	return nil
}

// transform returns the transform of a problem by golops.
func transform(d device.Device, c problem) (func() error, error) {
	switch c.DType {
	case "complex64":
		return complexTransform[complex64](d, c)
	case "complex128":
		return complexTransform[complex128](d, c)
	case "float32":
		return realTransform[complex64, float32](d, c)
	}
	return realTransform[complex128, float64](d, c)
}

func complexTransform[C scalar.Scalar](d device.Device, c problem) (func() error, error) {
	t := &device.DFT{Dims: c.Dims, Axes: c.Axes}
	x, err := filled[C](d, shape.Of(c.Dims...))
	if err != nil {
		return nil, err
	}
	y, err := array.New[C](d, shape.Of(c.Dims...))
	return func() error { return array.FFT(y, x, t, false) }, err
}

func realTransform[C, R scalar.Scalar](d device.Device, c problem) (func() error, error) {
	t := &device.DFT{Dims: c.Dims, Axes: c.Axes, Real: true}
	x, err := filled[R](d, shape.Of(c.Dims...))
	if err != nil {
		return nil, err
	}
	y, err := array.New[C](d, shape.Of(t.Coefficients()...))
	return func() error { return array.RFFT(y, x, t) }, err
}

func filled[T scalar.Scalar](d device.Device, s shape.Shape) (array.Array[T], error) {
	v := make([]T, s.Size())
	for i := range v {
		v[i] = scalar.From[T](complex(math.Sin(float64(i)), math.Cos(float64(3*i))))
	}
	return array.FromHost(d, s, v)
}

// measure returns the best time of one call among groups that together take at least so
// long.
func measure(f func() error, least float64) float64 {
	_ = f()
	best, calls := math.Inf(1), 1
	for spent := 0.0; spent < least; {
		start := time.Now()
		for range calls {
			_ = f()
		}
		took := time.Since(start).Seconds()
		spent += took
		best = min(best, took/float64(calls))
		if took < least/20 {
			calls *= 2
		}
	}
	return best
}

// process is the Python program.
type process struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

func start(python string) (*process, error) {
	cmd := exec.Command(python, "perf/peer/fft/fft.py")
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

// ask returns the seconds of each peer.
func (p *process) ask(c problem) (times map[string]float64, err error) {
	if err := json.NewEncoder(p.in).Encode(c); err != nil {
		return nil, err
	}
	if !p.out.Scan() {
		return nil, fmt.Errorf("the Python program has ended: %w", p.cmd.Wait())
	}
	return times, json.Unmarshal(p.out.Bytes(), &times)
}

func (p *process) close() {
	p.in.Close()
	_ = p.cmd.Wait()
}
