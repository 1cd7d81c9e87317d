// Package ops provides concrete operators: diagonals and matrices, derivatives,
// filters, and operators that change the shape of arrays.
//
// A function is named like its operator, and its options like options: Laplacian
// takes LaplacianOptions. A zero option means zero or off. Where that makes no sense,
// such as a sampling of 0, it is refused, and a function like DerivativeDefaults
// gives the usual values. A nil slice means that nothing is given.
//
// Functions that take a context are collective: all ranks of the space call them with
// the same values, and an error on one rank is an error on all. Most operators act
// along one axis, which may be whole or split over ranks. Names and meanings are
// those of PyLops, so that the same parameters give the same numbers.
package ops
