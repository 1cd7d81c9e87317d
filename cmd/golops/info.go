package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/golops/golops/launch"
	"github.com/golops/golops/perf"
	"github.com/golops/golops/report"
	"github.com/spf13/cobra"
)

// info is what golops found on this machine.
type info struct {
	Version   string       `json:"version"`
	Machine   perf.Machine `json:"machine"`
	Launcher  bool         `json:"launcher"` // whether mpirun or its like started this process
	GPUs      []gpuInfo    `json:"gpus"`
	Libraries []library    `json:"libraries"`
	Limits    string       `json:"limits,omitempty"` // what this platform cannot run
}

type gpuInfo struct {
	Platform string `json:"platform"`
	launch.GPUInfo
}

type library struct {
	Name    string `json:"name"`
	Found   bool   `json:"found"`
	Path    string `json:"path,omitempty"`
	Version string `json:"version,omitempty"`
	Note    string `json:"note,omitempty"`
	Windows string `json:"windows,omitempty"` // of an MPI: whether ranks can put into each other's memory
	Missing string `json:"missing,omitempty"` // why it was not found
	Hint    string `json:"hint,omitempty"`    // what to install
}

func (a tool) info() *cobra.Command {
	var asJSON, quick bool
	cmd := &cobra.Command{
		Use:   "info",
		Short: "show the processor, the GPUs and the libraries that were found",
		Long: `info shows the version, the processor and its vector instructions, the GPUs, and for each
library that golops can use where it was found and in which version, or why it
was not found and what to install. None of them is needed to run golops. It starts
each MPI on two ranks to see whether its windows work, which one-sided
communication needs.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			i := info{Version: fullVersion(), Machine: perf.ThisMachine(), Launcher: launch.Launched()}
			if err := launch.PlatformError(); err != nil {
				i.Limits = err.Error()
			}
			host, platforms := launch.Libraries(), launch.Platforms()
			if !quick {
				a.tryWindows(cmd.Context(), host)
			}
			if !quick && slices.ContainsFunc(platforms, func(p launch.Platform) bool { return len(p.GPUs) > 0 }) {
				a.findGPUAware(cmd.Context(), host)
			}
			i.add(host)
			for _, p := range platforms {
				i.add(p.Libraries)
				for _, g := range p.GPUs {
					i.GPUs = append(i.GPUs, gpuInfo{p.Name, g})
				}
			}
			if asJSON {
				enc := json.NewEncoder(a.Stdout)
				enc.SetIndent("", "  ")
				return enc.Encode(i)
			}
			return i.write(a.Stdout)
		},
	}
	cmd.Flags().BoolVar(&quick, "quick", false, "start no MPI")
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	return cmd
}

func (i *info) add(libs []launch.Library) {
	for _, l := range libs {
		i.Libraries = append(i.Libraries, library{l.Name, l.Missing == "", l.Path, l.Version, l.Note, l.Windows, l.Missing, l.Hint})
	}
}

func (i info) write(w io.Writer) error {
	m := i.Machine
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(name, format string, args ...any) {
		fmt.Fprintf(t, "%s\t%s\n", name, report.Printable(fmt.Sprintf(format, args...)))
	}
	line("golops", "%s", i.Version)
	line("Go", "%s %s/%s", m.Go, m.OS, m.Arch)
	line("CPU", "%s, cores %d, CPUs %d, GOMAXPROCS %d", m.CPU, m.Cores, m.CPUs, m.GOMAXPROCS)
	line("SIMD", "%s", m.SIMD)
	if m.Memory > 0 {
		line("memory", "%s", perf.FormatSize(m.Memory))
	}
	if i.Limits != "" {
		line("limits", "%s; ranks are goroutines", i.Limits)
	}
	for _, g := range i.GPUs {
		line(fmt.Sprintf("%s:%d", g.Platform, g.Index), "%s, %s, processors %d, memory %s", g.Name, g.Arch, g.Processors, perf.FormatSize(int64(g.Memory)))
	}
	for _, l := range i.Libraries {
		found := l.Path
		if l.Version != "" {
			found = l.Version + ", " + found
		}
		if l.Note != "" {
			found += " (" + l.Note + ")"
		}
		if l.Windows != "" {
			found += "; windows " + l.Windows
		}
		switch {
		case l.Found:
			line(l.Name, "%s", found)
		default:
			line(l.Name, "%s; to get it: %s", l.Missing, l.Hint)
		}
	}
	return t.Flush()
}
