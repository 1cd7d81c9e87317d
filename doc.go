// Package golops holds the tests of the whole project. The parts are in the
// folders: see README.md and docs/architecture.md.
package golops
