package data

import (
	"context"
	"strings"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
)

// VolumeFile is a file with a volume of traces: a .npy file, or SEG-Y whose traces fill a
// grid. The samples of a trace are the last axis of its arrays.
type VolumeFile struct {
	Path     string
	Words    []Word // of SEG-Y: one for each axis before the samples; nil of .npy
	Shape    []int
	Interval float64 // seconds between samples; 0 of .npy, which does not say
}

// IsSEGY reports whether a file is SEG-Y, by its name.
func IsSEGY(path string) bool {
	p := strings.ToLower(path)
	return strings.HasSuffix(p, ".segy") || strings.HasSuffix(p, ".sgy")
}

// OpenVolumeFile reads the headers of a file. The words are for SEG-Y only, as in
// OpenVolume.
func OpenVolumeFile(path string, words ...Word) (VolumeFile, error) {
	f := VolumeFile{Path: path}
	if !IsSEGY(path) {
		h, err := Info(path)
		f.Shape = h.Shape
		return f, err
	}
	v, err := OpenVolume(path, words...)
	if err != nil {
		return f, err
	}
	defer v.Close()
	f.Words, f.Shape, f.Interval = words, v.Shape(), 1e-6*float64(v.Interval())
	return f, nil
}

// LoadVolumeFile returns the samples of a volume, whose shape must be that of the space. A
// sample that is NaN or infinite is an error. It is collective: every rank reads its own
// part of the file only. If a rank fails, all ranks return an error that names it.
func LoadVolumeFile[T scalar.Scalar](ctx context.Context, f VolumeFile, s *dist.Space) (a dist.Array[T], err error) {
	if f.Words == nil {
		a, err = Load[T](ctx, f.Path, s)
	} else {
		err = f.opened(ctx, s, func(v *Volume) (err error) { a, err = LoadVolume[T](ctx, v, s); return err })
	}
	if err != nil {
		return a, err
	}
	host, err := a.Host()
	if err == nil {
		err = finite(s, host, "sample")
	}
	return a, dist.Agree(ctx, s.Comm(), "data: load "+f.Path, err)
}

// SaveVolumeFile writes an array to a file: SEG-Y with all headers of f where the name of
// path says so, .npy otherwise. It is collective.
func SaveVolumeFile[T scalar.Scalar](ctx context.Context, path string, f VolumeFile, a dist.Array[T]) error {
	if !IsSEGY(path) {
		return Save(ctx, path, a)
	}
	return f.opened(ctx, a.Space(), func(v *Volume) error { return SaveVolume(ctx, path, v, a) })
}

// opened calls use with the file open on every rank.
func (f VolumeFile) opened(ctx context.Context, s *dist.Space, use func(v *Volume) error) error {
	v, err := OpenVolume(f.Path, f.Words...)
	if err := dist.Agree(ctx, s.Comm(), "data: open a volume", err); err != nil {
		return err
	}
	defer v.Close()
	return use(v)
}
