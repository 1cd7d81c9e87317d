package data_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/golops/golops/data"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/launch"
)

func ExampleLoad() {
	dir, _ := os.MkdirTemp("", "golops")
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "velocity.npy")
	data.WriteNPY(path, []int{4, 2}, []float32{1, 2, 3, 4, 5, 6, 7, 8})

	launch.Config{Ranks: 2}.Local(context.Background(), func(ctx context.Context, r dist.Proc) error {
		s, _ := dist.NewSpace(ctx, r, dist.Split(0), 4, 2)
		a, err := data.Load[float32](ctx, path, s)
		if r.Rank() == 1 {
			fmt.Println(a.Local().Mem().Host, err)
		}
		return err
	})
	// Output: [5 6 7 8] <nil>
}

func ExampleOpenSEGY() {
	s, _ := data.OpenSEGY("testdata/ibm.segy")
	defer s.Close()
	fmt.Println(s.NumTraces(), "traces of", s.NumSamples(), "samples")

	trace := make([]float32, s.NumSamples())
	s.Trace(2, trace)
	x, y, _ := s.Coordinates(2, data.SourceX, data.SourceY)
	fmt.Println(trace[:3], "from a source at", x, y)
	// Output:
	// 6 traces of 25 samples
	// [-4.5 -4.125 -3.75] from a source at 370.35 -1
}
