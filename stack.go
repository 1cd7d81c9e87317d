package golops

import "github.com/golops/golops/linop"

// maps returns the Maps of operators, which must all be of the world w, and their
// expressions.
func maps[D, R Scalar](what string, w *World, ops []Op[D, R]) ([]linop.Map[D, R], []expression) {
	m, text := make([]linop.Map[D, R], len(ops)), make([]expression, len(ops))
	for i, o := range ops {
		if o.World() != w {
			if w == w.alone {
				fail("%s: operator %d was not made in World.Alone: %v", what, i, o)
			}
			fail("%s: operator %d belongs to another world than operator 0: %v and %v", what, i, o, ops[0])
		}
		m[i], text[i] = o.m, o.text
	}
	return m, text
}

// worldOf returns the world of the first operator.
func worldOf[D, R Scalar](what string, ops []Op[D, R]) *World {
	if len(ops) == 0 {
		fail("%s: no operators: give at least one", what)
	}
	return ops[0].World()
}

// VStack returns [A; B; …], from one space to the stack of all ranges.
func VStack[D, R Scalar](ops ...Op[D, R]) Op[D, R] {
	w := worldOf("VStack", ops)
	m, text := maps("VStack", w, ops)
	return Op[D, R]{w, Must(linop.VStack(m...)), call("VStack", text...)}
}

// HStack returns [A B …], from the stack of all domains to one space.
func HStack[D, R Scalar](ops ...Op[D, R]) Op[D, R] {
	w := worldOf("HStack", ops)
	m, text := maps("HStack", w, ops)
	return Op[D, R]{w, Must(linop.HStack(m...)), call("HStack", text...)}
}

// BlockDiag returns diag(A, B, …), from the stack of all domains to that of all
// ranges.
func BlockDiag[D, R Scalar](ops ...Op[D, R]) Op[D, R] {
	w := worldOf("BlockDiag", ops)
	m, text := maps("BlockDiag", w, ops)
	return Op[D, R]{w, Must(linop.BlockDiag(m...)), call("BlockDiag", text...)}
}

// BlockDiagRanks returns the block-diagonal operator of all ranks' operators, those
// of rank 0 first. Each rank gives operators of its own, made in World.Alone, or
// none.
func BlockDiagRanks[T Scalar](w *World, ops ...Op[T, T]) Op[T, T] {
	m, text := maps("BlockDiagRanks", w.Alone(), ops)
	return Op[T, T]{w, Must(linop.BlockDiagRanks(w.ctx, w.proc, m...)), call("BlockDiagRanks", text...)}
}

// VStackRanks returns the operator that puts the results of all ranks' operators
// below each other. Every rank holds the whole model.
func VStackRanks[T Scalar](w *World, ops ...Op[T, T]) Op[T, T] {
	m, text := maps("VStackRanks", w.Alone(), ops)
	return Op[T, T]{w, Must(linop.VStackRanks(w.ctx, w.proc, m...)), call("VStackRanks", text...)}
}

// HStackRanks returns the operator that adds up what all ranks' operators make of
// their parts of the model. Every rank holds the whole result.
func HStackRanks[T Scalar](w *World, ops ...Op[T, T]) Op[T, T] {
	m, text := maps("HStackRanks", w.Alone(), ops)
	return Op[T, T]{w, Must(linop.HStackRanks(w.ctx, w.proc, m...)), call("HStackRanks", text...)}
}

// BlockRanks returns the operator of all ranks' rows of operators, those of rank 0
// first. Every rank holds the whole model.
func BlockRanks[T Scalar](w *World, rows ...[]Op[T, T]) Op[T, T] {
	m, text := make([][]linop.Operator[T], len(rows)), make([]expression, len(rows))
	for i, row := range rows {
		of, texts := maps("BlockRanks", w.Alone(), row)
		m[i], text[i] = of, call("", texts...)
	}
	return Op[T, T]{w, Must(linop.BlockRanks(w.Context(), w.proc, m)), call("BlockRanks", text...)}
}

// Redistribute returns the operator that moves vectors from one layout to another
// of the same shape. Its adjoint is its inverse.
func Redistribute[T Scalar](from, to Space[T]) Op[T, T] {
	if from.World() != to.World() {
		apart("redistribute", from, to)
	}
	return Op[T, T]{from.w, Must(linop.Redistribute[T](from.s, to.s)), named("Redistribute")}
}
