package app

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/golops/golops/internal/suggest"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// suggestFlags lets all commands under root say which flag was meant.
func suggestFlags(root *cobra.Command) {
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		e, ok := errors.AsType[*pflag.NotExistError](err)
		if !ok || e.GetSpecifiedShortnames() != "" {
			return err
		}
		var have []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { have = append(have, f.Name) })
		if w := suggest.Word(e.GetSpecifiedName(), have); w != "" {
			return fmt.Errorf("%w: did you mean --%s?", err, w)
		}
		return fmt.Errorf("%w: %s --help lists the flags", err, cmd.CommandPath())
	})
}

// explained adds to the error of an argument that is no command what was meant:
// another command, or a file that a flag takes.
func explained(root *cobra.Command, err error) error {
	var typed, path string
	if err == nil {
		return nil
	}
	if n, _ := fmt.Sscanf(err.Error(), "unknown command %q for %q", &typed, &path); n != 2 {
		return err
	}
	if path == root.CommandPath() {
		var have []string
		for _, c := range root.Commands() {
			if c.IsAvailableCommand() {
				have = append(have, c.Name())
			}
		}
		if w := suggest.Word(typed, have); w != "" {
			return fmt.Errorf("%w: did you mean %s %s?", err, path, w)
		}
		return fmt.Errorf("%w: have %s", err, strings.Join(have, ", "))
	}
	if cmd, _, ferr := root.Find(strings.Fields(path)[1:]); ferr == nil {
		if flag := flagFor(cmd, typed); flag != "" {
			return fmt.Errorf("%s takes no argument %q: use --%s %s", path, typed, flag, typed)
		}
	}
	return fmt.Errorf("%s takes no argument %q: %s --help lists the flags", path, typed, path)
}

// flagFor returns the first flag whose description names files like this one.
func flagFor(cmd *cobra.Command, file string) (flag string) {
	ext := strings.ToLower(filepath.Ext(file))
	if same, is := map[string]string{".yml": ".yaml", ".sgy": ".segy"}[ext]; is {
		ext = same
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if flag == "" && ext != "" && strings.Contains(f.Usage, ext) {
			flag = f.Name
		}
	})
	return flag
}
