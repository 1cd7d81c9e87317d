//go:build !(linux || darwin || freebsd || windows)

package disk

import (
	"errors"
	"os"
)

const noFollow = 0

const removeOpen = false

func flock(*os.File) error { return errors.ErrUnsupported }

// Free returns how many bytes this user can still write to the file system of
// a folder. ok is false where the system does not say.
func Free(string) (bytes uint64, ok bool) { return 0, false }

// SameDisk reports whether two folders are on one file system.
func SameDisk(string, string) bool { return true }
