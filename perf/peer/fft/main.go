// Command fft compares Fourier transforms of the host with SciPy, ducc0 and FFTW, one
// thread each. golops takes part three times: without FFTW, with FFTW where it is known
// to be faster, and with FFTW where a trial says so. All take turns, because machines are noisy: only ratios of times taken
// side by side mean anything. With -split it compares transforms of a block that is split
// over ranks with FFTW-MPI and mpi4py-fft. `make compare` runs both.
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

// peers are those that golops is compared with.
var peers = []string{"scipy", "ducc0", "fftw"}

// modes are golops' own, as GOLOPS_FFTW has them.
var modes = []string{"off", "", "measure"}

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
	split := flag.Bool("split", false, "compare transforms over ranks, with FFTW-MPI and mpi4py-fft")
	child := flag.Bool("child", false, "be golops among those; for this program itself")
	var o splitOptions
	flag.IntVar(&o.n, "n", 0, "extent of the block over ranks; 0 means 128, then 256")
	flag.IntVar(&o.ranks, "ranks", 2, "number of ranks")
	flag.IntVar(&o.calls, "calls", 10, "transforms per run over ranks")
	flag.BoolVar(&o.transposed, "transposed", false, "golops leaves the result transposed, if it is the child")
	flag.StringVar(&o.mpirun, "mpirun", "mpirun.openmpi", "launcher of the Open MPI that FFTW-MPI runs on")
	flag.StringVar(&o.mpicc, "mpicc", "mpicc.openmpi", "its C compiler")
	flag.StringVar(&o.build, "build", "build", "folder for the C program")
	flag.Parse()
	o.rounds, o.python = *rounds, *python
	only, err := regexp.Compile(*run)
	switch {
	case err != nil:
	case *child:
		err = serve(context.Background(), o)
	case *split && o.n > 0:
		err = compareSplit(o, []int{o.n})
	case *split:
		err = compareSplit(o, []int{128, 256})
	default:
		err = onDevices(context.Background(), nil, func(d []device.Device) error { return compare(d, *python, only, *rounds, *seconds) })
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "fft:", err)
		os.Exit(1)
	}
}

// onDevices runs f with a device for each mode.
func onDevices(ctx context.Context, have []device.Device, f func([]device.Device) error) error {
	if len(have) == len(modes) {
		return f(have)
	}
	if err := os.Setenv("GOLOPS_FFTW", modes[len(have)]); err != nil {
		return err
	}
	return launch.Config{Ranks: 1, Threads: 1}.Local(ctx, func(ctx context.Context, r dist.Proc) error {
		return onDevices(ctx, append(have, r.Device), f)
	})
}

// compare prints the table.
func compare(devices []device.Device, python string, only *regexp.Regexp, rounds int, seconds float64) error {
	p, err := start(python)
	if err != nil {
		return err
	}
	defer p.close()
	fmt.Print("Microseconds of one transform, and the time of each peer over that of golops: above 1 golops is faster. golops is alone,\n")
	fmt.Print("uses FFTW where it is known to be faster (FFTW/auto), and where a trial says so (FFTW/measure).\n\n")
	fmt.Print("| type | block | axes | golops µs | SciPy | ducc0 | FFTW | FFTW/auto | FFTW/measure |\n|---|---|---|---|---|---|---|---|---|\n")
	worst := [5]float64{}
	for _, c := range problems(seconds) {
		if !only.MatchString(c.String()) {
			continue
		}
		mine, theirs, err := inTurns(devices, p, c, rounds)
		if err != nil {
			return fmt.Errorf("%v: %w", c, err)
		}
		fmt.Printf("| %s | %v | %v | %.4g |", c.DType, c.Dims, c.Axes, 1e6*mine[0])
		for i, t := range [...]float64{theirs[0] / mine[0], theirs[1] / mine[0], theirs[2] / mine[0], theirs[2] / mine[1], theirs[2] / mine[2]} {
			if math.IsInf(t, 0) { // the peer is not installed
				fmt.Print(" |")
				continue
			}
			fmt.Printf(" %.2f |", t)
			if worst[i] == 0 || t < worst[i] {
				worst[i] = t
			}
		}
		fmt.Println()
	}
	fmt.Printf("\nThe least ratio: SciPy %.2f, ducc0 %.2f, FFTW %.2f, FFTW/auto %.2f, FFTW/measure %.2f.\n", worst[0], worst[1], worst[2], worst[3], worst[4])
	return nil
}

// inTurns returns the best seconds of golops on each device, and of each peer.
func inTurns(devices []device.Device, p *process, c problem, rounds int) (mine, theirs [3]float64, err error) {
	var run [3]func() error
	for i, d := range devices {
		mine[i], theirs[i] = math.Inf(1), math.Inf(1)
		if run[i], err = transform(d, c); err != nil {
			return mine, theirs, err
		}
	}
	for range rounds {
		for i, f := range run {
			mine[i] = min(mine[i], measure(f, c.Seconds))
		}
		times, err := p.ask(c)
		if err != nil {
			return mine, theirs, err
		}
		for i, name := range peers {
			if t, ok := times[name]; ok {
				theirs[i] = min(theirs[i], t)
			}
		}
	}
	return mine, theirs, nil
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
