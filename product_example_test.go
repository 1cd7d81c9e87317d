package golops_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/golops/golops"
	"github.com/golops/golops/launch"
	"github.com/golops/golops/ops"
)

// A product by SUMMA on a grid of 2 × 3 ranks. Blocks need not be equal, and there is no
// padding.
func ExampleProductSpaces() {
	err := golops.Run(context.Background(), launch.Config{Ranks: 6}, func(w *golops.World) error {
		o := ops.ProductOptions{Kind: ops.ProductSUMMA}
		A, X := golops.ProductSpaces[float64, float64](w, []int{5, 7}, []int{7, 8}, o)
		box := A.Dist().Box(1) // the rows and columns of A on rank 1
		w.Printf("grid %v, rows %d to %d and columns %d to %d on rank 1\n", A.Dist().Layout().Grid, box.Lo[0], box.Hi[0], box.Lo[1], box.Hi[1])

		a := A.Func(func(i []int) float64 { return float64(i[0] + i[1]) }) // each rank makes its block
		P := golops.Product(a, X, o)
		y := P.Apply(X.Func(func(i []int) float64 { return float64(i[1]) }))
		how, _, _ := strings.Cut(P.String(), ":")
		w.Printf("%s\nthe last row is %v\n", how, y.Gather()[4*8:])
		return P.DotTest()
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// grid [2 3], rows 0 to 3 and columns 3 to 5 on rank 1
	// Product(on ranks 2 (i,j,i) × 3 (j,k,k), panels of 256)
	// the last row is [0 49 98 147 196 245 294 343]
}

// A Fredholm integral whose kernel has 32 bits and whose vectors have 64.
func ExampleFredholm1() {
	err := golops.Run(context.Background(), launch.Config{Ranks: 2}, func(w *golops.World) error {
		X := w.Complex(4, 3) // frequencies and receivers; each rank has two frequencies
		G := golops.NewSpace[complex64](w, X.Dist().Layout(), 4, 2, 3)
		A := golops.Fredholm1(G.Func(func(i []int) complex64 { return complex(float32(i[0]), float32(i[1])) }), X)
		y := A.Apply(X.Func(func(i []int) complex128 { return 1 }))
		w.Printf("%v\n", y.Gather())
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: [(0+0i) (0+3i) (3+0i) (3+3i) (6+0i) (6+3i) (9+0i) (9+3i)]
}
