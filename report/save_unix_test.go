//go:build unix

package report

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// Devices, pipes and sockets stay what they are, and the error says so.
func TestSaveReplacesNoDevice(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	if err := syscall.Mkfifo(in("pipe"), 0o666); err != nil {
		t.Fatal(err)
	}
	socket, err := net.Listen("unix", in("socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	names := []string{"pipe", "socket"}
	switch err := syscall.Mknod(in("null"), syscall.S_IFCHR|0o666, int(unix.Mkdev(1, 3))); {
	case err == nil:
		names = append(names, "null")
	case !errors.Is(err, os.ErrPermission): // only root may make a device
		t.Fatal(err)
	}
	if err := os.Symlink("pipe", in("link")); err != nil {
		t.Fatal(err)
	}
	for _, name := range append(names, "link") {
		before, err := os.Lstat(in(name))
		if err != nil {
			t.Fatal(err)
		}
		err = Save(in(name), func(w io.Writer) error { _, err := io.WriteString(w, "picture"); return err })
		if err == nil || !strings.Contains(err.Error(), in(name)+": it is there already and is no regular file") {
			t.Errorf("%s: got %v", name, err)
		}
		if after, err := os.Lstat(in(name)); err != nil || after.Mode() != before.Mode() {
			t.Errorf("%s was %v, is %v, %v", name, before.Mode(), after.Mode(), err)
		}
	}
}

// What a link points to is replaced, and the umask holds.
func TestSaveFollowsLinks(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o027))
	dir := t.TempDir()
	file, link := filepath.Join(dir, "a.png"), filepath.Join(dir, "link.png")
	if err := errors.Join(os.Symlink("a.png", link), os.WriteFile(file, []byte("old"), 0o666)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{link, filepath.Join(dir, "new.png")} {
		if err := Save(path, func(w io.Writer) error { _, err := io.WriteString(w, "new"); return err }); err != nil {
			t.Fatal(err)
		}
		if s, err := os.Stat(path); err != nil || s.Mode().Perm() != 0o640 {
			t.Errorf("%s: mode %v, want 0640, %v", path, s.Mode(), err)
		}
	}
	to, err := os.Readlink(link)
	if b, _ := os.ReadFile(file); err != nil || to != "a.png" || string(b) != "new" {
		t.Errorf("the link goes to %q, the file holds %q, %v", to, b, err)
	}
}
