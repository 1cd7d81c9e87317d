// Package golops holds the examples and tests of the whole project: linear
// inverse problems on arrays that are spread over ranks, as goroutines or under
// MPI.
//
// A program that launch starts is given a dist.Proc. It makes arrays with
// dist.NewSpace and dist.New, operators with packages ops and linop, and solves
// with package solve. README.md has a first operator, docs/tutorials/lsm.md a
// whole inversion, and docs/architecture.md the plan of the house.
package golops
