// Package ops provides concrete operators: the basic ones, derivatives,
// filters and what brings arrays into shape.
//
// Constructors that take a context are collective: all ranks of the space call
// them with the same values, and an error on one rank is an error on all. Most operators act along
// one axis, which may be whole or split over ranks; PyLops' names and meanings
// are kept, so that the same parameters give the same numbers.
package ops
