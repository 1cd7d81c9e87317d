package data_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/golops/golops/data"
	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/testdevices"
)

// onAll runs f on three ranks and wants an error with these words on each.
func onAll(t *testing.T, words []string, f func(ctx context.Context, r dist.Proc) error) {
	t.Helper()
	err := testdevices.Local(t.Context(), 3, func(ctx context.Context, r dist.Proc) error {
		err := f(ctx, r)
		if err == nil {
			return errors.New("no error")
		}
		for _, w := range words {
			if !strings.Contains(err.Error(), w) {
				return fmt.Errorf("error %q lacks %q", err, w)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestLoadFaults wants every rank to learn of a fault on any.
func TestLoadFaults(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	good := encode(t, []int{6, 4}, make([]float32, 24))
	for name, b := range map[string][]byte{
		"good.npy":      good,
		"short.npy":     good[:len(good)-4],
		"transpose.npy": encode(t, []int{4, 6}, make([]float32, 24)),
		"flat.npy":      encode(t, []int{24}, make([]float32, 24)),
		"double.npy":    encode(t, []int{6, 4}, make([]float64, 24)),
		"complex.npy":   encode(t, []int{6, 4}, make([]complex64, 24)),
	} {
		if err := os.WriteFile(at(name), b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name, one, others string
		want              []string
	}{
		{"missing", "none.npy", "none.npy", []string{"data: load " + at("none.npy") + " as float32: ", "no such file"}},
		{"truncated", "short.npy", "short.npy", []string{"truncated", "it has 220 bytes", "need 224"}},
		{"wrong shape", "transpose.npy", "transpose.npy", []string{"the file has shape [4 6], the space has [6 4]"}},
		{"wrong axes", "flat.npy", "flat.npy", []string{"shape [24]", "[6 4]"}},
		{"complex", "complex.npy", "complex.npy", []string{"complex and cannot be read as float32"}},
		{"missing on one", "none.npy", "good.npy", []string{"rank 1", "no such file"}},
		{"truncated on one", "short.npy", "good.npy", []string{"rank 1", "truncated"}},
		{"wrong shape on one", "transpose.npy", "good.npy", []string{"rank 1", "shape [4 6]"}},
		{"right on one", "good.npy", "transpose.npy", []string{"rank ", "shape [4 6]"}},
		{"other type on one", "double.npy", "good.npy", []string{"ranks disagree", "<f4", "<f8"}},
	} {
		for _, l := range []dist.Layout{{}, dist.Split(1), {Replicate: dist.Checked}} {
			t.Run(c.name, func(t *testing.T) {
				onAll(t, c.want, func(ctx context.Context, r dist.Proc) error {
					s, err := dist.NewSpace(ctx, r, l, 6, 4)
					if err != nil {
						return err
					}
					path := at(c.others)
					if r.Rank() == 1 {
						path = at(c.one)
					}
					_, err = data.Load[float32](ctx, path, s)
					return err
				})
			})
		}
	}
}

// meddler is a device that lets a test change the world before a rank writes.
type meddler struct {
	device.Device
	sync func() error
}

func (m meddler) Sync(ctx context.Context) error {
	if m.sync == nil {
		return m.Device.Sync(ctx)
	}
	return m.sync()
}

// TestSaveFaults wants every rank to return the fault of one, and no file to remain.
func TestSaveFaults(t *testing.T) {
	const old = "what was there"
	for _, c := range []struct {
		name   string
		rank   int
		meddle func(path, temp string) error
		want   []string
	}{
		{"device fails", 1, func(_, _ string) error { return errors.New("kernel went wrong") }, []string{"rank 1", "kernel went wrong"}},
		{"device of rank 0 fails", 0, func(_, _ string) error { return errors.New("kernel went wrong") }, []string{"rank 0", "kernel went wrong"}},
		{"file is gone", 2, func(_, temp string) error { return os.Remove(temp) }, []string{"rank ", "must see the folder"}},
		{"file is another", 2, func(_, temp string) error { return os.Truncate(temp, 3) }, []string{"rank ", "must see the same folder"}},
		{"target is a folder", 0, func(path, _ string) error {
			return errors.Join(os.Remove(path), os.Mkdir(path, 0o777))
		}, []string{"rank 0", "rename"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "out.npy")
			if err := os.WriteFile(path, []byte(old), 0o666); err != nil {
				t.Fatal(err)
			}
			onAll(t, append(c.want, path), func(ctx context.Context, r dist.Proc) error {
				m := meddler{Device: r.Device}
				if r.Rank() == c.rank {
					m.sync = func() error {
						temp, err := filepath.Glob(filepath.Join(dir, ".golops-*.tmp"))
						if err != nil || len(temp) != 1 {
							return fmt.Errorf("temporary files are %v %v", temp, err)
						}
						return c.meddle(path, temp[0])
					}
				}
				r, err := dist.NewProc(ctx, r.Comm, &m)
				if err != nil {
					return err
				}
				s, err := dist.NewSpace(ctx, r, dist.Layout{}, 6, 4)
				if err != nil {
					return err
				}
				a, err := dist.New[float64](s)
				if err != nil {
					return err
				}
				return data.Save(ctx, path, a)
			})
			wantFiles(t, dir, "out.npy")
			if b, err := os.ReadFile(path); c.rank > 0 && (err != nil || string(b) != old) {
				t.Errorf("file now holds %.20q %v", b, err)
			}
		})
	}
}

func TestSaveWrong(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		name string
		want []string
		save func(ctx context.Context, r dist.Proc, a dist.Array[float64]) error
	}{
		{"no folder", []string{"rank 0", "no such file"}, func(ctx context.Context, _ dist.Proc, a dist.Array[float64]) error {
			return data.Save(ctx, filepath.Join(dir, "none", "a.npy"), a)
		}},
		{"other path on one", []string{"ranks disagree", "0.npy", "1.npy"}, func(ctx context.Context, r dist.Proc, a dist.Array[float64]) error {
			return data.Save(ctx, filepath.Join(dir, fmt.Sprintf("%d.npy", r.Rank())), a)
		}},
		{"stack", []string{"save its parts"}, func(ctx context.Context, _ dist.Proc, a dist.Array[float64]) error {
			stack, err := dist.StackOf(a, a)
			if err != nil {
				return err
			}
			return data.Save(ctx, filepath.Join(dir, "a.npy"), stack)
		}},
		{"load a stack", []string{"load its parts"}, func(ctx context.Context, _ dist.Proc, a dist.Array[float64]) error {
			s, err := dist.Stack(a.Space(), a.Space())
			if err != nil {
				return err
			}
			_, err = data.Load[float64](ctx, filepath.Join(dir, "a.npy"), s)
			return err
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			onAll(t, c.want, func(ctx context.Context, r dist.Proc) error {
				s, err := dist.NewSpace(ctx, r, dist.Layout{}, 6, 4)
				if err != nil {
					return err
				}
				a, err := dist.New[float64](s)
				if err != nil {
					return err
				}
				return c.save(ctx, r, a)
			})
			wantFiles(t, dir)
		})
	}
}

// TestCancelled wants an end, not a file, when the context is over.
func TestCancelled(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.npy")
	ctx, cancel := context.WithCancel(t.Context())
	err := testdevices.Local(ctx, 3, func(ctx context.Context, r dist.Proc) error {
		s, err := dist.NewSpace(ctx, r, dist.Layout{}, 6, 4)
		if err != nil {
			return err
		}
		a, err := dist.New[float64](s)
		if err != nil {
			return err
		}
		cancel()
		return data.Save(ctx, path, a)
	})
	if err == nil {
		t.Error("no error")
	}
	wantFiles(t, dir)
}
