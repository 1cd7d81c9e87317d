package perf

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/cost"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/launch"
)

// The fit predicts the times of a link, although it sees them with noise, and some of them
// far off.
func TestFitLink(t *testing.T) {
	seed := rand.Uint64()
	rnd := rand.New(rand.NewPCG(seed, 0))
	for range 50 {
		want := cost.Link{Latency: math.Pow(10, -4-3*rnd.Float64()), Overhead: math.Pow(10, -6-2*rnd.Float64()), Bandwidth: math.Pow(10, 8+2*rnd.Float64())}
		var points []RooflinePoint
		var times []float64
		d := RooflineDefaults()
		for _, size := range d.Sizes {
			for _, n := range d.Counts {
				s := want.Latency + float64(n)*want.Overhead + float64(n)*float64(size)/want.Bandwidth
				times = append(times, s)
				s *= 1 + 0.05*rnd.NormFloat64()
				if rnd.IntN(12) == 0 {
					s *= 10
				}
				points = append(points, RooflinePoint{Size: size, Messages: n, Seconds: s})
			}
		}
		f, err := fitLink(Messages, points)
		if err != nil || f.Median > 0.1 {
			t.Errorf("seed %d: got %+v, %v, want %+v", seed, f, err, want)
		}
		for i, p := range points {
			got := predict([3]float64{f.Link.Latency, f.Link.Overhead, 1 / f.Link.Bandwidth}, p)
			if math.Abs(got/times[i]-1) > 0.2 {
				t.Errorf("seed %d: %d messages of %d bytes take %v s, want %v: got %+v, want %+v", seed, p.Messages, p.Size, got, times[i], f, want)
			}
		}
	}
	exact := []RooflinePoint{{Size: 8, Messages: 1, Seconds: 1e-6}, {Size: 8, Messages: 10, Seconds: 1e-6}, {Size: 1e6, Messages: 1, Seconds: 1.001e-3}}
	if f, err := fitLink(OneSided, exact); err != nil || f.Link.Overhead > 1e-10 || f.Worst > 0.05 {
		t.Errorf("without overhead: %+v, %v", f, err)
	}
	if _, err := fitLink(Messages, exact[:2]); err == nil {
		t.Error("two points are no link")
	}
	small := []RooflinePoint{{Size: 1, Messages: 1, Seconds: 3e-6}, {Size: 2, Messages: 1, Seconds: 2e-6}, {Size: 3, Messages: 1, Seconds: 1e-6}}
	if f, err := fitLink(Messages, small); err != nil || f.Link.Bandwidth != 3e6 {
		t.Errorf("times that do not grow with sizes: %+v, %v", f, err)
	}
}

func quickRoof(ranks int) RooflineConfig {
	c := RooflineDefaults()
	c.Ranks, c.Sizes, c.Counts, c.Rounds, c.LoopTime, c.Memory, c.Threads = ranks, []int64{8, 512, 65536}, []int{1, 10}, 1, time.Microsecond, 1<<20, 1
	return c
}

// smallRates makes the measurements of rates short.
func smallRates(t *testing.T) {
	block, rows, lines, shrink := copyBlock, gemmRows, fftLines, surveyShrink
	t.Cleanup(func() { copyBlock, gemmRows, fftLines, surveyShrink = block, rows, lines, shrink })
	copyBlock, gemmRows, fftLines, surveyShrink = [3]int{16, 16, 16}, 16, 1, 16
}

func TestMeasureRoofline(t *testing.T) {
	smallRates(t)
	for _, ranks := range []int{2, 3} {
		for nodes := 1; nodes < 3; nodes++ {
			cfg := quickRoof(ranks)
			cfg.host = func(rank int) string { return fmt.Sprint("node", rank*nodes/ranks) }
			roof, rank, err := MeasureRoofline(t.Context(), cfg)
			if err != nil || rank != 0 || roof.Ranks != ranks || len(roof.Points) != 6*(1+nodes) || len(roof.Fits) != 1+nodes {
				t.Fatalf("%d ranks: %+v, %v", ranks, roof, err)
			}
			m := roof.Machine
			if m.Nodes != nodes || m.OneSided.Bandwidth == 0 || (m.Network.Bandwidth > 0) != (nodes > 1) || len(m.Gemm) != 4 || len(m.Pairs) != 2 || m.Host != "node0" || m.Date.IsZero() || m.FFT == 0 {
				t.Errorf("%d ranks on %d nodes: machine %+v", ranks, nodes, m)
			}
			var file bytes.Buffer
			if err := m.Write(&file); err != nil {
				t.Fatal(err)
			}
			if _, err := cost.Read(&file); err != nil {
				t.Error(err)
			}
			var out strings.Builder
			text := NewText(&out, sampleMachine)
			text.Roofline(roof)
			for _, want := range []string{"# messages: GB/s", "# onesided: GB/s", "median error", "gemm of complex64", "FFT"} {
				if !strings.Contains(out.String(), want) {
					t.Errorf("no %q in\n%s", want, &out)
				}
			}
			if err := PlotRoofline(&file, PlotFormats[nodes-1], sampleMachine, roof); err != nil {
				t.Error(err)
			}
		}
	}
}

// Without windows there are messages only. Points for which there is no time are left out.
func TestRooflineWithout(t *testing.T) {
	smallRates(t)
	cfg := quickRoof(2)
	err := launch.Config{Ranks: 2}.Local(t.Context(), func(ctx context.Context, r dist.Proc) error {
		r.Comm = comm.New(windowless{r.Comm.Conn()})
		m := &roofer{cfg: cfg, r: r}
		if err := m.measure(ctx); err != nil {
			return err
		}
		if len(m.roof.Fits) != 1 || m.roof.Missing[OneSided] == "" || m.roof.Machine.OneSided != (cost.Link{}) {
			return fmt.Errorf("got %+v", m.roof)
		}
		m = &roofer{cfg: cfg, r: r, spent: 3 * cfg.Budget.Seconds()}
		if err := m.measure(ctx); err == nil || m.roof.Skipped != 6 {
			return fmt.Errorf("without time: %d skipped, %w", m.roof.Skipped, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestRooflineRefuses(t *testing.T) {
	for want, change := range map[string]func(*RooflineConfig){
		"1 rank: messages need 2": func(c *RooflineConfig) { c.Ranks = 1 },
		"size 0":                  func(c *RooflineConfig) { c.Sizes = []int64{0} },
		"size 2097152":            func(c *RooflineConfig) { c.Sizes = []int64{2 << 20} },
		"0 messages between":      func(c *RooflineConfig) { c.Counts = []int{0} },
		"no size":                 func(c *RooflineConfig) { c.Counts = nil },
		"in 0s":                   func(c *RooflineConfig) { c.Budget = 0 },
		"lower the ranks":         func(c *RooflineConfig) { c.Ranks, c.Memory = 1000, 1<<40 },
	} {
		c := quickRoof(2)
		change(&c)
		_, _, err := MeasureRoofline(t.Context(), c)
		var config *ConfigError
		if !errors.As(err, &config) || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
