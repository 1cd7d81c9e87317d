package trace

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// chromeFile is the file as a reader sees it.
type chromeFile struct {
	TraceEvents     []chromeEvent
	DisplayTimeUnit string
	OtherData       map[string]int
}

type chromeEvent struct {
	Name, Ph, S string
	Pid, Tid    int
	Ts, Dur     *float64
	Args        map[string]any
}

func (e chromeEvent) end() float64 { return *e.Ts + *e.Dur }

// readChrome writes the tracks and parses them back, strictly.
func readChrome(t *testing.T, tracks []Track) chromeFile {
	t.Helper()
	var b bytes.Buffer
	if err := WriteChrome(&b, tracks); err != nil {
		t.Fatal(err)
	}
	var f chromeFile
	dec := json.NewDecoder(bytes.NewReader(b.Bytes()))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&f); err != nil {
		t.Fatalf("%v in\n%s", err, &b)
	}
	return f
}

func TestWriteChrome(t *testing.T) {
	f := readChrome(t, []Track{solver(t, 2), solver(t, 0), solver(t, 1)})
	if f.DisplayTimeUnit != "ns" {
		t.Errorf("displayTimeUnit is %q, want ns", f.DisplayTimeUnit)
	}
	if f.OtherData["ranks"] != 3 || f.OtherData["dropped"] != 1 {
		t.Errorf("otherData is %v, want 3 ranks and 1 dropped", f.OtherData)
	}
	var meta, dots, notes []string
	bars := map[int]int{}
	for _, e := range f.TraceEvents {
		if e.Pid != chromePID {
			t.Errorf("%+v: pid is %d, want %d", e, e.Pid, chromePID)
		}
		switch e.Ph {
		case "M":
			if e.Ts != nil {
				t.Errorf("%+v: metadata has a time", e)
			}
			meta = append(meta, fmt.Sprint(e.Name, " ", e.Tid, " ", e.Args))
		case "X":
			bars[e.Tid]++
			if e.Name == "dot" {
				dots = append(dots, fmt.Sprintf("%d:%g", e.Tid, *e.Dur))
			}
		case "i":
			if e.S != "t" || e.Dur != nil {
				t.Errorf("%+v: want an instant with thread scope", e)
			}
			if strings.Contains(e.Name, "dropped") || strings.Contains(e.Name, "ignored") {
				notes = append(notes, fmt.Sprint(e.Tid, " ", e.Name))
			}
		default:
			t.Errorf("%+v: phase %q", e, e.Ph)
		}
	}
	for _, c := range []struct {
		what      string
		got, want []string
	}{
		{"metadata", meta, []string{
			"process_name 0 map[name:golops]",
			"thread_name 1 map[name:rank 0]", "thread_sort_index 1 map[sort_index:0]",
			"thread_name 2 map[name:rank 1]", "thread_sort_index 2 map[sort_index:2]",
			"thread_name 3 map[name:rank 2]", "thread_sort_index 3 map[sort_index:4]"}},
		{"durations", dots, []string{"1:322", "1:322", "1:322", "2:644", "2:644", "2:644", "3:966", "3:966", "3:966"}},
		{"notes", notes, []string{"1 1 mark ignored: the region had ended",
			"3 1 event dropped: the recorder was full after 12"}},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s: got\n  %s\nwant\n  %s", c.what, strings.Join(c.got, "\n  "), strings.Join(c.want, "\n  "))
		}
	}
	if len(bars) != 3 || bars[1] != 7 || bars[2] != 8 || bars[3] != 7 {
		t.Errorf("bars on each track: got %v, want 7, 8 and 7 on tracks 1 to 3", bars)
	}
	nested(t, f)
}

// nested checks that bars of one track lie inside one another or apart.
func nested(t *testing.T, f chromeFile) {
	t.Helper()
	open := map[int][]chromeEvent{}
	for _, e := range f.TraceEvents {
		if e.Ph != "X" {
			continue
		}
		if *e.Ts < 0 || *e.Dur < 0 {
			t.Errorf("%s: from %g for %g, neither may be negative", e.Name, *e.Ts, *e.Dur)
		}
		s := open[e.Tid]
		for len(s) > 0 && s[len(s)-1].end() <= *e.Ts {
			s = s[:len(s)-1]
		}
		const rounding = 1e-9
		if len(s) > 0 && e.end() > s[len(s)-1].end()+rounding {
			t.Errorf("track %d: %s ends at %g, past %s at %g", e.Tid, e.Name, e.end(), s[len(s)-1].Name, s[len(s)-1].end())
		}
		open[e.Tid] = append(s, e)
	}
}

func TestChromeUnbalanced(t *testing.T) {
	const us = time.Microsecond
	tr := record(t, 0, func(ctx context.Context, r *Recorder, c *fakeClock) {
		a := Begin(ctx, `a "quoted" \ -->`+"\n\xff")
		b := Begin(ctx, "outlives")
		Begin(ctx, "left open")
		c.add(3*us + 7)
		a.End()
		r.Epoch() // what came before is negative and must not stay so
		c.add(1 * us)
		d := Begin(ctx, "next")
		b.End()
		c.add(1 * us)
		d.End()
	})
	f := readChrome(t, []Track{tr})
	nested(t, f)
	var got []string
	for _, e := range f.TraceEvents {
		if e.Ph == "X" {
			got = append(got, fmt.Sprintf("%q %g %g %v", e.Name, *e.Ts, *e.Dur, e.Args))
		}
	}
	want := []string{
		`"a \"quoted\" \\ -->\n�" 0 3.007 map[]`,
		`"outlives" 0 3.007 map[outlived_parent:true true_dur_us:4.007]`,
		`"left open (never ended)" 0 3.007 map[never_ended:true]`,
		`"next" 4.007 1 map[]`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// TestChromeShift has one rank with events before Epoch: all move together.
func TestChromeShift(t *testing.T) {
	f := readChrome(t, []Track{
		{Rank: 0, Events: []Event{{Name: "a", Parent: -1, Start: 0, End: 1000}}},
		{Rank: 1, Events: []Event{{Name: "b", Parent: -1, Start: -5000, End: 0}}},
		{Rank: 7},
	})
	var got []string
	for _, e := range f.TraceEvents {
		if e.Ph == "X" {
			got = append(got, fmt.Sprintf("%s %g %g", e.Name, *e.Ts, *e.Dur))
		}
	}
	if want := []string{"a 5 1", "b 0 5"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestChromeEmpty(t *testing.T) {
	if f := readChrome(t, nil); len(f.TraceEvents) != 1 {
		t.Errorf("got %d events, want the name of the process alone", len(f.TraceEvents))
	}
}

// TestChromePrecision is a week of run time, where a float64 of seconds or a
// %g of microseconds would lose the nanoseconds.
func TestChromePrecision(t *testing.T) {
	week := 7 * 24 * time.Hour
	var b strings.Builder
	if err := WriteChrome(&b, []Track{{Events: []Event{{Name: "a", Parent: -1, Start: week + 1, End: week + 1002}}}}); err != nil {
		t.Fatal(err)
	}
	if want := `"ts":604800000000.001,"dur":1.001`; !strings.Contains(b.String(), want) {
		t.Errorf("got\n%swant %s", &b, want)
	}
}
