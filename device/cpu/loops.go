package cpu

// The loops of kernels that work element by element. In all of them dst gives
// the length; the reslicing lets the compiler drop the checks of the indices.
// Real factors are for the vector units, as far as there are any. Otherwise steps
// of four leave less to count. Complex elements are walked as flat
// components, two by two: the compiler addresses those directly.

// combine sets dst = a·x + b·y, without reading y if b is 0.
func combine[F float](dst []F, a F, x []F, b F, y []F) {
	switch {
	case b == 0:
		scale(dst, a, x)
	case b == 1:
		scaleAdd(dst, a, x, y)
	case a == 1:
		scaleAdd(dst, b, y, x)
	default:
		n := len(dst)
		x, y = x[:n], y[:n]
		i := combineVector(dst, a, x, b, y)
		for ; i < n-3; i += 4 {
			dst[i] = a*x[i] + b*y[i]
			dst[i+1] = a*x[i+1] + b*y[i+1]
			dst[i+2] = a*x[i+2] + b*y[i+2]
			dst[i+3] = a*x[i+3] + b*y[i+3]
		}
		for ; i < n; i++ {
			dst[i] = a*x[i] + b*y[i]
		}
	}
}

// scaleAdd sets dst = a·x + y.
func scaleAdd[F float](dst []F, a F, x, y []F) {
	n := len(dst)
	x, y = x[:n], y[:n]
	i := scaleAddVector(dst, a, x, y)
	for ; i < n-3; i += 4 {
		dst[i] = a*x[i] + y[i]
		dst[i+1] = a*x[i+1] + y[i+1]
		dst[i+2] = a*x[i+2] + y[i+2]
		dst[i+3] = a*x[i+3] + y[i+3]
	}
	for ; i < n; i++ {
		dst[i] = a*x[i] + y[i]
	}
}

// scale sets dst = a·x.
func scale[F float](dst []F, a F, x []F) {
	n := len(dst)
	x = x[:n]
	if a == 1 {
		copy(dst, x)
		return
	}
	i := scaleVector(dst, a, x)
	for ; i < n-3; i += 4 {
		dst[i] = a * x[i]
		dst[i+1] = a * x[i+1]
		dst[i+2] = a * x[i+2]
		dst[i+3] = a * x[i+3]
	}
	for ; i < n; i++ {
		dst[i] = a * x[i]
	}
}

// combinePairs is combine of complex elements with complex factors.
func combinePairs[F float](dst []F, a pair[F], x []F, b pair[F], y []F) {
	if b == (pair[F]{}) {
		scalePairs(dst, a, x)
		return
	}
	n := len(dst)
	x, y = x[:n], y[:n]
	for i := 0; i < n-1; i += 2 {
		u, v, r, s := x[i], x[i+1], y[i], y[i+1]
		dst[i] = a.re*u - a.im*v + (b.re*r - b.im*s)
		dst[i+1] = a.re*v + a.im*u + (b.re*s + b.im*r)
	}
}

// scalePairs is scale of complex elements with a complex factor.
func scalePairs[F float](dst []F, a pair[F], x []F) {
	n := len(dst)
	x = x[:n]
	for i := 0; i < n-1; i += 2 {
		u, v := x[i], x[i+1]
		dst[i] = a.re*u - a.im*v
		dst[i+1] = a.re*v + a.im*u
	}
}

// mul sets dst = x·y.
func mul[F float](dst, x, y []F) {
	n := len(dst)
	x, y = x[:n], y[:n]
	i := mulVector(dst, x, y)
	for ; i < n-3; i += 4 {
		dst[i] = x[i] * y[i]
		dst[i+1] = x[i+1] * y[i+1]
		dst[i+2] = x[i+2] * y[i+2]
		dst[i+3] = x[i+3] * y[i+3]
	}
	for ; i < n; i++ {
		dst[i] = x[i] * y[i]
	}
}

// mulPairs sets dst = x·y of complex elements, or conj(x)·y.
func mulPairs[F float](dst, x, y []F, conj bool) {
	n := len(dst)
	x, y = x[:n], y[:n]
	if conj {
		for i := 0; i < n-1; i += 2 {
			u, v, r, s := x[i], x[i+1], y[i], y[i+1]
			dst[i] = u*r + v*s
			dst[i+1] = u*s - v*r
		}
		return
	}
	for i := 0; i < n-1; i += 2 {
		u, v, r, s := x[i], x[i+1], y[i], y[i+1]
		dst[i] = u*r - v*s
		dst[i+1] = u*s + v*r
	}
}

// conjPairs sets dst = conj(x).
func conjPairs[F float](dst, x []F) {
	n := len(dst)
	x = x[:n]
	for i := 0; i < n-1; i += 2 {
		dst[i], dst[i+1] = x[i], -x[i+1]
	}
}

// fill sets every element to v.
func fill[T any](dst []T, v T) {
	const first, most = 64, 2048 // what is copied stays in the nearest cache
	n := min(first, len(dst))
	for i := range dst[:n] {
		dst[i] = v
	}
	for n < len(dst) {
		n += copy(dst[n:], dst[:min(n, most)])
	}
}
