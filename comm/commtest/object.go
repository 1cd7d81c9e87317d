package commtest

import (
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
	return on("Objects/"+name, func(r *rank) {
		equal := func(how string, from int, got T) {
			want := make(from)
			r.checkf(reflect.DeepEqual(got, want), "%s of %T from rank %d: rank %d: got %v, want %v", how, got, from, r.me, got, want)
		}
		for root := range r.size {
			var v T
			if r.me == root {
				v = make(root)
			}
			must(comm.BroadcastObject(r.ctx, r.c, &v, root))
			equal("BroadcastObject", root, v)

			all, err := comm.GatherObjects(r.ctx, r.c, make(r.me), root)
			must(err)
			r.checkf((len(all) == r.size) == (r.me == root), "GatherObjects: rank %d: got %d values at root %d", r.me, len(all), root)
			for i, v := range all {
				equal("GatherObjects", i, v)
			}
			objectToNext(r, root, make, equal)
		}
		all, err := comm.AllGatherObjects(r.ctx, r.c, make(r.me))
		must(err)
		r.checkf(len(all) == r.size, "AllGatherObjects: rank %d: got %d values, want %d", r.me, len(all), r.size)
		for i, v := range all {
			equal("AllGatherObjects", i, v)
		}
	})
}

// objectToNext sends two values from one rank to the next.
func objectToNext[T any](r *rank, from int, make func(rank int) T, equal func(string, int, T)) {
	to := (from + 1) % r.size
	for k := range 2 {
		switch {
		case from == to:
			return
		case r.me == from:
			must(comm.SendObject(r.ctx, r.c, make(from+k), to))
		case r.me == to:
			var v T
			must(comm.RecvObject(r.ctx, r.c, &v, from))
			equal("SendObject", from+k, v)
		}
	}
}

// badObjects sends values that cannot be encoded. No rank may wait, sender and receivers must
// return an error, and the group must still work.
func badObjects(r *rank) {
	for bad := range r.size {
		f := func() {}
		r.fails("BroadcastObject of a function", "func()", comm.BroadcastObject(r.ctx, r.c, &f, bad))
		to := (bad + 1) % r.size
		switch {
		case to == bad:
		case r.me == bad:
			r.fails("SendObject of a function", "func()", comm.SendObject(r.ctx, r.c, func() {}, to))
		case r.me == to:
			var s string
			r.fails("RecvObject of a function", fmt.Sprintf("rank %d", bad), comm.RecvObject(r.ctx, r.c, &s, bad))
		default:
			r.alive()
		}
		_, err := comm.AllGatherObjects(r.ctx, r.c, picky{r.me == bad})
		r.fails("AllGatherObjects", errPicky.Error(), err)
		for root := range r.size {
			_, err := comm.GatherObjects(r.ctx, r.c, picky{r.me == bad}, root)
			if r.me == root || r.me == bad {
				r.fails("GatherObjects", errPicky.Error(), err)
			} else {
				must(err)
				r.alive()
			}
		}
	}
}

// agree lets different sets of ranks fail: none, one, a range, all.
func agree(r *rank) {
	mustf(comm.Agree(r.ctx, r.c, nil), "agree: no rank has failed")
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
	r.alive()
}
