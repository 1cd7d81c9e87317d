package main

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is that of the next release, until it is released.
var version = "0.1.0-dev"

// fullVersion adds the commit that this was built from, where Go knows it.
func fullVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return version
	}
	return version + revision(info.Settings)
}

func revision(settings []debug.BuildSetting) string {
	commit, changed := "", ""
	for _, s := range settings {
		switch {
		case s.Key == "vcs.revision":
			commit = " (" + s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			changed = ", changed since"
		}
	}
	if commit == "" {
		return ""
	}
	return commit + changed + ")"
}

func (a tool) version() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "print the version",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			fmt.Fprintln(a.Stdout, "golops "+fullVersion())
			return nil
		},
	}
}
