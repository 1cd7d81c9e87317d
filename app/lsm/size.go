package lsm

import (
	"github.com/golops/golops/app"
	"github.com/golops/golops/launch"
)

// checkSize compares the sizes that are known by now with the memory of this machine,
// before memory is allocated. It counts the least that a run needs: the models, and
// the data, of which each rank of MPI has at least one gather.
func (j *Job) checkSize() error {
	c := j.Config
	g := c.Grid
	if c.Velocity.File != "" && j.Velocity == nil {
		g = Grid{NX: 1, NZ: 1} // the file says, and its reader checks
	}
	nodes := float64(g.NX) * float64(g.NZ) * float64(max(g.NY, 1))
	if err := app.Fits(24*nodes, "a grid of %d × %d × %d points (nx × nz × ny)", g.NX, g.NZ, max(g.NY, 1)); err != nil { // velocity, reflectivity, slowness
		return err
	}
	sources, receivers := c.Acquisition.Sources.Number, c.Acquisition.Receivers.Number
	if c.Acquisition.Geometry != "" {
		sources, receivers = max(1, len(j.Sources)), max(1, len(j.Receivers))
	}
	if err := app.Fits(24*(float64(sources)+float64(receivers)), "%d sources and %d receivers", sources, receivers); err != nil { // points
		return err
	}
	if launch.Launched() {
		sources = 1
	}
	size := 8.0
	if c.Operator.Type == "float32" {
		size = 4
	}
	return app.Fits(size*float64(sources)*float64(receivers)*float64(c.Time.Samples), "data of %d sources × %d receivers × %d samples", sources, receivers, c.Time.Samples)
}
