package device

import "github.com/golops/golops/scalar"

// Kirchhoff is for devices that spread images along travel times into traces
// and stack traces back. Kernels of T may implement it with tables of F, the
// real type of T.
type Kirchhoff[T scalar.Scalar, F float32 | float64] interface {
	// Spread models traces y from an image x. y has Sources × Receivers × Samples
	// elements. Each image point adds w·(1-d)·x at sample n and w·d·x at sample
	// n+1. n+d is the travel time from the source to the point to the receiver.
	// Samples beyond the last are dropped. Then the traces are convolved with the
	// wavelet.
	Spread(y, x Mem[T], t *TravelTables[F])
	// Stack is the adjoint of Spread: x at each image point is the weighted sum
	// of all traces, correlated with the wavelet, at its travel times.
	Stack(x, y Mem[T], t *TravelTables[F])
}

// TravelTables are the travel times and weights of a Kirchhoff operator: one row
// over the image points for each source and each receiver. The weight of a source
// and a receiver at a point is Aperture·Σₖ SrcW[k]·RecW[k], and 1 without tables.
// Times are not negative.
type TravelTables[F float32 | float64] struct {
	Sources, Receivers, Points, Samples int
	Src, Rec                            []F    // travel times in samples; Sources × Points, Receivers × Points
	SrcW, RecW                          [2][]F // factors of the weight; both pairs, or none
	Depths                              int    // points along the last axis of the image
	Aperture                            []F    // Sources × Receivers × Depths; nil means 1
	Wavelet                             []F    // nil means a spike
	Centre                              int    // the sample of Wavelet at time zero
	Cache                               DeviceCache
}

// Spread models traces y from an image x; see Kirchhoff.
func Spread[T scalar.Scalar, F float32 | float64](k Kernels[T], y, x Mem[T], t *TravelTables[F]) error {
	if f, ok := k.(Kirchhoff[T, F]); ok {
		f.Spread(y, x, t)
		return nil
	}
	return lacks[T]("Spread")
}

// Stack is the adjoint of Spread; see Kirchhoff.
func Stack[T scalar.Scalar, F float32 | float64](k Kernels[T], x, y Mem[T], t *TravelTables[F]) error {
	if f, ok := k.(Kirchhoff[T, F]); ok {
		f.Stack(x, y, t)
		return nil
	}
	return lacks[T]("Stack")
}
