package commtest

import (
	"fmt"
	"strings"

	"github.com/golops/golops/comm"
)

// Labels of the largest length, with a common beginning, and no label.
var labelPairs = [][2]comm.Label{
	{comm.LabelOf("forward"), comm.LabelOf("adjoint")},
	{comm.LabelOf("norm 1.5"), comm.LabelOf("norm 1")},
	{comm.LabelOf("dot"), 0},
}

// labelCases have calls of the same type and count but with different labels.
func labelCases() []Case {
	cases := []Case{on("Mismatch/label of a message", messageLabels)}
	for _, k := range []struct {
		name string
		call func(r *rank, l comm.Label) error
	}{
		{"AllReduce", func(r *rank, l comm.Label) error {
			b := r.floats(4).Labelled(l)
			return r.c.AllReduce(r.ctx, b, b, comm.Sum)
		}},
		{"AllReduce of much", func(r *rank, l comm.Label) error {
			return r.c.AllReduce(r.ctx, r.floats(300000), r.floats(300000).Labelled(l), comm.Sum)
		}},
		{"IAllReduce", func(r *rank, l comm.Label) error {
			return r.finished(r.c.IAllReduce(r.ctx, r.floats(4), r.floats(4).Labelled(l), comm.Sum))
		}},
		{"Reduce", func(r *rank, l comm.Label) error {
			return r.c.Reduce(r.ctx, r.floats(4), r.floats(4).Labelled(l), comm.Max, 0)
		}},
		{"Broadcast", func(r *rank, l comm.Label) error { return r.c.Broadcast(r.ctx, r.floats(4).Labelled(l), 0) }},
		{"AllGather", func(r *rank, l comm.Label) error {
			return r.c.AllGather(r.ctx, r.floats(4*r.size), r.floats(4).Labelled(l))
		}},
		{"AllGatherV", func(r *rank, l comm.Label) error {
			return r.c.AllGatherV(r.ctx, r.floats(4*r.size), uniform(4, r.size), r.floats(4).Labelled(l))
		}},
		{"Gather", func(r *rank, l comm.Label) error {
			return r.c.Gather(r.ctx, r.floats(4*r.size), r.floats(4).Labelled(l), 0)
		}},
		{"Scatter", func(r *rank, l comm.Label) error {
			return r.c.Scatter(r.ctx, r.floats(4).Labelled(l), r.floats(4*r.size), 0)
		}},
		{"ReduceScatter", func(r *rank, l comm.Label) error {
			return r.c.ReduceScatter(r.ctx, r.floats(4), r.floats(4*r.size).Labelled(l), comm.Sum)
		}},
		{"AllToAll", func(r *rank, l comm.Label) error {
			return r.c.AllToAll(r.ctx, r.floats(4*r.size), r.floats(4*r.size).Labelled(l))
		}},
		{"AllToAllV", func(r *rank, l comm.Label) error {
			n := uniform(4, r.size)
			return r.c.AllToAllV(r.ctx, r.floats(4*r.size), n, r.floats(4*r.size).Labelled(l), n)
		}},
	} {
		cases = append(cases, on("Mismatch/label of "+k.name, func(r *rank) error {
			if r.size == 1 {
				return nil
			}
			for i, l := range labelPairs {
				odd := i % r.size
				err := k.call(r, pick(r.me == odd, l[0], l[1]))
				r.check(r.isMismatch(k.name, err, odd))
				r.check(shows(err, l[:]...))
				r.release()
				if err := r.alive(); err != nil {
					return err
				}
				if err := k.call(r, l[0]); err != nil { // equal labels work
					return err
				}
				r.release()
			}
			return nil
		}))
	}
	return cases
}

// shows checks that an error contains all labels.
func shows(err error, labels ...comm.Label) error {
	for _, l := range labels {
		if err != nil && l != 0 && !strings.Contains(err.Error(), fmt.Sprintf("%q", l)) {
			return fmt.Errorf("got %w, want it to show %q", err, l)
		}
	}
	return nil
}

// messageLabels sends messages whose receive has another label. The receiver must return an
// error. It need not name a label that it has never used.
func messageLabels(r *rank) error {
	if r.size == 1 {
		return nil
	}
	last := r.size - 1
	for _, n := range []int{0, 4, 100000} {
		for _, l := range labelPairs {
			for round, sent := range l {
				asked := l[1-round]
				switch r.me {
				case 0:
					_ = r.c.Send(r.ctx, r.floats(n).Labelled(sent), last)
				case last:
					err := r.c.Recv(r.ctx, r.floats(n).Labelled(asked), 0)
					r.checkf(err != nil, "%d floats sent as %q, asked for as %q: the receiver gets no error", n, sent, asked)
					r.check(shows(err, asked))
					if round == 1 {
						r.check(shows(err, sent))
					}
				}
				if err := r.alive(); err != nil {
					return err
				}
				switch r.me { // with equal labels the message arrives
				case 0:
					if err := r.c.Send(r.ctx, r.floats(n).Labelled(sent), last); err != nil {
						return err
					}
				case last:
					if err := r.c.Recv(r.ctx, r.floats(n).Labelled(sent), 0); err != nil {
						return err
					}
				}
				r.release()
			}
		}
	}
	return nil
}
