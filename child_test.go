package golops_test

import (
	"os"
	"testing"

	"github.com/golops/golops"
)

// childVar names the program that a copy of this test binary runs as Main does:
//
//	GOLOPS_TEST_CHILD=programs GOLOPS_DEVICE=cuda ./golops.test
//	GOLOPS_TEST_CHILD=programs mpirun -n 2 ./golops.test
const childVar = "GOLOPS_TEST_CHILD"

func TestMain(m *testing.M) {
	name := os.Getenv(childVar)
	if name == "" {
		os.Exit(m.Run())
	}
	golops.Main(children()[name])
}

// children are the programs for childVar.
func children() map[string]golops.Program {
	all := map[string]golops.Program{"programs": programs}
	for _, w := range mistakes {
		all[w.name] = w.program
	}
	return all
}
