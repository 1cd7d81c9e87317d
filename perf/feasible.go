package perf

import (
	"fmt"
	"strings"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/launch"
)

// checkComms looks for communicators that do not exist here and for
// algorithms that a communicator lacks.
func (c Config) checkComms() (errs []error) {
	lacks := map[string]comm.Algo{Local: comm.Native, MPI: comm.Direct}
	for _, name := range c.Comms {
		missing, known := lacks[name]
		if !known {
			errs = append(errs, fmt.Errorf("unknown communicator %q: have %s, %s", name, Local, MPI))
			continue
		}
		for _, a := range c.Algos {
			if a == missing {
				errs = append(errs, fmt.Errorf("communicator %s has no algorithm %v: have %s", name, a, algosBut(missing)))
			}
		}
		if name == MPI && !launch.Launched() {
			errs = append(errs, fmt.Errorf("communicator mpi needs a launcher: run mpirun -n 4 golops perf %s",
				strings.Join(c.Operations, " ")))
		}
	}
	return errs
}

func algosBut(missing comm.Algo) string {
	var names []string
	for a := comm.Auto; a <= comm.Native; a++ {
		if a != missing {
			names = append(names, a.String())
		}
	}
	return strings.Join(names, ", ")
}

// checkMemory finds requests that this machine cannot hold: failing on an
// allocation halfway, or being killed, tells less. It knows nothing of the
// machines of other processes, so it looks at goroutine ranks only.
func (c plan) checkMemory(n int) error {
	have := totalMemory()
	if have == 0 || n == 0 || len(c.Comms) != 1 || c.Comms[0] != Local {
		return nil
	}
	var most float64
	for _, o := range c.ops {
		e := o.extent(c.Max, 1, n)
		rootSend, rootRecv := o.room(e, true)
		send, recv := o.room(e, false)
		most = max(most, float64(rootSend)+float64(rootRecv)+float64(n-1)*(float64(send)+float64(recv)))
	}
	if most <= float64(have) {
		return nil
	}
	return fmt.Errorf("the buffers of %d ranks take %s, this machine has %s: lower the largest size (-e) or the ranks",
		n, FormatSize(int64(min(most, 1<<62))), FormatSize(have))
}
