package dist

import "math"

// SquareGrid returns a grid of ranks, for the two axes of an array of rows × cols, that
// gives each rank a piece as square as possible.
func SquareGrid(ranks, rows, cols int) []int {
	best, grid := math.Inf(1), []int{ranks, 1}
	for a := 1; a <= ranks; a++ {
		if ranks%a != 0 {
			continue
		}
		edge := float64(rows)/float64(a) + float64(cols)*float64(a)/float64(ranks)
		if edge < best {
			best, grid = edge, []int{a, ranks / a}
		}
	}
	return grid
}
