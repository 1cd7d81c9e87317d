package trace

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// element is an element of a picture.
type element struct {
	name string
	attr map[string]string
	text string
}

func (e element) number(t *testing.T, name string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(e.attr[name], 64)
	if err != nil {
		t.Fatalf("%v: %s: %v", e, name, err)
	}
	return v
}

// readSVG draws the tracks and parses the picture.
func readSVG(t *testing.T, tracks []Track) (all []element) {
	t.Helper()
	var b strings.Builder
	if err := WriteSVG(&b, tracks); err != nil {
		t.Fatal(err)
	}
	open := []int{}
	for d := xml.NewDecoder(strings.NewReader(b.String())); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, &b)
		}
		switch k := token.(type) {
		case xml.StartElement:
			e := element{name: k.Name.Local, attr: map[string]string{}}
			for _, a := range k.Attr {
				e.attr[a.Name.Local] = a.Value
			}
			open, all = append(open, len(all)), append(all, e)
		case xml.CharData:
			if len(open) > 0 {
				all[open[len(open)-1]].text += string(k)
			}
		case xml.EndElement:
			open = open[:len(open)-1]
		}
	}
}

// bars returns the titles of the bars of a class, and checks that those of one row do not
// overlap and lie inside the picture.
func bars(t *testing.T, all []element, class string) (titles []string) {
	t.Helper()
	end := map[string]float64{}
	for i, e := range all {
		if e.name != "rect" || e.attr["class"] == "" {
			continue
		}
		x, w := e.number(t, "x"), e.number(t, "width")
		if x < end[e.attr["y"]]-0.11 || x < svgLeft || x+w > svgRight+0.61 { // numbers have one digit, bars at least half a pixel
			t.Errorf("%s from %g, %g wide, overlaps a bar up to %g or leaves the picture", all[i+1].text, x, w, end[e.attr["y"]])
		}
		end[e.attr["y"]] = x + w
		if e.attr["class"] == class {
			titles = append(titles, all[i+1].text)
		}
	}
	return titles
}

// iterations are five iterations of two ranks: rank 1 works longer than rank 0, which
// waits for it. After each, rank 0 sends a message to rank 1.
func iterations(t *testing.T) (tracks []Track) {
	const us = time.Microsecond
	for rank := range 2 {
		tracks = append(tracks, record(t, rank, func(ctx context.Context, _ *Recorder, c *fakeClock) {
			run := Begin(ctx, "run")
			for k := range uint32(5) {
				it := Begin(ctx, "iteration")
				op := Begin(ctx, "A & <b>")
				c.add(time.Duration(100+200*rank) * us)
				op.End()
				all := BeginCall(ctx, "AllReduce", Call{Kind: Collective, Group: 1, Seq: k})
				c.add(time.Duration(250-200*rank) * us)
				all.End()
				m := Begin(ctx, []string{"send", "receive"}[rank])
				if rank == 0 {
					m.Message(Call{Kind: Sent, Group: 1, Me: 0, Peer: 1, Seq: k})
				}
				c.add(50 * us)
				if rank == 1 {
					m.Message(Call{Kind: Received, Group: 1, Me: 1, Peer: 0, Seq: k})
				}
				m.End()
				it.End()
			}
			run.End()
		}))
	}
	return tracks
}

func TestWriteSVG(t *testing.T) {
	all := readSVG(t, iterations(t))
	count := map[string]int{}
	for _, s := range bars(t, all, "bar") {
		count[s]++
	}
	// In the whole run and once more in the enlarged iteration, with its neighbours' ends.
	for name, want := range map[string]int{"run, 2 ms": 2, "iteration, 400 µs": 16, "A & <b>, 100 µs": 7, "A & <b>, 300 µs": 7, "AllReduce, 250 µs": 6, "AllReduce, 50 µs": 6} {
		if count[name] != want {
			t.Errorf("%s: got %d bars, want %d", name, count[name], want)
		}
	}
	waits := bars(t, all, "wait")
	if want := slices.Repeat([]string{"wait for rank 1, 200 µs"}, 6); !slices.Equal(waits, want) {
		t.Errorf("waits: got %q, want %q", waits, want)
	}
	var text, arrows []string
	for _, e := range all {
		switch {
		case e.name == "text":
			text = append(text, e.text)
		case e.attr["class"] == "arrow":
			arrows = append(arrows, e.attr["d"])
		}
	}
	for _, want := range []string{"rank 0", "rank 1", "whole run: 2 ms", "iteration 3 of 5: 400 µs, from 800 µs on",
		"A & <b>", "50.0 %", "1 ms", "wait for rank 1", waitName, "350 µs"} {
		if !slices.Contains(text, want) {
			t.Errorf("the picture lacks %q: %q", want, text)
		}
	}
	if len(arrows) != 2 {
		t.Fatalf("got arrows %q, want one that ends a wait and one of a message", arrows)
	}
	var x0, y0, x1, y1 float64
	if _, err := fmt.Sscanf(arrows[0], "M%g,%gL%g,%g", &x0, &y0, &x1, &y1); err != nil || x0 != x1 || y0 <= y1 {
		t.Errorf("the arrow that ends a wait is %q, want one straight up from rank 1 to rank 0", arrows[0])
	}
	if _, err := fmt.Sscanf(arrows[1], "M%g,%gL%g,%g", &x0, &y0, &x1, &y1); err != nil || x0 >= x1 || y0 >= y1 {
		t.Errorf("the arrow of the message is %q, want one forwards and down from rank 0 to rank 1", arrows[1])
	}
}

// TestSVGLong draws more regions than there are pixels.
func TestSVGLong(t *testing.T) {
	tr := record(t, 0, func(ctx context.Context, _ *Recorder, c *fakeClock) {
		for range 20000 {
			r := Begin(ctx, "step")
			c.add(time.Microsecond)
			r.End()
		}
	})
	if n := len(bars(t, readSVG(t, []Track{tr}), "thin")); n < 500 || n > 2*svgWidth {
		t.Errorf("got %d thin bars, want about as many as pixels", n)
	}
}

// TestSVGOdd draws tracks with hardly anything in them.
func TestSVGOdd(t *testing.T) {
	for name, tc := range map[string]struct {
		tracks []Track
		want   string
	}{
		"nothing":     {nil, "no region was recorded on 0 ranks"},
		"no region":   {[]Track{{}, {Rank: 1}}, "no region was recorded on 2 ranks"},
		"no time":     {[]Track{{Events: []Event{{Name: "a", Parent: -1}}}}, "whole run: 1 ns"},
		"one of two":  {[]Track{{}, {Rank: 1, Events: []Event{{Name: "a", Parent: -1, Start: -5, End: 5}}}}, "whole run: 10 ns"},
		"three times": {[]Track{{Events: []Event{{Name: "", Parent: -1}, {Parent: -1}, {Parent: -1}}}}, "(no name) 1 of 3: 0, from 0 on"},
		"dropped":     {[]Track{{Dropped: 3}}, "rank 0: 3 events dropped: the recorder was full after 0"},
		"GPU":         {[]Track{{Events: []Event{{Name: "a", Parent: -1, End: 5, GPU: true, GPUStart: 5, GPUEnd: 9}}}}, "GPU 0"},
	} {
		t.Run(name, func(t *testing.T) {
			all := readSVG(t, tc.tracks)
			bars(t, all, "")
			if !slices.ContainsFunc(all, func(e element) bool { return e.text == tc.want }) {
				t.Errorf("got %+v, want the text %q", all, tc.want)
			}
		})
	}
	if err := WriteSVG(io.Discard, []Track{{}, {}}); err == nil {
		t.Error("two tracks of one rank: no error")
	}
}

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0", 999: "999 ns", 1500: "1.5 µs", -20 * time.Millisecond: "-20 ms", 999600 * time.Nanosecond: "1 ms",
		9996 * time.Microsecond: "10 ms", 100 * time.Millisecond: "100 ms", 1234 * time.Second: "1234 s",
	} {
		if got := duration(d); got != want {
			t.Errorf("%d ns: got %q, want %q", d, got, want)
		}
	}
}
