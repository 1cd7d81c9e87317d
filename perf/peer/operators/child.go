package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/launch"
)

// serve answers requests on goroutine ranks until the parent is gone.
func serve(ctx context.Context, ranks int, o options) error {
	conn, err := net.Dial("tcp", os.Getenv(addrVar))
	if err != nil {
		return fmt.Errorf("parent program at %s=%q: %w", addrVar, os.Getenv(addrVar), err)
	}
	defer conn.Close()
	in, out := json.NewDecoder(conn), json.NewEncoder(conn)
	if err := out.Encode(0); err != nil {
		return err
	}
	var s *session
	for {
		var q request
		if err := in.Decode(&q); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if q.Case != nil {
			if err := s.end(); err != nil {
				return err
			}
			s = begin(ctx, launch.Config{Ranks: ranks, Threads: max(1, o.cores/ranks)}, q)
		} else {
			s.again()
		}
		a, err := s.answer()
		if err != nil {
			return err
		}
		if err := out.Encode(a); err != nil {
			return err
		}
	}
}

// session is one case on its ranks, which sleep between measurements.
type session struct {
	asks    []chan struct{} // one per rank; closed at the end
	replies chan reply
	done    chan error
}

func begin(ctx context.Context, cfg launch.Config, q request) *session {
	s := &session{replies: make(chan reply), done: make(chan error, 1)}
	for range cfg.Ranks {
		s.asks = append(s.asks, make(chan struct{}, 1))
	}
	go func() {
		s.done <- cfg.Local(ctx, func(ctx context.Context, r dist.Proc) error { return s.rank(ctx, r, q) })
	}()
	return s
}

// end waits for the ranks to leave. No session ends well.
func (s *session) end() error {
	if s == nil {
		return nil
	}
	for _, a := range s.asks {
		close(a)
	}
	return <-s.done
}

// again asks for a measurement.
func (s *session) again() {
	for _, a := range s.asks {
		a <- struct{}{}
	}
}

// answer waits for rank 0, or for the error that keeps it from answering.
func (s *session) answer() (reply, error) {
	select {
	case a := <-s.replies:
		return a, nil
	case err := <-s.done:
		return reply{}, err
	}
}

// rank sets the case up, says what comes out, and measures when asked.
func (s *session) rank(ctx context.Context, r dist.Proc, q request) error {
	j, err := build(ctx, r, *q.Case)
	if err != nil {
		return err
	}
	a := reply{Bytes: j.bytes}
	calls := make([]int, len(j.steps))
	for i, st := range j.steps {
		if err := st.run(ctx); err != nil {
			return err
		}
		m, err := st.mark(ctx)
		if err != nil {
			return err
		}
		a.Marks = append(a.Marks, m)
		if calls[i], err = enough(ctx, r, st, q.AtLeast); err != nil {
			return err
		}
	}
	if r.Rank() == 0 {
		s.replies <- a
	}
	for range s.asks[r.Rank()] {
		a, err := turn(ctx, r, j, calls)
		if err != nil {
			return err
		}
		if r.Rank() == 0 {
			s.replies <- a
		}
	}
	return nil
}

// turn measures all steps. A first time does not count: it brings the arrays
// back into the caches, and the threads of the other side's BLAS, which look for
// work for some 30 ms more, fall asleep meanwhile.
func turn(ctx context.Context, r dist.Proc, j *job, calls []int) (a reply, err error) {
	for range 2 {
		a.Seconds = a.Seconds[:0]
		for i, st := range j.steps {
			t, err := timed(ctx, r, st, calls[i])
			if err != nil {
				return a, err
			}
			a.Seconds = append(a.Seconds, t/float64(calls[i]))
		}
	}
	return a, nil
}

// enough returns how many calls take that many seconds. It doubles the number until they do.
func enough(ctx context.Context, r dist.Proc, st step, seconds float64) (int, error) {
	for n := 1; ; n *= 2 {
		if t, err := timed(ctx, r, st, n); err != nil || t >= seconds {
			return n, err
		}
	}
}

// timed returns the seconds that n calls take on the slowest rank.
func timed(ctx context.Context, r dist.Proc, st step, n int) (float64, error) {
	if err := r.Barrier(ctx); err != nil {
		return 0, err
	}
	began := time.Now()
	for range n {
		if err := st.run(ctx); err != nil {
			return 0, err
		}
	}
	t := []float64{time.Since(began).Seconds()}
	err := r.AllReduce(ctx, comm.Of(t), comm.Of(t), comm.Max)
	return t[0], err
}
