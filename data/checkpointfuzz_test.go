package data

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/solve"
)

// FuzzCheckpoint gives the reader files of any bytes, whole ones or, so that the
// checksum of the footer is no shelter, such as have any footer. It must refuse
// them or find what was written; it never fails in another way.
func FuzzCheckpoint(f *testing.F) {
	path := filepath.Join(f.TempDir(), "state")
	data := []float64{1, 2, 3, 4, 5}
	state := func(a dist.Array[float64]) *solve.State {
		return &solve.State{Method: "CG", NumberNames: []string{"γ"}, Numbers: []float64{7}, Iters: 2, History: make([]solve.Norms, 3),
			Vectors: []solve.NamedArray{{Name: "x", Array: a}}}
	}
	err := onArray(f.Context(), func(ctx context.Context, r dist.Proc, a dist.Array[float64]) error {
		if err := a.Local().CopyIn(data); err != nil {
			return err
		}
		reason, err := writeCheckpoint(ctx, r.Comm, path, state(a))
		return errors.Join(reason, err)
	})
	if err != nil {
		f.Fatal(err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	foot := good[len(checkpointMagic)+8*len(data) : len(good)-12]
	for _, b := range [][]byte{good, good[:len(good)-1], good[:len(checkpointMagic)], {}, []byte(checkpointMagic + "000000000000"), foot, foot[:len(foot)/2], foot[1:]} {
		f.Add(b, false)
		f.Add(b, true)
	}
	for _, change := range []func(h *footer){
		func(h *footer) { h.Iters = -1; h.History = nil },
		func(h *footer) { h.Sums = nil },
		func(h *footer) { h.Numbers = nil },
		func(h *footer) { h.Shapes = [][]int{{5}, {5}} },
		func(h *footer) { h.Shapes = [][]int{{1 << 62, 1 << 62}} },
		func(h *footer) { h.Iters = 1 << 62 },
	} {
		var c footer
		if err := gob.NewDecoder(bytes.NewReader(foot)).Decode(&c); err != nil {
			f.Fatal(err)
		}
		change(&c)
		var b bytes.Buffer
		if err := gob.NewEncoder(&b).Encode(c); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes(), true)
	}
	path = filepath.Join(f.TempDir(), "state")
	rank := standing(f)
	f.Fuzz(func(t *testing.T, b []byte, footer bool) {
		if footer {
			all := append([]byte(checkpointMagic), good[len(checkpointMagic):len(checkpointMagic)+8*len(data)]...)
			all = binary.LittleEndian.AppendUint64(append(all, b...), uint64(len(b)))
			b = binary.LittleEndian.AppendUint32(all, crc32.ChecksumIEEE(b))
		}
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		err := rank(func(ctx context.Context, r dist.Proc, a dist.Array[float64]) error {
			if err := a.Local().CopyIn(make([]float64, len(data))); err != nil {
				return err
			}
			got := state(a)
			reason, err := readCheckpoint(ctx, r.Comm, path, got)
			if err != nil {
				return err
			}
			want := data
			if reason != nil {
				want = make([]float64, len(data)) // untouched
			} else if got.Iters < 0 || len(got.History) != got.Iters+1 || len(got.Numbers) != 1 {
				return fmt.Errorf("accepted %+v", got)
			}
			if have, err := a.Host(); err != nil || !slices.Equal(have, want) {
				return fmt.Errorf("reason %v: elements %v, want %v: %w", reason, have, want, err)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}

type arrayJob func(ctx context.Context, r dist.Proc, a dist.Array[float64]) error

// standing starts a rank that stays for all inputs: to start one for each takes
// longer than to read. It returns a function that runs a job there.
func standing(f *testing.F) func(job arrayJob) error {
	jobs, answers, ended := make(chan arrayJob), make(chan error), make(chan struct{})
	var why error      // the rank has ended
	ctx := f.Context() // not to be asked for once inputs come
	go func() {
		defer close(ended)
		why = onArray(ctx, func(ctx context.Context, r dist.Proc, a dist.Array[float64]) error {
			for job := range jobs {
				answers <- job(ctx, r, a)
			}
			return nil
		})
	}()
	f.Cleanup(func() { close(jobs) })
	return func(job arrayJob) error {
		select {
		case jobs <- job:
		case <-ended:
			return why
		}
		select {
		case err := <-answers:
			return err
		case <-ended:
			return why
		}
	}
}

// onArray runs f with an array of five zeros on one rank.
func onArray(ctx context.Context, f arrayJob) error {
	return testdevices.Local(ctx, 1, func(ctx context.Context, r dist.Proc) error {
		s, err := dist.NewSpace(ctx, r, dist.Layout{}, 5)
		if err != nil {
			return err
		}
		a, err := dist.New[float64](s)
		if err != nil {
			return err
		}
		return f(ctx, r, a)
	})
}

func TestCheckpointNames(t *testing.T) {
	f := CheckpointFolder{Checkpoints: Checkpoints{Dir: "a"}, last: 999998}
	for _, want := range []int{999999, 1000000} {
		if n, iter, ok := parseName(f.next(12345678)); !ok || n != want || iter != 12345678 {
			t.Errorf("got %d, %t, want %d", n, ok, want)
		}
	}
	for _, name := range []string{"", "iteration-1", "iteration-1-state-2", "iteration-2-state-x.checkpoint", "iteration-1-state--2.checkpoint",
		"iteration-1-state-2.checkpoint.bak", "xiteration-1-state-2.checkpoint", "iteration-1-state-2.checkpoint.tmp.tmp"} {
		if n, _, ok := parseName(name); ok {
			t.Errorf("%q has number %d", name, n)
		}
	}
}
