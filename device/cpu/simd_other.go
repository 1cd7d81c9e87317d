//go:build !amd64

package cpu

import "unsafe"

// vectors says that nothing here uses vector units: all loops are plain Go.
const vectors = false

// pointRun is the arguments of loops in assembly, of which there are none.
type pointRun struct{}

func spreadVector[F float](a *kirchhoffArgs[F], s *traceScratch[F], g *pairGroup) {}
func stackVector[F float](a *kirchhoffArgs[F], s *traceScratch[F], g *pairGroup)  {}

func dotRowsVector[F float](s *[4]F, a, x []F, stride int) int      { return 0 }
func dotPairRowsVector[F float](s *[16]F, a, x []F, stride int) int { return 0 }
func addRowsVector[F float](y, a []F, c *[8]F, stride int) int      { return 0 }
func addPairRowsVector[F float](y, a []F, c *[8]F, stride int) int  { return 0 }

const wider = false

func vectorTile[F float]() (rows, cols int)                       { return 0, 0 }
func tileVector[F float](c, a, b []F, stride, depth int, alpha F) {}

func dotVector[F float](x, y []F) (n int, s float64)               { return 0, 0 }
func dotPairsVector[F float](s *[4]float64, x, y []F) int          { return 0 }
func sumVector[F float](s *[2]float64, x []F) int                  { return 0 }
func addColumnsVector[F float](s []float64, x []F, stride int) int { return 0 }

func sqrtVector(x []float64) int                                 { return 0 }
func mulVector[F float](dst, x, y []F) int                       { return 0 }
func scaleVector[F float](dst []F, a F, x []F) int               { return 0 }
func scaleAddVector[F float](dst []F, a F, x, y []F) int         { return 0 }
func combineVector[F float](dst []F, a F, x []F, b F, y []F) int { return 0 }

func tapsVector[F float](dst []F, src []unsafe.Pointer, c []F, add bool, rows, step, stride, shift int) {
}

func copyRowsVector[F float](dst, src []F, rows, n, dstStride, srcStride int) int { return 0 }
