package trace

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"strings"
	"testing"
	"time"
)

// solver is a small program: three steps with marks, on each rank slower than
// on the one before. Rank 0 marks after End, rank 1 alone reads, rank 2 has no
// room for its last mark and does not end its last step.
func solver(t *testing.T, rank int) Track {
	return record(t, rank, func(ctx context.Context, r *Recorder, c *fakeClock) {
		if rank == 2 {
			r.limit = 12
		}
		slow := time.Duration(rank + 1)
		cg := Begin(ctx, "cg")
		if rank == 1 {
			read := Begin(ctx, "read")
			c.add(5 * time.Millisecond)
			read.End()
		}
		for i := range 3 {
			step := Begin(ctx, "step")
			c.add(time.Microsecond)
			step.Mark("Begin dot")
			dot := Begin(ctx, "dot")
			c.add(322 * time.Microsecond * slow)
			dot.End()
			step.Mark("Finish dot")
			if rank == 2 && i == 2 {
				break
			}
			c.add(10 * time.Microsecond)
			step.End()
		}
		cg.End()
		if rank == 0 {
			cg.Mark("too late")
		}
	})
}

// lines joins lines, because golden text with trailing newlines reads better so.
func lines(s ...string) string { return strings.Join(s, "\n") + "\n" }

func TestWriteTree(t *testing.T) {
	all := []Track{solver(t, 2), solver(t, 0), solver(t, 1)} // any order
	nothing := record(t, 3, func(context.Context, *Recorder, *fakeClock) {})
	strange := record(t, 0, func(ctx context.Context, _ *Recorder, c *fakeClock) {
		a := Begin(ctx, "größe\n2")
		a.Mark("")
		c.add(1234567 * time.Microsecond)
		a.End()
	})
	for _, tc := range []struct {
		name    string
		tracks  []Track
		perRank bool
		want    string
	}{
		{"no tracks", nil, false, lines(`no region was recorded on 0 ranks`)},
		{"empty track", []Track{nothing}, true, lines(`no region was recorded on 1 rank`)},
		{"over ranks", all, false, lines(
			`mean over 3 ranks                       calls     min s    mean s     max s  slowest`,
			`cg: 0.003628 s                              1  0.000999  0.003628  0.006965   rank 1`,
			`  step: 0.001962 s                          3  0.000999  0.001962  0.002921   rank 2  1 never ended`,
			`    (start)-->Begin dot: 0.000003 s         3  0.000003  0.000003  0.000003   rank 0`,
			`    Begin dot-->Finish dot: 0.001610 s   2..3  0.000966  0.001610  0.001932   rank 1`,
			`    Finish dot-->(end): 0.000027 s       2..3  0.000020  0.000027  0.000030   rank 0`,
			`    dot: 0.001932 s                         3  0.000966  0.001932  0.002898   rank 2`,
			`  read: 0.005000 s                          1  0.005000  0.005000  0.005000   rank 1  on 1 of 3 ranks`,
			``,
			`rank 0: 1 mark ignored: the region had ended`,
			`rank 2: 1 event dropped: the recorder was full after 12`,
		)},
		{"per rank", append(all, nothing), true, lines(
			`rank 0                                  calls   s per call`,
			`cg: 0.000999 s                              1  0.000999000`,
			`  step: 0.000999 s                          3  0.000333000`,
			`    (start)-->Begin dot: 0.000003 s         3  0.000001000`,
			`    Begin dot-->Finish dot: 0.000966 s      3  0.000322000`,
			`    Finish dot-->(end): 0.000030 s          3  0.000010000`,
			`    dot: 0.000966 s                         3  0.000322000`,
			``,
			`rank 1                                  calls   s per call`,
			`cg: 0.006965 s                              1  0.006965000`,
			`  read: 0.005000 s                          1  0.005000000`,
			`  step: 0.001965 s                          3  0.000655000`,
			`    (start)-->Begin dot: 0.000003 s         3  0.000001000`,
			`    Begin dot-->Finish dot: 0.001932 s      3  0.000644000`,
			`    Finish dot-->(end): 0.000030 s          3  0.000010000`,
			`    dot: 0.001932 s                         3  0.000644000`,
			``,
			`rank 2                                  calls   s per call`,
			`cg: 0.002921 s                              1  0.002921000`,
			`  step: 0.002921 s                          3  0.000973667  1 never ended`,
			`    (start)-->Begin dot: 0.000003 s         3  0.000001000`,
			`    Begin dot-->Finish dot: 0.001932 s      2  0.000966000`,
			`    Finish dot-->(end): 0.000020 s          2  0.000010000`,
			`    dot: 0.002898 s                         3  0.000966000`,
			``,
			`rank 3: no region was recorded`,
			``,
			`rank 0: 1 mark ignored: the region had ended`,
			`rank 2: 1 event dropped: the recorder was full after 12`,
		)},
		{"one rank", []Track{strange}, false, lines(
			`rank 0                             calls   s per call`,
			`größe 2: 1.234567 s                    1  1.234567000`,
			`  (start)-->(no name): 0.000000 s      1  0.000000000`,
			`  (no name)-->(end): 1.234567 s        1  1.234567000`,
		)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var b strings.Builder
			if err := WriteTree(&b, tc.tracks, tc.perRank); err != nil {
				t.Fatal(err)
			}
			if got := b.String(); got != tc.want {
				t.Errorf("got\n%s\nwant\n%s", got, tc.want)
			}
		})
	}
}

// TestGob sends a track as launch does.
func TestGob(t *testing.T) {
	want := solver(t, 2)
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(want); err != nil {
		t.Fatal(err)
	}
	var got Track
	if err := gob.NewDecoder(&b).Decode(&got); err != nil {
		t.Fatal(err)
	}
	var x, y strings.Builder
	if err := errors.Join(WriteChrome(&x, []Track{got}), WriteChrome(&y, []Track{want})); err != nil {
		t.Fatal(err)
	}
	if x.String() != y.String() {
		t.Errorf("got\n%s\nwant\n%s", &x, &y)
	}
}

func TestBadTracks(t *testing.T) {
	reg := Event{Name: "r", Parent: -1, End: 9}
	for _, tc := range []struct {
		name   string
		tracks []Track
		want   string
	}{
		{"negative rank", []Track{{Rank: -1}}, "rank -1"},
		{"same rank twice", []Track{{Rank: 2}, {Rank: 1}, {Rank: 2}}, "two tracks of rank 2"},
		{"parent is itself", []Track{{Rank: 4, Events: []Event{{Name: "x"}}}}, `rank 4: event 0, "x": parent is 0`},
		{"parent too low", []Track{{Events: []Event{{Parent: -2}}}}, "parent is -2"},
		{"parent is a mark", []Track{{Events: []Event{reg, {Mark: true}, {Parent: 1}}}}, "parent 1 is a mark"},
		{"mark of nothing", []Track{{Events: []Event{{Mark: true, Parent: -1}}}}, "must have a region"},
		{"ends before start", []Track{{Events: []Event{{Parent: -1, Start: 2, End: 1}}}}, "before its start"},
		{"out of order", []Track{{Events: []Event{{Parent: -1, Start: 2, End: 3}, reg}}}, "before the event in front"},
		{"after its parent", []Track{{Events: []Event{reg, {Start: 10, End: 11}}}}, "after its parent's end"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var b strings.Builder
			for _, err := range []error{WriteTree(&b, tc.tracks, false), WriteChrome(&b, tc.tracks)} {
				if err == nil || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("got error %v, want one with %q", err, tc.want)
				}
			}
			if b.Len() > 0 {
				t.Errorf("wrote %q beside the error", &b)
			}
		})
	}
}

type fullDisk struct{}

var errFull = errors.New("disk is full")

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestWriteErrors(t *testing.T) {
	tracks := []Track{solver(t, 0)}
	for _, err := range []error{WriteTree(fullDisk{}, tracks, true), WriteChrome(fullDisk{}, tracks)} {
		if !errors.Is(err, errFull) {
			t.Errorf("got error %v, want %v", err, errFull)
		}
	}
}
