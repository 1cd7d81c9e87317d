package trace

import (
	"strings"
	"testing"
)

func TestFromEnv(t *testing.T) {
	for _, tc := range []struct {
		value string
		want  Config
		fails bool
	}{
		{value: ""},
		{value: "tree", want: Config{Mode: Tree}},
		{value: "tree:ranks", want: Config{Mode: TreeRanks}},
		{value: "x.json", want: Config{Mode: Chrome, File: "x.json"}},
		{value: "/tmp/a b/x.json", want: Config{Mode: Chrome, File: "/tmp/a b/x.json"}},
		{value: "x.svg", want: Config{Mode: SVG, File: "x.svg"}},
		{value: "dir/.svg", fails: true},
		{value: "1", fails: true},
		{value: "Tree", fails: true},
		{value: "tree:rank", fails: true},
		{value: " tree", fails: true},
		{value: "x.txt", fails: true},
		{value: "json", fails: true},
		{value: ".json", fails: true},
		{value: "dir/.json", fails: true},
		{value: "x.json/", fails: true},
	} {
		t.Run(tc.value, func(t *testing.T) {
			t.Setenv(EnvVar, tc.value)
			got, err := FromEnv()
			if got != tc.want || (err != nil) != tc.fails {
				t.Errorf("got %+v, %v; want %+v, error %v", got, err, tc.want, tc.fails)
			}
			if err == nil {
				return
			}
			for _, part := range []string{EnvVar, `"` + tc.value + `"`, "tree", "tree:ranks", ".json", ".svg", "empty"} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error %q does not name %s", err, part)
				}
			}
		})
	}
}

func TestModeString(t *testing.T) {
	for m, want := range map[Mode]string{Off: "off", Tree: "tree", TreeRanks: "tree:ranks", Chrome: "chrome", SVG: "svg", 9: "Mode(9)"} {
		if got := m.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
