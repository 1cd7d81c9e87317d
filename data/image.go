package data

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
)

// InfoImage returns the shape of a real image, or of a stack of images, in a .npy or .tif
// file.
func InfoImage(path string) ([]int, error) {
	switch {
	case isTIFF(path):
		t, err := InfoTIFF(path)
		return t.Shape(), err
	case strings.EqualFold(filepath.Ext(path), ".npy"):
		h, err := Info(path)
		if err == nil && h.Scalar().IsComplex() {
			err = fmt.Errorf("data: look into %s: it has complex numbers, %s: give real ones", path, h.DType)
		}
		return h.Shape, err
	}
	return nil, fmt.Errorf("data: look into %s: an image is a file .npy or .tif", path)
}

// LoadImage is Load or LoadTIFF, as the name of the file says.
func LoadImage[T scalar.Scalar](ctx context.Context, path string, s *dist.Space) (dist.Array[T], error) {
	if isTIFF(path) {
		return LoadTIFF[T](ctx, path, s)
	}
	return Load[T](ctx, path, s)
}

// isTIFF reports whether a file is TIFF, by its name.
func isTIFF(path string) bool {
	ext := strings.ToLower(filepath.Ext(path))
	return ext == ".tif" || ext == ".tiff"
}
