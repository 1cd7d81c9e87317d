package mpi

import (
	"errors"
	"strings"
	"testing"
)

func TestFindLauncher(t *testing.T) {
	for _, c := range []struct {
		name   string
		env    map[string]string
		want   string
		family Family
		size   int
		rank   int
	}{
		{"none", nil, "", "", 0, 0},
		{"Open MPI", map[string]string{"OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_RANK": "3"}, "Open MPI's mpirun", OpenMPI, 4, 3},
		{"hydra", map[string]string{"PMI_SIZE": "2", "PMI_RANK": "1", "MPI_LOCALNRANKS": "2"}, "MPICH's mpiexec (hydra)", MPICH, 2, 1},
		{"srun, PMIx", map[string]string{"SLURM_PROCID": "5", "SLURM_STEP_NUM_TASKS": "8", "PMIX_RANK": "5"}, "srun", OpenMPI, 8, 5},
		{"srun, PMI", map[string]string{"SLURM_PROCID": "5", "SLURM_STEP_NUM_TASKS": "8", "PMI_RANK": "5", "PMI_SIZE": "8"}, "srun", MPICH, 8, 5},
		{"srun, neither", map[string]string{"SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "8"}, "srun", "", 8, 0},
		{"batch script", map[string]string{"SLURM_PROCID": "0", "SLURM_NTASKS": "8"}, "", "", 0, 0},
		{"garbage", map[string]string{"OMPI_COMM_WORLD_SIZE": "four", "OMPI_COMM_WORLD_RANK": "x"}, "", "", 0, 0},
		{"both", map[string]string{"OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_RANK": "1", "SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "1"},
			"Open MPI's mpirun", OpenMPI, 4, 1},
	} {
		got := findLauncher(func(k string) string { return c.env[k] })
		if got.Name != c.want || got.Family != c.family || got.Size != c.size || got.Rank != c.rank {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

// TestUnconnected has processes of srun that cannot find each other.
func TestUnconnected(t *testing.T) {
	for _, c := range []struct {
		name string
		env  map[string]string
		want bool
	}{
		{"--mpi=none", map[string]string{"SLURM_PROCID": "1", "SLURM_STEP_NUM_TASKS": "2"}, true},
		{"one task", map[string]string{"SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "1"}, false},
		{"--mpi=pmix", map[string]string{"SLURM_PROCID": "1", "SLURM_STEP_NUM_TASKS": "2", "PMIX_RANK": "1"}, false},
		{"--mpi=pmi2", map[string]string{"SLURM_PROCID": "1", "SLURM_STEP_NUM_TASKS": "2", "PMI_RANK": "1", "PMI_FD": "9"}, false},
		{"mpirun in a step", map[string]string{"SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "2", "OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_RANK": "1"}, false},
		{"a library that was named", map[string]string{"SLURM_PROCID": "1", "SLURM_STEP_NUM_TASKS": "2", EnvVar: "/opt/libmpi.so"}, false},
	} {
		if got := findLauncher(func(k string) string { return c.env[k] }); got.Unconnected != c.want {
			t.Errorf("%s: %+v, want Unconnected %v", c.name, got, c.want)
		}
	}
	t.Setenv("SLURM_PROCID", "0")
	t.Setenv("SLURM_STEP_NUM_TASKS", "2")
	t.Setenv(EnvVar, "")
	_, err := Init(t.Context(), Config{})
	var u *UnconnectedError
	if !errors.As(err, &u) || !strings.Contains(err.Error(), "--mpi=pmix") || !strings.Contains(err.Error(), "--mpi=pmi2") {
		t.Errorf("got %v, want an *UnconnectedError that says what to do", err)
	}
}

func TestVersion(t *testing.T) {
	for text, want := range map[string]string{
		"Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4": "Open MPI 4.1.4",
		"MPICH Version:      4.0.2\nMPICH Release date: x":       "MPICH 4.0.2",
		"Intel(R) MPI Library 2021.13 for Linux* OS\n":           "Intel(R) MPI Library 2021.13 for Linux* OS",
	} {
		if got := version(text); got != want {
			t.Errorf("%q gives %q, want %q", text, got, want)
		}
	}
}
