package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/cmplx"
	"os"
	"path/filepath"
	"strings"

	"github.com/golops/golops/app"
	"github.com/golops/golops/data"
	"github.com/golops/golops/device"
	"github.com/golops/golops/report"
	"github.com/spf13/cobra"
)

func (a tool) view() *cobra.Command {
	var out, cmap string
	var axis, index int
	var c report.ViewConfig
	var plain bool
	cmd := &cobra.Command{
		Use:   "view FILE.npy...",
		Short: "make pictures of arrays",
		Long: `view draws an array of one, two or three axes as a picture, FILE.png beside it
or that of --out. The last axis goes down, as depth and time do; of three axes
it draws the middle slice, or that of --axis and --index, and reads no more of
the file. Both count from the end if they are negative. Of complex numbers it
draws the magnitude.
  golops view golops-lsm/inverse.npy
  golops view shots.npy --axis 0 --index 3 --map gray --clip 98
  golops view golops-lsm/*.npy`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("golops view needs a file: golops view FILE.npy")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if c.Map, err = report.ParseColorMap(cmap); err != nil {
				return err
			}
			c.Transpose = !plain
			if cmd.Flags().Changed("axis") {
				c.Axis = &axis
			}
			if cmd.Flags().Changed("index") {
				c.Index = &index
			}
			pictures, err := pictureNames(args, out)
			if err != nil {
				return err
			}
			for i, path := range args {
				if err := a.viewOne(cmd.Context(), path, pictures[i], c); err != nil {
					return err
				}
			}
			return nil
		},
	}
	s := cmd.Flags()
	s.SortFlags = false
	s.StringVar(&out, "out", "", "`file.png` to write (default beside the array)")
	s.IntVar(&axis, "axis", 0, "of three axes, the `axis` to cut across")
	s.IntVar(&index, "index", 0, "of the slice on that axis (default the middle)")
	s.StringVar(&cmap, "map", "auto", "colour `map`: "+strings.Join(report.ColorMapNames(), ", "))
	s.Float64Var(&c.Clip, "clip", 0, "`percentile` of values that the colours span (default 99)")
	s.Float64Var(&c.Min, "min", 0, "smallest `value` of the colours")
	s.Float64Var(&c.Max, "max", 0, "largest `value` of the colours")
	s.StringVar(&c.Title, "title", "", "`text` above the picture")
	s.BoolVar(&plain, "no-transpose", false, "the first axis goes down, the last across")
	return cmd
}

// pictureNames returns the file of each array's picture. No picture may replace
// an array or another picture.
func pictureNames(arrays []string, out string) ([]string, error) {
	if out != "" && len(arrays) > 1 {
		return nil, fmt.Errorf("--out is for the picture of one file, there are %d: leave it out, and each picture lies beside its file", len(arrays))
	}
	names := make([]string, len(arrays))
	from := map[string]string{}
	for i, path := range arrays {
		name := out
		if name == "" {
			name = strings.TrimSuffix(path, filepath.Ext(path)) + ".png"
		}
		if format(name) != "png" {
			return nil, fmt.Errorf("--out %s: the name must end in .png, which is what view writes", name)
		}
		if other, taken := from[filepath.Clean(name)]; taken {
			return nil, fmt.Errorf("%s and %s have the same picture, %s: view them one by one with --out", other, path, name)
		}
		from[filepath.Clean(name)] = path
		names[i] = name
	}
	for i, name := range names {
		picture, err := os.Stat(name)
		if err != nil {
			continue // there is nothing to replace
		}
		for _, path := range arrays {
			if array, err := os.Stat(path); err == nil && os.SameFile(array, picture) {
				return nil, fmt.Errorf("the picture of %s would replace the array %s: choose another name with --out", arrays[i], path)
			}
		}
	}
	return names, nil
}

// viewOne draws an array. It makes the picture in memory, so that no unfinished file
// remains when ctx ends.
func (a tool) viewOne(ctx context.Context, path, out string, c report.ViewConfig) error {
	var picture bytes.Buffer
	err := orStop(ctx, func() error {
		info, err := data.Info(path)
		if err != nil {
			return err
		}
		read := data.ReadBlock[float64]
		if info.Scalar().IsComplex() {
			c.Label, read = "magnitude", magnitudes
		}
		return report.View(&picture, info.Shape, func(lo, hi []int) ([]float64, error) {
			if err := checkDrawMemory(lo, hi); err != nil {
				return nil, err
			}
			return read(ctx, path, lo, hi)
		}, c)
	})
	if err != nil {
		return err
	}
	if err := report.Save(out, func(w io.Writer) error { _, err := picture.WriteTo(w); return err }); err != nil {
		return app.Failure{Err: err}
	}
	_, err = fmt.Fprintln(a.Stdout, report.Printable(out))
	return err
}

// checkDrawMemory returns an error if a picture of the values from lo to hi needs more
// host memory than this machine has.
func checkDrawMemory(lo, hi []int) error {
	factors := []int{40} // bytes: a complex value, its magnitude, and two copies to draw and to sort
	for i := range lo {
		factors = append(factors, hi[i]-lo[i])
	}
	if err := device.CheckHostMemory(factors...); err != nil {
		return fmt.Errorf("the array is too large to draw: write a part of it to a file and view that: %w", err)
	}
	return nil
}

// magnitudes is data.ReadBlock of complex elements.
func magnitudes(ctx context.Context, path string, lo, hi []int) ([]float64, error) {
	z, err := data.ReadBlock[complex128](ctx, path, lo, hi)
	if err != nil {
		return nil, err
	}
	v := make([]float64, len(z))
	for i, x := range z {
		v[i] = cmplx.Abs(x)
	}
	return v, nil
}

// orStop returns the error of f. If ctx ends first it returns stopped and does not wait
// for f: the process ends anyway.
func orStop(ctx context.Context, f func() error) error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		if ctx.Err() == nil {
			return err
		}
	case <-ctx.Done():
	}
	return app.Stopped(ctx)
}
