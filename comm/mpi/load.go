package mpi

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/golops/golops/internal/dl"
)

// EnvVar names a library to use instead of searching for one.
const EnvVar = "GOLOPS_MPI"

// names are the libraries of each family. The standard ABI comes last: beside a
// launcher, its own library is preferred.
var names = map[Family][]string{
	OpenMPI:  {"libmpi.so.40"},
	MPICH:    {"libmpi.so.12", "libmpich.so.12"},
	Standard: {"libmpi_abi.so.1"},
}

// folders are folders in which distributions install MPI outside the loader's path.
var folders = []string{
	"/usr/lib/x86_64-linux-gnu/openmpi/lib", "/usr/lib/aarch64-linux-gnu/openmpi/lib",
	"/usr/lib64/openmpi/lib", "/usr/lib64/mpich/lib", "/usr/lib64/mpi/gcc/openmpi4/lib64",
	"/opt/homebrew/lib", "/usr/local/lib",
}

// Found is an MPI library that was opened but not initialised.
type Found struct {
	Path    string
	Family  Family
	Version string // as the library reports it, on one line
	lib     *dl.Lib
	abi     *abi
}

// Find opens the MPI library of the launcher: the one that EnvVar names, else one beside
// the launcher's program, else one on the loader's path or in the usual folders. The
// error says what was tried.
func Find(l Launcher) (*Found, error) {
	lib, err := dl.Open(dl.Global, candidates(l)...)
	if err == nil {
		return identify(lib)
	}
	if p := os.Getenv(EnvVar); p != "" {
		return nil, fmt.Errorf("mpi: %s=%s: %w", EnvVar, p, err)
	}
	return nil, fmt.Errorf("mpi: no MPI library: %s: install Open MPI (openmpi-bin) or MPICH (mpich), or set %s=/path/to/libmpi.so",
		dl.Reason(err, slices.Concat(names[OpenMPI], names[MPICH], names[Standard])), EnvVar)
}

// Look opens the library of one family and identifies it, without initialising it.
func Look(f Family) (*Found, error) {
	if err := prepare(); err != nil {
		return nil, err
	}
	l, err := dl.Open(dl.Local, searchPaths(names[f])...)
	if err != nil {
		return nil, errors.New(dl.Reason(err, names[f]))
	}
	return identify(l)
}

// identify returns family and version of an open library.
func identify(l *dl.Lib) (*Found, error) {
	a, err := detect(l)
	if err != nil {
		return nil, err
	}
	f := &Found{Path: l.Path, Family: a.family, lib: l, abi: a}
	text, n := make([]byte, 8192), new(int32) // the limit of the standard; Open MPI's is smaller
	if fn := l.Func("MPI_Get_library_version"); fn != 0 {
		fn.Call(addr(&text[0]), addr(n))
	}
	f.Version = version(dl.String(text))
	return f, nil
}

// version shortens the paragraph that libraries return.
func version(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	line = strings.Join(strings.Fields(line), " ")
	if v, ok := strings.CutPrefix(line, "Open MPI v"); ok {
		v, _, _ = strings.Cut(v, ",")
		return "Open MPI " + v
	}
	if v, ok := strings.CutPrefix(line, "MPICH Version: "); ok {
		return "MPICH " + v
	}
	return line
}

func candidates(l Launcher) []string {
	if p := os.Getenv(EnvVar); p != "" {
		return []string{p}
	}
	order := []Family{OpenMPI, MPICH, Standard}
	if l.Family == MPICH {
		order = []Family{MPICH, Standard, OpenMPI}
	}
	var files []string
	for _, f := range order {
		files = append(files, searchPaths(names[f])...)
	}
	return files
}

// searchPaths returns each name beside the launcher, on the loader's path and in
// the usual folders.
func searchPaths(names []string) []string {
	var out []string
	for _, dirs := range [][]string{launcherFolders(), {""}, folders} {
		for _, dir := range dirs {
			for _, n := range names {
				out = append(out, filepath.Join(dir, n))
			}
		}
	}
	return out
}

// launcherFolders returns the library folders beside the program that started this
// process and beside the mpirun on the path. That finds an MPI of a virtual environment
// or a module that is not on the loader's path.
func launcherFolders() []string {
	var bins []string
	if exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", os.Getppid())); err == nil {
		bins = append(bins, exe)
	}
	for _, n := range []string{"mpirun", "mpiexec"} {
		if exe, err := exec.LookPath(n); err == nil {
			bins = append(bins, exe)
		}
	}
	var out []string
	for _, b := range bins {
		prefix := filepath.Dir(filepath.Dir(b))
		for _, lib := range []string{"lib", "lib64"} {
			if d := filepath.Join(prefix, lib); prefix != "/usr" && prefix != "/" && !slices.Contains(out, d) {
				out = append(out, d)
			}
		}
	}
	return out
}
