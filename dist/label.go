package dist

import (
	"math"
	"strconv"

	"github.com/golops/golops/comm"
)

// Labels of what ranks send each other. Without them a rank that asks for a norm
// and one that asks for a dot product would add up their numbers: both are one
// AllReduce of one number.
var (
	labelAgree   = comm.LabelOf("agree")
	labelSync    = comm.LabelOf("sync")
	labelScatter = comm.LabelOf("scatter")
	labelGather  = comm.LabelOf("gather")
	labelMove    = comm.LabelOf("move")
	labelBack    = comm.LabelOf("back")
	labelHalo    = comm.LabelOf("halo")
	labelHaloAdj = comm.LabelOf("halo adj")
	labelPut     = comm.LabelOf("put")

	labelMoveH    = comm.LabelOf("move H")
	labelBackH    = comm.LabelOf("back H")
	labelHaloH    = comm.LabelOf("halo H")
	labelHaloAdjH = comm.LabelOf("haloadjH")

	labelNumber   = comm.LabelOf("number")
	labelDot      = comm.LabelOf("dot")
	labelDotT     = comm.LabelOf("dot T")
	labelSquares  = comm.LabelOf("squares")
	labelAxpyNorm = comm.LabelOf("axpynorm")
	labelSum      = comm.LabelOf("sum")
	labelShrink   = comm.LabelOf("shrink")
	labelMin      = comm.LabelOf("min")
	labelMax      = comm.LabelOf("max")
)

// LabelForward and LabelAdjoint mark what operators send. Checked mode then finds a
// rank that applies an operator forward while another applies its adjoint.
var (
	LabelForward = comm.LabelOf("forward")
	LabelAdjoint = comm.LabelOf("adjoint")
)

// turned is the label of a message of a Move in the adjoint of a product.
func turned(l comm.Label) comm.Label {
	switch l {
	case labelMove:
		return labelMoveH
	case labelBack:
		return labelBackH
	case labelHalo:
		return labelHaloH
	case labelHaloAdj:
		return labelHaloAdjH
	}
	return l
}

// normLabel is the label of a p-norm: with p, where that takes three characters at
// most, or with six letters that stand for it.
func normLabel(p float64) comm.Label {
	var room [40]byte
	text := strconv.AppendFloat(append(room[:0], "norm "...), p+0, 'g', -1, 64)
	if len(text) > 8 {
		h := math.Float64bits(p) * 0x9e3779b97f4a7c15 // spreads all bits over the upper ones
		text = append(text[:0], "p="...)
		for range 6 {
			text = append(text, 'a'+byte(h>>48%26))
			h = h<<5 ^ h>>7
		}
	}
	return comm.LabelOf(string(text))
}
