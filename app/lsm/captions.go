package lsm

import (
	"fmt"
	"math"
)

// imagesCaption describes the images of this run.
func (j *Job) imagesCaption(p pictureData, iterations int, reduction float64) string {
	text := "Each image is divided by its own largest amplitudes. The adjoint is the migrated image. "
	switch a, i := correlated(p.adjoint, j.Reflectivity), correlated(p.inverse, j.Reflectivity); {
	case iterations == 0:
		text += "No iteration was made, so the inverse is where it started: zero."
	case j.Reflectivity == nil:
		text += fmt.Sprintf("The inverse leaves %.3g of the data unexplained.", reduction)
	case i > a:
		text += fmt.Sprintf("The inverse is more like the true reflectivity: its correlation with it is %.3f, that of the adjoint %.3f.", i, a)
	default:
		text += fmt.Sprintf("Its correlation with the true reflectivity is %.3f, that of the inverse %.3f.", a, i)
	}
	return text + j.plane()
}

// velocityCaption says how travel times follow from the model that is shown.
func (j *Job) velocityCaption() string {
	c := j.Config
	text := "Travel times are computed through this model."
	switch {
	case c.Operator.Times == "tables":
		text = "Travel times come from files, not from this model."
	case j.straight():
		text = "Travel times are those of straight rays through this velocity."
	case c.Velocity.Smooth > 1:
		text = fmt.Sprintf("Travel times are computed through this model, smoothed over %d points.", c.Velocity.Smooth)
	}
	return text + j.plane()
}

// plane says which section of three dimensions is shown.
func (j *Job) plane() string {
	if j.Grid.Dims() < 3 {
		return ""
	}
	return fmt.Sprintf(" The section is at y = %g m.", j.Grid.Y.At(j.Grid.Y.N/2))
}

// origin says where the data are from.
func (j *Job) origin() string {
	if j.Config.Data.File != "" {
		return "Recorded"
	}
	return "Modelled"
}

// correlated returns the cosine of the angle between two images, NaN if one is zero
// or nil.
func correlated(a, b []float64) float64 {
	var ab, aa, bb float64
	for i := range min(len(a), len(b)) {
		ab, aa, bb = ab+a[i]*b[i], aa+a[i]*a[i], bb+b[i]*b[i]
	}
	return ab / math.Sqrt(aa*bb)
}
