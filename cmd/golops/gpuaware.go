package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/golops/golops/app"
	"github.com/golops/golops/launch"
	"github.com/spf13/cobra"
)

// answer begins the line with the answer. Libraries may print other lines.
const answer = "answer:"

// reaches is the command that info starts to ask an MPI library.
func (a tool) reaches() *cobra.Command {
	return &cobra.Command{
		Use:    "reaches <library>",
		Short:  "print the platforms of GPUs whose memory an MPI library takes",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			platforms, err := launch.GPUAwarePlatforms(args[0])
			if err != nil {
				return app.Failure{Err: err}
			}
			_, err = fmt.Fprintln(a.Stdout, answer, strings.Join(platforms, " "))
			return err
		},
	}
}

// findGPUAware sets whether each MPI library is GPU-aware. It asks the library in
// another process.
func (a tool) findGPUAware(ctx context.Context, libs []launch.Library) {
	var wg sync.WaitGroup
	for i := range libs {
		if l := &libs[i]; l.ReportsGPUSupport {
			wg.Go(func() { l.SetGPUAware(a.gpuSupport(ctx, l.Path)) })
		}
	}
	wg.Wait()
}

// gpuSupport asks one library.
func (a tool) gpuSupport(ctx context.Context, path string) ([]string, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	platforms, err := a.ask(ctx, exe, "reaches", path)
	return strings.Fields(platforms), err
}

// saidError is what a child says is wrong.
type saidError string

func (e saidError) Error() string { return string(e) }

// ask starts an MPI library in a child process and returns its answer. Files of a killed
// library are removed with its temporary folder, its daemon is killed with its process
// group.
func (a tool) ask(ctx context.Context, command string, args ...string) (string, error) {
	if launch.Launched() {
		return "", errors.New("a launcher started this process: start golops info alone")
	}
	dir, err := os.MkdirTemp("", "golops-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	limited, cancel := context.WithTimeout(ctx, a.patience)
	defer cancel()
	out, err := os.Create(filepath.Join(dir, "output")) // not a pipe: a daemon of the library may keep it open
	if err != nil {
		return "", err
	}
	defer out.Close()
	cmd := exec.CommandContext(limited, command, args...)
	// A launcher may start two ranks on one core, and as root in a container.
	cmd.Env = append(os.Environ(), "TMPDIR="+dir, "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
		"OMPI_MCA_rmaps_base_oversubscribe=1", "PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe")
	cmd.Stdout, cmd.Stderr = out, out
	killGroup(cmd)
	err = cmd.Run()
	text, unread := os.ReadFile(out.Name())
	if unread != nil {
		return "", unread
	}
	for line := range strings.Lines(string(text)) {
		if said, ok := strings.CutPrefix(line, answer); ok {
			return strings.TrimSpace(said), nil
		}
		if why, ok := strings.CutPrefix(line, "golops: "); ok {
			return "", saidError(strings.TrimSpace(why))
		}
	}
	switch {
	case ctx.Err() == nil && limited.Err() != nil:
		return "", fmt.Errorf("it did not start within %v", a.patience)
	case err == nil:
		return "", errors.New("it did not answer")
	}
	return "", fmt.Errorf("it did not start: %w", err)
}
