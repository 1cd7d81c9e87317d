package app_test

import (
	"fmt"

	"github.com/golops/golops"
	"github.com/golops/golops/app"
	"github.com/golops/golops/data"
	"github.com/golops/golops/report"
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
	run := func(r *app.Rank) *app.Results { return unblur(r, c, dims) }
	return &app.Task{Config: c, Bytes: 2 * n, State: 3 * n, Run: run}, nil
}

func unblur(r *app.Rank, c Config, dims []int) *app.Results {
	var blurred golops.Vec[float64]
	X := r.Real(dims...)
	blur := golops.Smoothing2D(X, [2]int{0, 1}, [2]int{c.Width, c.Width})
	r.Stage("data", func() {
		if c.File == "" {
			blurred = blur.Apply(X.Func(func(i []int) float64 { return float64((i[0]/9 + i[1]/13) % 2) }))
			return
		}
		var err error
		blurred, err = X.Load(c.File)
		r.Unusable(c.File, err)
	})
	picture := func(title string, v []float64) report.Picture {
		return report.Picture{Title: title, Data: report.Grid{Rows: dims[0], Cols: dims[1], At: func(i, k int) float64 { return v[i*dims[1]+k] }}, Map: report.Gray}
	}
	r.Live = func(x []float64) report.Picture { return picture("So far", x) }
	sharp := X.Zero()
	app.Invert(r, c.Solver, app.Method[float64, float64](c.Solver.Method), blur, blurred, sharp)
	return &app.Results{
		Arrays:  []app.Array{app.Save("sharp.npy", sharp), app.Save("blurred.npy", blurred)},
		Numbers: []app.Number{{Name: "mean size", Key: "mean", Value: sharp.NormP(1) / float64(X.Size()), Format: "%.3f"}},
		Pictures: func() []app.Picture {
			before, after := app.Gather(blurred), app.Gather(sharp)
			if r.Rank() != 0 {
				return nil
			}
			both := report.Panels{Pictures: []report.Picture{picture("Blurred", before), picture("Sharp", after)}}
			return []app.Picture{{File: "pictures.png", Title: "Pictures", Caption: "What was given, and what it was.", PNG: both.PNG}}
		},
	}
}
