package device

import "github.com/golops/golops/scalar"

// Kirchhoff is for devices that spread images along travel times into traces
// and stack traces back. Kernels of T may implement it with tables of F, the
// real type of T.
type Kirchhoff[T scalar.Scalar, F float32 | float64] interface {
	// Spread sets y, of Sources × Receivers × Samples, to the sum over image
	// points of w·((1-d)·x at sample n, d·x at n+1), where n+d is the travel time
	// from the source to the point to the receiver. What falls beyond the
	// last sample is left out.
	Spread(y, x Mem[T], t *TravelTables[F])
	// Stack is the adjoint of Spread: x at each image point is the weighted sum
	// of all traces at its travel times.
	Stack(x, y Mem[T], t *TravelTables[F])
}

// TravelTables is what Kirchhoff operators know of the way: for each source and each
// receiver a table over the image points. The weight of a pair at a point is
// Σₖ SrcW[k]·RecW[k] over the tables given, times Aperture; without tables it is 1.
type TravelTables[F float32 | float64] struct {
	Sources, Receivers, Points, Samples int
	Src, Rec                            []F    // travel times in samples; Sources × Points, Receivers × Points
	SrcW, RecW                          [2][]F // factors of the weight; both pairs, or none
	Depths                              int    // points along the last axis of the image
	Aperture                            []F    // Sources × Receivers × Depths; nil means 1
	Cache                                DeviceCache
}
