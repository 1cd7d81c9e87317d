package dl

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// places are where a folder that a user names may have libraries: in itself, as
// a toolkit, or where pip puts each package of NVIDIA's below its folder
// nvidia, below site-packages, and below a virtual environment.
var (
	places    = []string{"", "lib64", "lib"}
	pipPlaces = []string{"*/lib", "nvidia/*/lib", "lib/python*/site-packages/nvidia/*/lib"}
)

// Below returns the files to try for libraries of these names in a folder, those
// of the first name first, or beside a file.
func Below(folder string, names ...string) []string {
	if info, err := os.Stat(folder); err == nil && !info.IsDir() {
		folder = filepath.Dir(folder)
	}
	var files []string
	for _, p := range places {
		for _, name := range names {
			files = append(files, filepath.Join(folder, p, name))
		}
	}
	for _, p := range pipPlaces {
		for _, name := range names {
			// The pattern is well-formed; the folder is none and may have any name.
			found, _ := fs.Glob(os.DirFS(folder), p+"/"+name)
			for _, f := range found {
				files = append(files, filepath.Join(folder, f))
			}
		}
	}
	return files
}

// Matching returns the files of these names in folders that match a pattern,
// such as /usr/local/cuda-*/lib64, those of the first name first and of the
// newest version before others.
func Matching(pattern string, names ...string) []string {
	var files []string
	for _, name := range names {
		found, _ := filepath.Glob(filepath.Join(pattern, name))
		slices.Reverse(found)
		files = append(files, found...)
	}
	return files
}
