package dl

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// subfolders and pipSubfolders are where a folder that a user names may have
// libraries: the folder itself, those of a toolkit, and those where pip puts NVIDIA's
// packages: below nvidia, site-packages or a virtual environment.
var (
	subfolders    = []string{"", "lib64", "lib"}
	pipSubfolders = []string{"*/lib", "nvidia/*/lib", "lib/python*/site-packages/nvidia/*/lib"}
)

// Below returns the files to try for libraries of these names in a folder, those
// of the first name first, or beside a file.
func Below(folder string, names ...string) []string {
	if info, err := os.Stat(folder); err == nil && !info.IsDir() {
		folder = filepath.Dir(folder)
	}
	var files []string
	for _, p := range subfolders {
		for _, name := range names {
			files = append(files, filepath.Join(folder, p, name))
		}
	}
	for _, p := range pipSubfolders {
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
