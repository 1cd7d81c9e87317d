package main

import (
	"fmt"
	"strings"
)

// The peers.
const (
	pylops    = "PyLops"
	pylopsMPI = "PyLops-MPI"
)

// Case is one operator or array operation over one array. Both sides build it
// from these words and numbers.
type Case struct {
	Op    string `json:"op"`
	Peer  string `json:"peer"`
	Shape []int  `json:"shape"`
	Type  string `json:"type"`
	Ranks int    `json:"ranks"`

	Kind   string `json:"kind"`   // of a derivative or a rule
	Order  int    `json:"order"`  // of a derivative or a polynomial
	Axis   int    `json:"axis"`   // along which it works
	Length int    `json:"length"` // of a filter, or of a halo
	Step   int    `json:"step"`   // from one filter to the next
}

// String names the case, as flag -run sees it.
func (c Case) String() string {
	return fmt.Sprintf("%s/%s/%s/ranks=%d", c.name(), c.shape(), c.Type, c.Ranks)
}

func (c Case) name() string {
	words := []string{c.Op}
	if c.Kind != "" {
		words = append(words, c.Kind)
	}
	if c.Order > 0 {
		words = append(words, fmt.Sprintf("order %d", c.Order))
	}
	if c.Length > 0 {
		words = append(words, fmt.Sprintf("of %d", c.Length))
	}
	if c.Axis > 0 {
		words = append(words, fmt.Sprintf("axis %d", c.Axis))
	}
	return strings.Join(words, " ")
}

func (c Case) shape() string {
	words := make([]string, len(c.Shape))
	for i, n := range c.Shape {
		words[i] = fmt.Sprint(n)
	}
	return strings.Join(words, "×")
}

// both is an array that caches hold, to see what a call costs, and one that
// they do not.
var both = [][]int{{64, 64}, {2000, 1000}}

// kinds are the operators, each with the arrays it is compared on.
var kinds = []struct {
	Case
	shapes [][]int
}{
	{Case{Op: "FirstDerivative", Peer: pylopsMPI, Kind: "centered", Order: 3}, both},
	{Case{Op: "FirstDerivative", Peer: pylopsMPI, Kind: "centered", Order: 5}, both},
	{Case{Op: "FirstDerivative", Peer: pylopsMPI, Kind: "forward"}, both},
	{Case{Op: "FirstDerivative", Peer: pylopsMPI, Kind: "backward"}, both},
	{Case{Op: "SecondDerivative", Peer: pylopsMPI, Kind: "centered"}, both},
	{Case{Op: "SecondDerivative", Peer: pylopsMPI, Kind: "forward"}, both},
	{Case{Op: "Laplacian", Peer: pylopsMPI, Kind: "centered"}, both},
	{Case{Op: "Gradient", Peer: pylopsMPI, Kind: "centered"}, both},
	{Case{Op: "Halo", Peer: pylopsMPI, Length: 2}, both},
	{Case{Op: "BlockDiag", Peer: pylopsMPI}, [][]int{{2, 32, 32}, {2, 1600, 1600}}},
	{Case{Op: "VStack", Peer: pylopsMPI}, [][]int{{2, 32, 32}, {2, 1600, 1600}}},
	{Case{Op: "HStack", Peer: pylopsMPI}, [][]int{{2, 32, 32}, {2, 1600, 1600}}},
	{Case{Op: "MatrixMult block", Peer: pylopsMPI}, [][]int{{32, 32, 32}, {512, 512, 256}}},
	{Case{Op: "NonStationaryConvolve1D", Peer: pylopsMPI, Length: 5, Step: 8}, both[:1]},
	{Case{Op: "NonStationaryConvolve1D", Peer: pylopsMPI, Length: 21, Step: 100}, both[1:]},

	{Case{Op: "add", Peer: pylopsMPI}, both},
	{Case{Op: "scale", Peer: pylopsMPI}, both},
	{Case{Op: "copy", Peer: pylopsMPI}, both},
	{Case{Op: "dot", Peer: pylopsMPI}, both},
	{Case{Op: "norm 2", Peer: pylopsMPI}, both},
	{Case{Op: "redistribute", Peer: pylopsMPI}, both},
	{Case{Op: "add_ghost_cells", Peer: pylopsMPI, Length: 2}, both},

	{Case{Op: "FirstDerivative", Peer: pylops, Kind: "centered", Order: 3, Axis: 1}, both},
	{Case{Op: "SecondDerivative", Peer: pylops, Kind: "centered", Axis: 1}, both},
	{Case{Op: "Identity", Peer: pylops}, both},
	{Case{Op: "Zero", Peer: pylops}, both},
	{Case{Op: "Diagonal", Peer: pylops}, both},
	{Case{Op: "Diagonal along", Peer: pylops}, both},
	{Case{Op: "Diagonal along", Peer: pylops, Axis: 1}, both},
	{Case{Op: "Restriction", Peer: pylops}, both},
	{Case{Op: "Restriction", Peer: pylops, Axis: 1}, both},
	{Case{Op: "Transpose", Peer: pylops}, both},
	{Case{Op: "Flip", Peer: pylops}, both},
	{Case{Op: "Flip", Peer: pylops, Axis: 1}, both},
	{Case{Op: "Roll", Peer: pylops}, both},
	{Case{Op: "Roll", Peer: pylops, Axis: 1}, both},
	{Case{Op: "Pad", Peer: pylops}, both},
	{Case{Op: "Sum", Peer: pylops}, both},
	{Case{Op: "Sum", Peer: pylops, Axis: 1}, both},
	{Case{Op: "Symmetrize", Peer: pylops}, both},
	{Case{Op: "Symmetrize", Peer: pylops, Axis: 1}, both},
	{Case{Op: "CausalIntegration", Peer: pylops, Kind: "full"}, both},
	{Case{Op: "CausalIntegration", Peer: pylops, Kind: "full", Axis: 1}, both},
	{Case{Op: "CausalIntegration", Peer: pylops, Kind: "trapezoidal"}, both},
	{Case{Op: "Smoothing1D", Peer: pylops, Length: 5}, both},
	{Case{Op: "Smoothing1D", Peer: pylops, Length: 5, Axis: 1}, both},
	{Case{Op: "Smoothing2D", Peer: pylops, Length: 5}, both},
	{Case{Op: "Convolve1D", Peer: pylops, Length: 41}, both},
	{Case{Op: "Convolve1D", Peer: pylops, Length: 41, Axis: 1}, both},
	{Case{Op: "Convolve1D", Peer: pylops, Length: 41}, [][]int{{4096}, {2000000}}},
	{Case{Op: "Spread", Peer: pylops}, [][]int{{8, 64, 8}, {40, 500, 50}}},
	{Case{Op: "Regression", Peer: pylops, Order: 3}, [][]int{{4096}, {2000000}}},
	{Case{Op: "LinearRegression", Peer: pylops, Order: 1}, [][]int{{4096}, {2000000}}},
	{Case{Op: "MatrixMult", Peer: pylops}, [][]int{{64, 64}, {2000, 2000}}},
	{Case{Op: "MatrixMult otherdims", Peer: pylops}, [][]int{{32, 32, 32}, {512, 512, 256}}},
}

// cases lists the kinds for each shape, element type and number of ranks.
func cases() []Case {
	var out []Case
	for _, k := range kinds {
		for _, shape := range k.shapes {
			for _, dt := range []string{"float32", "float64"} {
				for ranks := 1; ranks <= k.maxRanks(); ranks++ {
					c := k.Case
					c.Shape, c.Type, c.Ranks = shape, dt, ranks
					out = append(out, c)
				}
			}
		}
	}
	return out
}

// maxRanks is 1 for peers that are not distributed, and for the product of
// matrices of PyLops-MPI, which needs a square number of ranks.
func (c Case) maxRanks() int {
	if c.Peer == pylops || c.Op == "MatrixMult block" {
		return 1
	}
	return 2
}

// dropsGhosts is whether the peer's adjoint is not one: MPIHalo cuts its ghosts
// off, where those of golops go back to their owners, so results differ.
func (c Case) dropsGhosts() bool { return c.Op == "Halo" && c.Ranks > 1 }
