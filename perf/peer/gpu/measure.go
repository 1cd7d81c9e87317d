package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/golops/golops/dist"
)

// measure prints a row for each step of a case.
func (c kase) measure(ctx context.Context, r dist.Proc, o options, w io.Writer) {
	start := time.Now()
	steps, err := c.build(ctx, r)
	if err != nil {
		fmt.Fprintf(w, "| %s | | | failed: %v | | no |\n", c.name, err)
		return
	}
	for _, s := range steps {
		times, err := o.times(ctx, r, s)
		if err != nil {
			fmt.Fprintf(w, "| %s, %s | %g | %g | failed: %v | | no |\n", c.name, s.name, s.peer, s.limit, err)
			continue
		}
		m, holds := median(times), "yes"
		switch {
		case o.shrink > 1:
			holds = "-" // the limit is for another size
		case m > s.limit:
			holds = "no"
		}
		fmt.Fprintf(w, "| %s, %s | %g | %g | %.4g | %.4g | %s |\n", c.name, s.name, s.peer, s.limit, m, slices.Min(times), holds)
		if s.most > 0 {
			rate := s.bytes / (1e-3 * m)
			fmt.Fprintf(w, "<!-- %s, %s: %.0f GB/s, %.0f%% of %.0f GB/s -->\n", c.name, s.name, rate/1e9, 100*rate/s.most, s.most/1e9)
		}
	}
	// Arrays are given back when the collector sees that nobody has them.
	fmt.Fprintf(w, "<!-- %s took %v -->\n", c.name, time.Since(start).Round(time.Millisecond))
}

// longest is how much time one step may take in all.
const longest = 8 * time.Second

// times runs a step until it is warm and then so often, in ms. The device is
// waited for in each.
func (o options) times(ctx context.Context, r dist.Proc, s step) ([]float64, error) {
	once := func() (time.Duration, error) {
		start := time.Now()
		if err := s.run(ctx); err != nil {
			return 0, err
		}
		err := r.Device.Sync(ctx)
		return time.Since(start), err
	}
	if err := r.Device.Sync(ctx); err != nil {
		return nil, err
	}
	begin := time.Now()
	for range 3 {
		if _, err := once(); err != nil {
			return nil, err
		}
	}
	var ms []float64
	for i := range o.rounds {
		if i >= 5 && time.Since(begin) > longest {
			break
		}
		t, err := once()
		if err != nil {
			return nil, err
		}
		ms = append(ms, 1e3*t.Seconds()/float64(s.per))
	}
	return ms, nil
}

func median(x []float64) float64 {
	x = slices.Clone(x)
	slices.Sort(x)
	return x[len(x)/2]
}
