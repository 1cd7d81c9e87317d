package commtest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/golops/golops/comm"
)

// thing is a value with all kinds of fields that gob encodes.
type thing struct {
	Name   string
	Rank   int
	Values []float64
	Table  map[string][]int
	Next   *thing
	Z      complex128
}

func newThing(rank int) thing {
	return thing{
		Name: strings.Repeat("déjà vu ", rank), Rank: rank + 1, Values: []float64{float64(rank), 1e300},
		Table: map[string][]int{"own": {rank, -rank}, "other": {7}}, Next: &thing{Name: "next"}, Z: complex(1, float64(rank)),
	}
}

// picky is a value that cannot be encoded if it is Bad.
type picky struct{ Bad bool }

var errPicky = errors.New("too bad to travel")

// GobEncode is part of gob.GobEncoder.
func (p picky) GobEncode() ([]byte, error) {
	if p.Bad {
		return nil, errPicky
	}
	return []byte{1}, nil
}

// GobDecode is part of gob.GobDecoder.
func (p *picky) GobDecode([]byte) error { return nil }

// objectCases send Go values and errors.
func objectCases() []Case {
	return []Case{
		objectCase("struct", newThing),
		objectCase("string", func(r int) string { return strings.Repeat("x", 1000*r) }),
		objectCase("slice", func(r int) []int32 { return append(make([]int32, r), 5) }),
		objectCase("map", func(r int) map[int]string { return map[int]string{r: "me", -1: "nobody"} }),
		objectCase("int", func(r int) int { return r*r + 1 }),
		on("Objects/cannot be encoded", badObjects), on("Agree", agree),
	}
}

// objectCase sends the values of make by all functions.
func objectCase[T any](name string, make func(rank int) T) Case {
	return on("Objects/"+name, func(r *rank) error {
		equal := func(how string, from int, got T) {
			want := make(from)
			r.checkf(reflect.DeepEqual(got, want), "%s of %T from rank %d: rank %d: got %v, want %v", how, got, from, r.me, got, want)
		}
		for root := range r.size {
			var v T
			if r.me == root {
				v = make(root)
			}
			if err := comm.BroadcastObject(r.ctx, r.c, &v, root); err != nil {
				return err
			}
			equal("BroadcastObject", root, v)

			all, err := comm.GatherObjects(r.ctx, r.c, make(r.me), root)
			if err != nil {
				return err
			}
			r.checkf((len(all) == r.size) == (r.me == root), "GatherObjects: rank %d: got %d values at root %d", r.me, len(all), root)
			for i, v := range all {
				equal("GatherObjects", i, v)
			}
			if err := objectToNext(r.ctx, r, root, make, equal); err != nil {
				return err
			}
		}
		all, err := comm.AllGatherObjects(r.ctx, r.c, make(r.me))
		if err != nil {
			return err
		}
		r.checkf(len(all) == r.size, "AllGatherObjects: rank %d: got %d values, want %d", r.me, len(all), r.size)
		for i, v := range all {
			equal("AllGatherObjects", i, v)
		}
		return nil
	})
}

// objectToNext sends two values from one rank to the next.
func objectToNext[T any](ctx context.Context, r *rank, from int, make func(rank int) T, equal func(string, int, T)) error {
	to := (from + 1) % r.size
	for k := range 2 {
		switch {
		case from == to:
			return nil
		case r.me == from:
			if err := comm.SendObject(ctx, r.c, make(from+k), to); err != nil {
				return err
			}
		case r.me == to:
			var v T
			if err := comm.RecvObject(ctx, r.c, &v, from); err != nil {
				return err
			}
			equal("SendObject", from+k, v)
		}
	}
	return nil
}

// badObjects sends values that cannot be encoded. No rank may wait, sender and receivers must
// return an error, and the group must still work.
func badObjects(r *rank) error {
	fails := func(how string, err error, want bool, text string) {
		r.checkf((err != nil) == want, "%s: rank %d of %d: got error %v, want one: %v", how, r.me, r.size, err, want)
		r.checkf(err == nil || strings.Contains(err.Error(), text), "%s: rank %d of %d: error does not say %q: %w",
			how, r.me, r.size, text, err)
	}
	for bad := range r.size {
		f := func() {}
		fails("BroadcastObject of a function", comm.BroadcastObject(r.ctx, r.c, &f, bad), true, "func()")
		if err := r.alive(); err != nil {
			return err
		}
		if to := (bad + 1) % r.size; to != bad {
			switch r.me {
			case bad:
				fails("SendObject of a function", comm.SendObject(r.ctx, r.c, func() {}, to), true, "func()")
			case to:
				var s string
				fails("RecvObject of a function", comm.RecvObject(r.ctx, r.c, &s, bad), true, fmt.Sprintf("rank %d", bad))
			}
			if err := r.alive(); err != nil {
				return err
			}
		}
		_, err := comm.AllGatherObjects(r.ctx, r.c, picky{r.me == bad})
		fails("AllGatherObjects", err, true, errPicky.Error())
		for root := range r.size {
			_, err := comm.GatherObjects(r.ctx, r.c, picky{r.me == bad}, root)
			fails("GatherObjects", err, r.me == root || r.me == bad, errPicky.Error())
			if err := r.alive(); err != nil {
				return err
			}
		}
	}
	return nil
}

// agree lets different sets of ranks fail: none, one, a range, all.
func agree(r *rank) error {
	err := comm.Agree(r.ctx, r.c, nil)
	r.checkf(err == nil, "agree: rank %d: no rank has failed: %w", r.me, err)
	if r.size == 1 {
		own := errors.New("own")
		err := comm.Agree(r.ctx, r.c, own)
		r.checkf(errors.Is(err, own), "agree: one rank: got %v, want its own error", err)
		return nil
	}
	for first := range r.size {
		for _, last := range []int{first, r.size - 1} {
			var own error
			if r.me >= first && r.me <= last {
				own = fmt.Errorf("failure of %d", r.me)
			}
			err := comm.Agree(r.ctx, r.c, own)
			if own != nil {
				r.checkf(errors.Is(err, own), "agree: rank %d: ranks %d to %d have failed: got %v, want own error", r.me, first, last, err)
				continue
			}
			var other *comm.RankError
			text := fmt.Sprintf("failure of %d", first)
			ok := errors.As(err, &other) && other.Rank == first && strings.Contains(err.Error(), text)
			r.checkf(ok, "agree: rank %d: ranks %d to %d have failed: got %v, want rank %d: %s", r.me, first, last, err, first, text)
		}
	}
	return r.alive()
}
