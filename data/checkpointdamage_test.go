package data_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/golops/golops/data"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/solve"
)

const (
	oldest = "iteration-000002-state-000001.checkpoint"
	newest = "iteration-000004-state-000002.checkpoint"
)

// twoStates returns a folder with the states after 2 and 4 iterations.
func twoStates(t *testing.T) data.Checkpoints {
	t.Helper()
	cp := data.Checkpoints{Dir: t.TempDir(), Keep: 2}
	if _, err := checkpointed(t, 3, 4, 2, cp); err != nil {
		t.Fatal(err)
	}
	cp.Resume = true
	return cp
}

// damages are what may happen to the bytes of a file, and words of the reason
// that is then given.
func damages(b []byte) map[string]struct {
	b    []byte
	want string
} {
	type damage = struct {
		b    []byte
		want string
	}
	n := len(b)
	foot := n - 12 - int(binary.LittleEndian.Uint64(b[n-12:]))
	flip := func(at int, bit byte) []byte {
		c := slices.Clone(b)
		c[at] ^= bit
		return c
	}
	all := map[string]damage{
		"empty":               {nil, "no checkpoint of golops"},
		"garbage":             {bytes.Repeat([]byte{0xa5, 0x5a, 0x17}, 500), "no checkpoint of golops"},
		"zeros":               {make([]byte, n), "no checkpoint of golops"},
		"another version":     {flip(18, 3), "it is of version 1, this program reads 2"},
		"flip at the start":   {flip(0, 1), "no checkpoint of golops"},
		"flip in x":           {flip(20, 1), `the vector "x" is damaged`},
		"flip in the middle":  {flip((20+foot)/2, 0x10), "is damaged"},
		"flip in the last":    {flip(foot-1, 0x80), "is damaged"},
		"flip in the footer":  {flip(foot+9, 4), "footer is damaged"},
		"flip at its end":     {flip(n-13, 4), "footer is damaged"},
		"flip in its length":  {flip(n-12, 1), "footer is damaged"},
		"flip in high length": {flip(n-5, 0x80), "damaged at its end"},
		"flip in its sum":     {flip(n-1, 1), "footer is damaged"},
		"bytes at the end":    {append(slices.Clone(b), 0), ""},
		"twice":               {append(slices.Clone(b), b...), "bytes of vectors"},
		"a vector too many":   {slices.Insert(slices.Clone(b), 20, make([]byte, 800)...), "bytes of vectors"},
		"zeroed page":         {append(append(slices.Clone(b[:40]), make([]byte, 100)...), b[140:]...), "is damaged"},
		"exchanged elements":  {slices.Concat(b[:20], b[28:36], b[20:28], b[36:]), `the vector "x" is damaged`},
	}
	for _, cut := range []int{1, 19, 20, 21, 31, 32, 33, (20 + foot) / 2, foot, foot + 1, n - 13, n - 12, n - 11, n - 4, n - 1} {
		all[fmt.Sprintf("cut at %d of %d", cut, n)] = damage{b[:cut], ""}
	}
	return all
}

// A damaged file is refused with a reason and the one before it is used; the
// next file that is written takes its place.
func TestDamaged(t *testing.T) {
	want, err := checkpointed(t, 1, 6, 0, data.Checkpoints{})
	if err != nil {
		t.Fatal(err)
	}
	cp := twoStates(t)
	good, err := os.ReadFile(filepath.Join(cp.Dir, newest))
	if err != nil {
		t.Fatal(err)
	}
	old, err := os.ReadFile(filepath.Join(cp.Dir, oldest))
	if err != nil {
		t.Fatal(err)
	}
	for name, d := range damages(good) {
		cp.Dir = t.TempDir()
		for n, b := range map[string][]byte{oldest: old, newest: d.b} {
			if err := os.WriteFile(filepath.Join(cp.Dir, n), b, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		res, err := checkpointed(t, 2, 6, 0, cp)
		if err != nil || res.Resumed != 2 || len(res.Notes) != 1 {
			t.Errorf("%s: resumed from %d, notes %v: %v", name, res.Resumed, res.Notes, err)
			continue
		}
		if note := res.Notes[0]; !strings.Contains(note, filepath.Join(cp.Dir, newest)+" is refused: ") || !strings.Contains(note, d.want) {
			t.Errorf("%s: note %q", name, note)
		}
		if err := sameHistory(res.History, want.History, 1e-12); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got, want := states(t, cp.Dir), []string{oldest, "iteration-000006-state-000003.checkpoint"}; !slices.Equal(got, want) {
			t.Errorf("%s: %v are left, want %v", name, got, want)
		}
	}
}

// Where no file is valid, the error has the reasons of all.
func TestAllDamaged(t *testing.T) {
	cp := twoStates(t)
	for n, b := range map[string]string{oldest: "", newest: "golops checkpoint 2\n"} {
		if err := os.WriteFile(filepath.Join(cp.Dir, n), []byte(b), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	_, err := checkpointed(t, 2, 6, 0, cp)
	for _, want := range []string{"solve: CGLS: resume: no checkpoint is valid", oldest + " is refused: it is no checkpoint of golops", newest + " is refused: it is cut off", "start without resuming"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q in it", err, want)
		}
	}
	cp.Resume, cp.Restart = false, true
	if res, err := checkpointed(t, 2, 3, 0, cp); err != nil || res.Resumed != 0 {
		t.Errorf("%+v: %v", res, err)
	}
}

// A state of another problem is refused with a reason that names both.
func TestMismatch(t *testing.T) {
	cp := twoStates(t)
	resume := func(name string, want ...string) func(error) {
		return func(err error) {
			t.Helper()
			for _, w := range append(want, "solve: ", "no checkpoint is valid", oldest, newest) {
				if err == nil || !strings.Contains(err.Error(), w) {
					t.Errorf("%s: got %v, want %q in it", name, err, w)
				}
			}
		}
	}
	lsqr := func(_ context.Context, p *problem[float64]) error {
		p.method = &solve.LSQR[float64, float64]{}
		return nil
	}
	resume("method", "it is of CGLS, the run is of LSQR")(other(t, cp, lsqr))
	resume("dtype", "its elements are float64, those of the run float32")(other[float32](t, cp, nil))
	resume("damp", "it was damped by 0, the run is by 0.25")(other(t, cp, func(_ context.Context, p *problem[float64]) error {
		p.damp = 0.25
		return nil
	}))
	resume("data", "it is of other data", "those of the run")(other(t, cp, func(ctx context.Context, p *problem[float64]) (err error) {
		*p, err = problemOver[float64](ctx, p.A.Domain(), 8)
		return err
	}))
	resume("sign of data", "it is of other data", "fingerprint")(other(t, cp, func(_ context.Context, p *problem[float64]) error {
		dist.Neg(p.B, p.B)
		return nil
	}))
	resume("operator", "it is of another operator", "that of the run")(other(t, cp, func(_ context.Context, p *problem[float64]) (err error) {
		p.A, err = linop.Scale(1.001, p.A)
		return err
	}))
	resume("shape", "its vectors have shapes [[7 5]", "those of the run [[6 5]")(other(t, cp, func(ctx context.Context, p *problem[float64]) error {
		s, err := p.A.Domain().Like(dist.Layout{}, 6, 5)
		if err == nil {
			*p, err = problemOver[float64](ctx, s, 7)
		}
		return err
	}))
	of := data.Checkpoints{Dir: t.TempDir(), Keep: 2} // LSQR, which has more vectors with damping
	if err := other(t, of, lsqr); err != nil {
		t.Error(err)
	}
	of.Resume = true
	err := other(t, of, func(ctx context.Context, p *problem[float64]) error {
		p.damp = 0.25
		return lsqr(ctx, p)
	})
	if err == nil || !strings.Contains(err.Error(), "it was damped by 0, the run is by 0.25") {
		t.Errorf("damp of LSQR: got %v", err)
	}
	// Rounding of another number of ranks or another device is no mismatch.
	if res, err := checkpointed(t, 7, 4, 0, cp); err != nil || res.Resumed != 4 {
		t.Errorf("%+v: %v", res, err)
	}
}

// Complex data that differ by conjugation have the same norm and real parts.
func TestMismatchOfConjugate(t *testing.T) {
	cp := data.Checkpoints{Dir: t.TempDir(), Keep: 2}
	if err := other[complex64](t, cp, nil); err != nil {
		t.Fatal(err)
	}
	cp.Resume = true
	err := other(t, cp, func(_ context.Context, p *problem[complex64]) error {
		dist.Conj(p.B, p.B)
		return nil
	})
	if err == nil || !strings.Contains(err.Error(), "it is of other data") {
		t.Errorf("got %v", err)
	}
}

// other solves a problem that change has changed, and returns the
// error of rank 1.
func other[T scalar.Scalar](t *testing.T, cp data.Checkpoints, change func(context.Context, *problem[T]) error) (err error) {
	t.Helper()
	on(t, 2, func(ctx context.Context, r dist.Proc) error {
		p, e := newProblem[T](ctx, r)
		if e == nil && change != nil {
			e = change(ctx, &p)
		}
		if e != nil {
			return e
		}
		_, e = p.run(ctx, 5, 0, cp)
		if r.Rank() == 1 {
			err = e
		}
		return nil
	})
	return err
}
