// Package ct is X-ray tomography: from a sinogram to an image of what absorbs, by
// filtered back-projection and by inversions that do better where views are few.
package ct

import (
	_ "embed"

	"github.com/golops/golops/app"
)

// DefaultText is the default configuration, with a comment on every key.
//
//go:embed default.yaml
var DefaultText string

// App returns the application golops ct.
func App() app.Application[Config] {
	return app.Application[Config]{
		Name: "ct", Title: "Tomography", Short: "tomography: from a sinogram to an image of what absorbs X-rays",
		Help: `ct inverts a sinogram, which is what the detectors of a tomograph have measured
in each view. Without flags it makes one of a head, with noise and few views, and
inverts it. With a sinogram and angles it inverts yours:
  golops ct
  golops ct --beam fan --method nonnegative
  golops ct --data sinogram.npy --angles angles.txt --size 512
  mpirun -n 4 golops ct --config scan.yaml --checkpoint state`,
		Default: DefaultText,
		Flags: []app.Flag{
			{Name: "data", Key: "data.file", Usage: "the sinogram, `sinogram.npy` or .tif of shape views × detectors"},
			{Name: "angles", Key: "data.angles", Usage: "angles of the views in degrees, `angles.txt` or .npy"},
			{Name: "turn", Key: "data.turn", Usage: "`degrees` that views in even steps cover"},
			{Name: "views", Key: "data.views", Usage: "`views` of the built-in example"},
			{Name: "noise", Key: "data.noise", Usage: "`noise` of the built-in example, relative to the largest value"},
			{Name: "beam", Key: "geometry.beam", Usage: "`rays`: parallel, fan"},
			{Name: "spacing", Key: "geometry.spacing", Usage: "`length` between two detectors"},
			{Name: "shift", Key: "geometry.shift", Usage: "`length` by which the detectors are off the axis"},
			{Name: "source", Key: "geometry.source", Usage: "`length` from the axis to the source of a fan"},
			{Name: "detector", Key: "geometry.detector", Usage: "`length` from the axis to the detectors of a fan"},
			{Name: "size", Key: "image.size", Usage: "`pixels` along each side of the image"},
			{Name: "pixel", Key: "image.pixel", Usage: "`length` of the side of a pixel"},
			{Name: "filter", Key: "image.filter", Usage: "`filter` of back-projection: ramp, hann"},
			{Name: "type", Key: "image.type", Usage: "element `type`: float32, float64"},
			{Name: "weight", Key: "solver.weight", Usage: "`weight` of the total variation"},
		},
		Files: []app.File{
			{Name: "image.npy", Note: "the image"}, {Name: "image.tif", Note: "the same, for viewers"},
			{Name: "fbp.npy", Note: "filtered back-projection"}, {Name: "sinogram.npy", Note: "data, views × detectors"},
			{Name: "truth.npy", Note: "the head of the example"}, {Name: "images.png"}, {Name: "sinogram.png"},
		},
		Prepare: Prepare,
	}
}

// Config is the configuration of a run; default.yaml says what each key means. Paths are
// relative to the current folder.
type Config struct {
	Data struct {
		File   string  `yaml:"file" is:"path"`
		Angles string  `yaml:"angles" is:"path"`
		Turn   float64 `yaml:"turn"`
		Views  int     `yaml:"views"`
		Noise  float64 `yaml:"noise"`
	} `yaml:"data"`
	Geometry struct {
		Beam     string  `yaml:"beam"`
		Spacing  float64 `yaml:"spacing"`
		Shift    float64 `yaml:"shift"`
		Source   float64 `yaml:"source"`
		Detector float64 `yaml:"detector"`
	} `yaml:"geometry"`
	Image struct {
		Size   int     `yaml:"size"`
		Pixel  float64 `yaml:"pixel"`
		Filter string  `yaml:"filter"`
		Type   string  `yaml:"type"`
	} `yaml:"image"`
	Solver struct {
		app.Solver `yaml:",inline"`
		Weight     float64 `yaml:"weight"`
	} `yaml:"solver"`
	app.Base
}
