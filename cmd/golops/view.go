package main

import (
	"errors"
	"fmt"
	"io"
	"math/cmplx"
	"path/filepath"
	"strings"

	"github.com/golops/golops/data"
	"github.com/golops/golops/report"
	"github.com/spf13/cobra"
)

func (a app) view() *cobra.Command {
	var out, cmap, title string
	var axis, index int
	var clip, lo, hi float64
	var plain bool
	cmd := &cobra.Command{
		Use:   "view FILE.npy",
		Short: "make a picture of an array",
		Long: `view draws an array of one, two or three axes as a picture, FILE.png beside it
or that of --out. The last axis goes down, as depth and time do; of three axes
it draws the middle slice, or that of --axis and --index. Of complex numbers it
draws the magnitude.
  golops view golops-lsm/inverse.npy
  golops view shots.npy --axis 0 --index 3 --map gray --clip 98`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dims, at, err := readAny(args[0])
			if err != nil {
				return err
			}
			m, err := report.ParseColorMap(cmap)
			if err != nil {
				return err
			}
			c := report.ViewConfig{Title: title, Axis: axis, Map: m, Clip: clip, Min: lo, Max: hi, Transpose: !plain}
			if cmd.Flags().Changed("index") {
				c.Index = &index
			}
			if out == "" {
				out = strings.TrimSuffix(args[0], filepath.Ext(args[0])) + ".png"
			}
			if err := report.Save(out, func(w io.Writer) error { return report.View(w, dims, at, c) }); err != nil {
				return err
			}
			fmt.Fprintln(a.stdout, report.Printable(out))
			return nil
		},
	}
	s := cmd.Flags()
	s.SortFlags = false
	s.StringVar(&out, "out", "", "`file.png` to write (default beside the array)")
	s.IntVar(&axis, "axis", 0, "of three axes, the `axis` to cut across")
	s.IntVar(&index, "index", 0, "of the slice on that axis (default the middle)")
	s.StringVar(&cmap, "map", "auto", "colour `map`: "+strings.Join(report.ColorMapNames(), ", "))
	s.Float64Var(&clip, "clip", 0, "`percentile` of values that the colours span (default 99)")
	s.Float64Var(&lo, "min", 0, "smallest `value` of the colours")
	s.Float64Var(&hi, "max", 0, "largest `value` of the colours")
	s.StringVar(&title, "title", "", "`text` above the picture")
	s.BoolVar(&plain, "no-transpose", false, "the first axis goes down, the last across")
	return cmd
}

// readAny reads an array of any element type that can be drawn.
func readAny(path string) (dims []int, at func(i int) float64, err error) {
	info, err := data.Info(path)
	if err != nil {
		return nil, nil, err
	}
	if info.Scalar().IsComplex() {
		dims, v, err := data.ReadNPY[complex128](path)
		return dims, func(i int) float64 { return cmplx.Abs(v[i]) }, err
	}
	dims, v, err := data.ReadNPY[float64](path)
	if err == nil && len(v) == 0 {
		err = errors.New(path + " has no elements")
	}
	return dims, func(i int) float64 { return v[i] }, err
}
