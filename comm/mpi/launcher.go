package mpi

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Launcher is the program that started this process as one of several, according to
// the environment.
type Launcher struct {
	Name      string // such as "Open MPI's mpirun"; empty when there is none
	Family    Family // of the library that the launcher belongs to; empty for any
	Variable  string // the environment variable of Size
	Size      int    // processes; 0 when unknown
	Rank      int
	LocalSize int // processes on this machine; 0 when unknown

	Unconnected bool // the processes were given no way to find each other
}

// UnconnectedError says that the launcher gave its processes no way to find each other.
// Each would run as the only rank.
type UnconnectedError struct{ Launcher Launcher }

func (e *UnconnectedError) Error() string {
	return fmt.Sprintf("mpi: %s started %d processes (%s=%d) but gave them no way to find each other: use srun --mpi=pmix for Open MPI, "+
		"or srun --mpi=pmi2 for MPICH (srun --mpi=list shows the choices); a library that needs neither is named by "+EnvVar, e.Launcher.Name, e.Launcher.Size, e.Launcher.Variable, e.Launcher.Size)
}

// launchers lists the variables of each launcher. The first match wins. Open MPI's
// variables come before those of PMIx and Slurm, under which it may run too.
var launchers = []struct {
	name              string
	family            Family
	size, rank, local string
}{
	{"Open MPI's mpirun", OpenMPI, "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"},
	{"MVAPICH's mpirun", MPICH, "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_LOCAL_SIZE"},
	{"MPICH's mpiexec (hydra)", MPICH, "PMI_SIZE", "PMI_RANK", "MPI_LOCALNRANKS"},
	{"srun", "", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "SLURM_TASKS_PER_NODE"},
	{"a PMIx launcher", OpenMPI, "PMIX_SIZE", "PMIX_RANK", ""},
}

// FindLauncher reads the environment.
func FindLauncher() Launcher { return findLauncher(os.Getenv) }

func findLauncher(getenv func(string) string) Launcher {
	number := func(key string) (int, bool) {
		text, _, _ := strings.Cut(getenv(key), "(") // Slurm writes 2(x3) for two on each of three machines
		n, err := strconv.Atoi(text)
		return n, err == nil && key != ""
	}
	for _, l := range launchers {
		rank, ok := number(l.rank)
		if !ok {
			continue
		}
		size, ok := number(l.size)
		if !ok && l.name == "srun" {
			continue // a batch script has SLURM_PROCID too, but no step
		}
		f := Launcher{Name: l.name, Family: l.family, Variable: l.size, Size: size, Rank: rank}
		f.LocalSize, _ = number(l.local)
		switch {
		case l.name != "srun":
		case getenv("PMIX_RANK") != "":
			f.Family = OpenMPI
		case getenv("PMI_RANK") != "":
			f.Family = MPICH
		default:
			// A library that EnvVar names, or one with Slurm's libpmi, may connect in another way.
			f.Unconnected = size > 1 && getenv(EnvVar) == "" && getenv("I_MPI_PMI_LIBRARY") == "" && getenv("PMI_FD") == ""
		}
		if l.name == "MPICH's mpiexec (hydra)" && getenv("SLURM_PROCID") != "" && getenv("MPI_LOCALNRANKS") == "" {
			f.Name = "srun"
		}
		return f
	}
	return Launcher{}
}
