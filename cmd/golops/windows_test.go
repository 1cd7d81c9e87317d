//go:build unix

package main

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/golops/golops/internal/mpirun"
	"github.com/golops/golops/launch"
)

// TestWindowsOf tries the windows of an MPI: as it is, without a component that makes
// them, and with launchers that fail and that never come back.
func TestWindowsOf(t *testing.T) {
	mpirun.Each(t, []string{"openmpi"}, func(t *testing.T, m mpirun.MPI) {
		// In a process of its own: another test opens other libraries of this name.
		out, err := exec.Command(os.Args[0], "info", "--quick", "--json").Output()
		var i info
		if err == nil {
			err = json.Unmarshal(out, &i)
		}
		if err != nil {
			t.Fatal(err)
		}
		path := ""
		for _, l := range i.Libraries {
			if l.Name == "Open MPI" {
				path = l.Path
			}
		}
		try := func(launcher string, patience time.Duration) string {
			a := newTool(io.Discard, io.Discard)
			a.patience = patience
			return a.windowsOf(t.Context(), &launch.Library{Path: path, MPIRun: launcher})
		}
		if got := try(m.Program, time.Minute); got != "work" && !strings.Contains(got, "cannot make windows") {
			t.Errorf("windows %s", got)
		}
		t.Setenv("OMPI_MCA_osc", "pt2pt") // which declines
		if got := try(m.Program, time.Minute); !strings.HasPrefix(got, "do not work: ") || !strings.Contains(got, "cannot make windows") {
			t.Errorf("without a component: windows %s", got)
		}
		for _, k := range []struct {
			script   string
			patience time.Duration
			want     string
		}{
			{"exit 3", time.Minute, "not known: it did not start: exit status 3"},
			{"sleep 100", time.Second, "not known: it did not start within 1s"},
		} {
			launcher := filepath.Join(t.TempDir(), "mpirun")
			if err := os.WriteFile(launcher, []byte("#!/bin/sh\n"+k.script+"\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			if got := try(launcher, k.patience); got != k.want {
				t.Errorf("a launcher with %s: windows %s, want %s", k.script, got, k.want)
			}
		}
		if got, want := try("", time.Second), "not known: its mpirun was not found"; got != want {
			t.Errorf("no launcher: windows %s, want %s", got, want)
		}
	})
}
