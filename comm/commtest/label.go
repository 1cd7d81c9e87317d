package commtest

import (
	"fmt"
	"strings"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/scalar"
)

// Labels of the largest length, with a common beginning, and no label.
var labelPairs = [][2]comm.Label{
	{comm.LabelOf("forward"), comm.LabelOf("adjoint")},
	{comm.LabelOf("norm 1.5"), comm.LabelOf("norm 1")},
	{comm.LabelOf("dot"), 0},
}

// labels calls a collective with the same type and count but with different labels.
func labels(r *rank, k driver.Kind, n int) {
	call := func(l comm.Label) error {
		a := r.arguments(k, scalar.Float32, n)
		*a.main() = a.main().Labelled(l)
		return r.call(a)
	}
	for i, l := range labelPairs {
		odd := i % r.size
		err := call(pick(r.me == odd, l[0], l[1]))
		r.isMismatch(k.String(), err, odd)
		r.shows(err, l[:]...)
		r.release()
		r.alive()
		must(call(l[0])) // equal labels work
		r.release()
	}
}

// shows checks that an error contains all labels.
func (r *rank) shows(err error, labels ...comm.Label) {
	for _, l := range labels {
		r.checkf(err == nil || l == 0 || strings.Contains(err.Error(), fmt.Sprintf("%q", l)), "got %v, want it to show %q", err, l)
	}
}

// messageLabels sends messages whose receive has another label. The receiver must return an
// error. It need not name a label that it has never used.
func messageLabels(r *rank) {
	last := r.size - 1
	// send sends n elements with one label from rank 0 to the last, which asks for another.
	send := func(n int, sent, asked comm.Label) error {
		switch r.me {
		case 0:
			return r.c.Send(r.ctx, r.floats(n).Labelled(sent), last)
		case last:
			return r.c.Recv(r.ctx, r.floats(n).Labelled(asked), 0)
		}
		return nil
	}
	for _, n := range []int{0, 4, 100000} {
		for _, l := range labelPairs {
			for round, sent := range l {
				asked := l[1-round]
				if err := send(n, sent, asked); r.me == last {
					r.checkf(err != nil, "%d floats sent as %q, asked for as %q: the receiver gets no error", n, sent, asked)
					r.shows(err, asked)
					if round == 1 {
						r.shows(err, sent)
					}
				}
				r.alive()
				must(send(n, sent, sent)) // with equal labels the message arrives
				r.release()
			}
		}
	}
}
