package app_test

import (
	"context"
	"fmt"

	"github.com/golops/golops/app"
	"github.com/golops/golops/data"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/report"
	"github.com/golops/golops/solve"
)

// The smallest application, golops unblur, which sharpens a picture. CONTRIBUTING.md
// explains it.

type Config struct {
	File   string     `yaml:"file" is:"path"`
	Size   int        `yaml:"size"`
	Width  int        `yaml:"width"`
	Solver app.Solver `yaml:"solver"`
	app.Base
}

const defaultText = `# Parameters of golops unblur.

file: ""               # .npy of two axes, a picture that is blurred; "" means a built-in one
size: 64               # points along each axis of the built-in one
width: 5               # points of the blur, odd

solver:
  method: cgls         # cgls, cgls-one-message, lsqr
  iterations: 50
  tolerance: 1e-4      # of the residual relative to the data
  damp: 0

checkpoint:
  dir: ""              # "" means none
  every: 10            # iterations between two; 0 means by time only
  seconds: 0           # between two; 0 means by iterations only
  resume: false        # go on from the newest one

out: golops-unblur     # folder for results
`

func App() app.Application[Config] {
	return app.Application[Config]{
		Name: "unblur", Title: "A sharper picture", Short: "sharpen a picture", Help: "unblur sharpens a picture:\n  golops unblur --picture moon.npy",
		Default: defaultText,
		Flags:   []app.Flag{{Name: "picture", Key: "file", Usage: "the blurred picture, `p.npy`"}},
		Files:   []app.File{{Name: "sharp.npy", Note: "the picture"}, {Name: "blurred.npy", Note: "what was given"}, {Name: "pictures.png"}},
		Prepare: Prepare,
	}
}

func Prepare(c Config) (*app.Task, error) {
	var f app.Faults
	f.AtLeast("size", c.Size, 2)
	if c.Width < 1 || c.Width%2 == 0 {
		f.Add("width is %d, must be odd and positive", c.Width)
	}
	f.Solver(c.Solver)
	f.Base(c)
	if err := f.Err(); err != nil {
		return nil, err
	}
	dims := []int{c.Size, c.Size}
	if c.File != "" {
		info, err := data.Info(c.File)
		if err != nil {
			return nil, err
		}
		if dims = info.Shape; len(dims) != 2 {
			return nil, fmt.Errorf("%s has shape %v: a picture has two axes", app.Shown(c.File), dims)
		}
	}
	n := 8 * float64(dims[0]) * float64(dims[1]) // bytes of a picture
	if err := app.Fits(4*n, "pictures of %d × %d points", dims[0], dims[1]); err != nil {
		return nil, err
	}
	run := func(ctx context.Context, r *app.Rank) (*app.Results, error) { return unblur(ctx, r, c, dims) }
	return &app.Task{Config: c, Bytes: 2 * n, State: 3 * n, Run: run}, nil
}

func unblur(ctx context.Context, r *app.Rank, c Config, dims []int) (*app.Results, error) {
	var sharp, blurred dist.Array[float64]
	space, err := dist.NewSpace(ctx, r.Proc, dist.Layout{}, dims...)
	if err != nil {
		return nil, err
	}
	blur, err := ops.Smoothing2D[float64](ctx, space, [2]int{0, 1}, [2]int{c.Width, c.Width})
	if err != nil {
		return nil, err
	}
	err = r.Stage(ctx, "data", func() (err error) {
		if c.File != "" {
			blurred, err = data.Load[float64](ctx, c.File, space)
			return r.Unusable(ctx, c.File, err)
		}
		if sharp, err = dist.FromFunc(ctx, space, func(i []int) float64 { return float64((i[0]/9 + i[1]/13) % 2) }); err != nil {
			return err
		}
		if blurred, err = dist.New[float64](space); err != nil {
			return err
		}
		return blur.Forward(ctx, blurred, sharp)
	})
	if err != nil {
		return nil, err
	}
	if sharp, err = dist.New[float64](space); err != nil {
		return nil, err
	}
	picture := func(title string, v []float64) report.Picture {
		return report.Picture{Title: title, Data: report.Grid{Rows: dims[0], Cols: dims[1], At: func(i, k int) float64 { return v[i*dims[1]+k] }}, Map: report.Gray}
	}
	r.Live = func(x []float64) report.Picture { return picture("So far", x) }
	err = app.Invert(ctx, r, c.Solver, app.Method[float64, float64](c.Solver.Method), solve.Problem[float64, float64]{A: blur, B: blurred}, sharp)
	if err != nil {
		return nil, err
	}
	sum, err := dist.Norm(ctx, sharp, 1)
	if err != nil {
		return nil, err
	}
	return &app.Results{
		Arrays:  []app.Array{app.Save("sharp.npy", sharp), app.Save("blurred.npy", blurred)},
		Numbers: []app.Number{{Name: "mean size", Key: "mean", Value: sum / float64(dims[0]*dims[1]), Format: "%.3f"}},
		Pictures: func(ctx context.Context) ([]app.Picture, error) {
			before, err := app.Gather(ctx, blurred)
			if err != nil {
				return nil, err
			}
			after, err := app.Gather(ctx, sharp)
			if err != nil || r.Rank() != 0 {
				return nil, err
			}
			both := report.Panels{Pictures: []report.Picture{picture("Blurred", before), picture("Sharp", after)}}
			return []app.Picture{{File: "pictures.png", Title: "Pictures", Caption: "What was given, and what it was.", PNG: both.PNG}}, nil
		},
	}, nil
}
