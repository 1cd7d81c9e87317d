// Package app is the kit of applications: an application has its physics and a
// default configuration, and the kit does the rest. It reads a configuration with
// comments and flags over it, refuses bad input in one line before anything is
// computed, starts ranks, times stages, shows progress, saves and resumes, stops
// gracefully, and writes a folder of arrays, pictures and a page that appears whole.
//
// An application is a value of Application, which cmd/golops lists. Its parts:
//
//   - Config: a struct of yaml keys, in sections, that embeds Base. Sections may embed
//     Solver, or have a field of that type. Fields that name files have the tag
//     is:"path". Default returns it from default.yaml, which has a comment on every key.
//   - Prepare: checks the configuration (Faults collects everything that is wrong),
//     reads headers and small files, and returns a Task. Any error is one of the user.
//   - Task.Run: the work of one rank, a program on the front door, package golops. It
//     calls Rank.Stage for each stage, Invert for the inversion, and returns Results:
//     arrays to save, numbers, and pictures.
//
// CONTRIBUTING.md shows the smallest application, which is also the one that this
// package is tested with.
package app

import (
	"context"
	"io"
	"math"
	"strings"

	"github.com/golops/golops"
	"github.com/golops/golops/data"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
)

// Application is a finished program, a command of golops. C is its configuration.
type Application[C any] struct {
	Name    string // of the command, and of the file NAME.yaml in the folder of results
	Title   string // of the page, such as "Least-squares migration"
	Short   string // what it does, in one line
	Help    string // what it does, and commands to try; the kit adds what all applications have in common
	Default string // the default configuration: every key with a comment
	Flags   []Flag // that set keys; Base and a section solver have theirs already
	Files   []File // that it writes beside those of the kit, the most important one first: the image
	// Prepare checks c and what it names, before anything is computed or written. The
	// user can correct every error of it.
	Prepare func(c C) (*Task, error)
}

// Flag is a flag that sets a key of the configuration.
type Flag struct {
	Name   string
	Key    string // such as "velocity.file"
	Usage  string // the word in `quotes` stands for the value; a name such as `v.npy` says which files are meant
	Clears string // a key that the flag sets to zero, because the two exclude each other; may be empty
}

// File is one that an application writes to the folder of results.
type File struct {
	Name string
	Note string // what is in it, for the page; may be empty
}

// Task is a run that has been checked. The ranks of one process share it, and none
// changes it.
type Task struct {
	Config   any      // the configuration, with what Prepare has found out: the page and NAME.yaml show it
	Warnings []string // what is strange but no fault, such as a velocity in other units
	Bytes    float64  // that the arrays of the results take at least
	State    float64  // that a checkpoint takes at least
	// Run is the work of one rank. It is collective. What fails panics as expressions of
	// package golops do: golops.Check and golops.Must panic with any other error. A
	// *ConfigError is an error of the user.
	Run func(r *Rank) *Results
}

// Results are what a Task has found. All ranks return the same, with their parts of the
// arrays.
type Results struct {
	Arrays  []Array  // saved in this order, the image first
	Numbers []Number // for the summary, the page and JSON
	// Pictures draws what was found; it is called on all ranks, after the arrays are
	// saved, and may gather. What rank 0 returns is shown.
	Pictures func() []Picture
}

// Array is an array that is saved to a file of the Application.
type Array struct {
	Name string
	save func(path string) error
}

// Save returns an array to be saved under a name that ends in .npy, or in .tif.
func Save[T golops.Scalar](name string, v golops.Vec[T]) Array {
	save := data.Save[T]
	if strings.HasSuffix(name, ".tif") {
		save = data.SaveTIFF[T]
	}
	return Array{name, func(path string) error { return save(v.World().Context(), path, v.Array()) }}
}

// SaveAs returns an array that save writes to a file of another format. save is
// collective.
func SaveAs(name string, save func(path string) error) Array {
	return Array{name, save}
}

// Gather returns the real part of all elements of a vector on rank 0, for a picture,
// and nil elsewhere. It is collective.
func Gather[T golops.Scalar](v golops.Vec[T]) []float64 {
	return golops.Must(gather(v.World().Context(), v.Array()))
}

func gather[T golops.Scalar](ctx context.Context, a dist.Array[T]) ([]float64, error) {
	all, err := dist.Gather(ctx, a, 0)
	if err != nil || all == nil {
		return nil, err
	}
	v := make([]float64, len(all))
	for i, x := range all {
		v[i] = real(scalar.Complex(x))
	}
	return v, nil
}

// Correlation returns the cosine of the angle between two vectors, NaN if one is zero. It
// is collective.
func Correlation[T golops.Scalar](a, b golops.Vec[T]) float64 {
	red := dist.NewReduction(a.Array().Space(), 3)
	dot, aa, bb := dist.AddDot(red, a.Array(), b.Array()), dist.AddNorm2(red, a.Array()), dist.AddNorm2(red, b.Array())
	golops.Check(red.Do(a.World().Context()))
	return dot.Float() / math.Sqrt(aa.Float()*bb.Float())
}

// Distance returns ‖a - b‖ relative to ‖b‖. It is collective.
func Distance[T golops.Scalar](a, b golops.Vec[T]) float64 { return a.Minus(b).Norm() / b.Norm() }

// Number is a number that sums up the results. NaN means that it is not known: JSON
// has null then, and the summary and the page leave it out.
type Number struct {
	Name   string // such as "model correlation"
	Key    string // in JSON, such as "correlation"
	Value  float64
	Format string // such as "%.3f"
}

// Picture is a picture of the results.
type Picture struct {
	File, Title, Caption string
	PNG                  func(io.Writer) error
}

// ConfigError says what is wrong with a configuration or with the files that it names.
// The user can correct it.
type ConfigError struct{ Err error }

func (e *ConfigError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *ConfigError) Unwrap() error { return e.Err }

// spec is an application without the type of its configuration.
type spec struct {
	name, title, text string
	files             []File // all that a run writes, the most important one first
	names             []string
}

func (a Application[C]) spec() *spec {
	s := &spec{name: a.Name, title: a.Title, text: a.Default}
	s.files = append(s.files, a.Files[0], File{residualsFile, "norms after each iteration"}, File{a.Name + ".yaml", ""})
	s.files = append(append(s.files, a.Files[1:]...), File{"residuals.png", ""}, File{pageFile, ""})
	for _, f := range s.files {
		s.names = append(s.names, f.Name)
	}
	for _, f := range a.Files { // golops view writes pictures beside arrays
		if base, is := strings.CutSuffix(f.Name, ".npy"); is {
			s.names = append(s.names, base+".png")
		}
	}
	return s
}

// image is the most important result. It is written and moved first.
func (s *spec) image() string { return s.files[0].Name }

// The files that the kit writes itself.
const residualsFile, pageFile = "residuals.csv", "report.html"
