package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// ncclFlags are flags of nccl-tests and rccl-tests that perf does not have, and
// what to do instead.
var ncclFlags = []struct{ letter, name, instead string }{
	{"g", "ngpus", "there is one GPU to a rank: use --ranks N or mpirun -n N, with --device"},
	{"t", "nthreads", "use --ranks N for ranks in one process, or mpirun -n N"},
	{"N", "run_cycles", "run the command again, or make a loop longer with -n"},
	{"m", "agg_iters", "it does not apply here: calls are timed one by one"},
	{"p", "parallel_init", "it does not apply here: ranks always start in parallel"},
	{"z", "blocking", "it does not apply here: each call returns when it is done"},
	{"G", "cudagraph", "it does not apply here: nothing is recorded and replayed"},
	{"G", "hipgraph", "it does not apply here: nothing is recorded and replayed"},
	{"C", "report_cputime", "it does not apply here: the time is that of the clock"},
	{"T", "", "use --timeout"},
	{"S", "report_timestamps", "use GOLOPS_TRACE=trace.svg to see when each rank did what"},
	{"J", "output_file", "use --json, or --csv"},
	{"x", "output_file", "use --json, or --csv"},
	{"Z", "output_format", "use --json, or --csv"},
	{"F", "cache_flush", "it does not apply here: use --csv for a file"},
	{"y", "stream_null", "it does not apply here: use --device for memory of a GPU"},
	{"y", "memory_type", "it does not apply here: use --device for memory of a GPU"},
	{"Y", "", "it does not apply here: use --device for memory of a GPU"},
	{"u", "cumask", "it does not apply here"},
	{"D", "device_implementation", "it does not apply here: the library chooses its kernels"},
	{"V", "device_cta_count", "it does not apply here: the library chooses its kernels"},
	{"O", "out_of_place", "it does not apply here: both are measured"},
	{"q", "delay", "it does not apply here: there is no delay"},
}

// explainFlag adds to the error of an unknown flag what to use in its place.
func explainFlag(cmd *cobra.Command, err error) error {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		name, letters := unknown.GetSpecifiedName(), unknown.GetSpecifiedShortnames()
		for _, f := range ncclFlags {
			switch {
			case letters != "" && name == f.letter:
				return fmt.Errorf("-%s of nccl-tests: %s", f.letter, f.instead)
			case letters == "" && name == f.name && name != "":
				return fmt.Errorf("--%s of nccl-tests: %s", f.name, f.instead)
			}
		}
	}
	return cmd.Root().FlagErrorFunc()(cmd, err)
}
