package ops

import (
	"context"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// Zero returns y = 0 for every x. It does not communicate.
func Zero[D, R scalar.Scalar](x, y *dist.Space) (linop.Map[D, R], error) {
	return linop.Func("ops: zero", x, y, setZero[D, R], setZero[R, D])
}

func setZero[D, R scalar.Scalar](_ context.Context, dst dist.Array[R], _ dist.Array[D]) error {
	dist.Zero(dst)
	return nil
}
