package golops

import "github.com/golops/golops/ops/wave"

// Kirchhoff returns Kirchhoff modelling with image and data whole on every rank. It
// is meant for one rank, World.Alone.
func Kirchhoff[T Scalar](w *World, k wave.Kirchhoff) Op[T, T] {
	return Op[T, T]{w, Must(wave.NewKirchhoff[T](w.Context(), w.proc, k)), named("Kirchhoff")}
}

// SourceSplit returns Kirchhoff modelling with the sources spread over the ranks.
// Every rank holds the whole image; the data are split by source.
func SourceSplit[T Scalar](w *World, k wave.Kirchhoff) Op[T, T] {
	return Op[T, T]{w, Must(wave.NewSourceSplit[T](w.Context(), w.proc, k)), named("SourceSplit")}
}

// ModelSplit returns Kirchhoff modelling with the image spread over the ranks along
// its first axis. times makes the travel times for rows lo to hi of the grid. Every
// rank holds all data.
func ModelSplit[T Scalar](w *World, k wave.Kirchhoff, g wave.Grid, times func(lo, hi int) (wave.TravelTimes, error)) Op[T, T] {
	return Op[T, T]{w, Must(wave.NewModelSplit[T](w.Context(), w.proc, k, g, times)), named("ModelSplit")}
}
