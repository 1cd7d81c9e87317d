package trace

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"
)

// waitName names the time of all waits together.
const waitName = "wait for another rank"

// timeline is all tracks as bars and arrows of a picture.
type timeline struct {
	lanes    []lane
	arrows   []arrow
	own      map[string]time.Duration // time of each name outside the regions in it, mean over ranks
	from, to time.Duration
}

// lane is a rank or its device.
type lane struct {
	title string
	bars  []bar // in the order of their starts
	rows  []int // of the track's events
}

// bar is a region or a wait. Row 0 is the outermost.
type bar struct {
	name       string
	row        int
	start, end time.Duration
	call, wait bool // between ranks
}

// arrow leads from one rank to another: a message, or the end of a wait for the last rank
// of a collective.
type arrow struct {
	from, to     spot
	wait         time.Duration // that it ended; 0 for a message
	fromAt, toAt time.Duration
}

type spot struct{ lane, row int }

// newTimeline returns the timeline of tracks in order.
func newTimeline(tracks []Track) *timeline {
	l := &timeline{own: map[string]time.Duration{}, from: math.MaxInt64, to: math.MinInt64}
	idle, sent, lanes := waits(tracks), sends(tracks), map[int]int{}
	for i, t := range tracks {
		lanes[t.Rank] = len(l.lanes)
		l.addRank(t, idle[i])
		l.addDevice(t)
	}
	for n := range l.own {
		l.own[n] /= time.Duration(len(tracks))
	}
	at := func(rank int, event int32) spot { return spot{lanes[rank], l.lanes[lanes[rank]].rows[event]} }
	for i, t := range tracks {
		for k, e := range t.Events {
			if w, ok := idle[i][k]; ok && e.Call.Kind == Collective {
				here := at(t.Rank, int32(k))
				here.row++ // of the wait
				l.arrows = append(l.arrows, arrow{at(w.rank, w.region), here, w.until - e.Start, w.until, w.until})
			}
			if e.Call.Kind != Received {
				continue
			}
			if s, ok := sent[e.Call.message()]; ok {
				l.arrows = append(l.arrows, arrow{at(s.rank, s.region), at(t.Rank, e.Parent), 0, s.at, e.Start})
			}
		}
	}
	return l
}

// addRank adds the lane of a rank.
func (l *timeline) addRank(t Track, idle map[int]wait) {
	n := lane{title: fmt.Sprintf("rank %d", t.Rank), rows: make([]int, len(t.Events))}
	end := t.ends()
	for i, e := range t.Events {
		l.from, l.to = min(l.from, e.Start), max(l.to, end[i], e.Start+1)
		if e.Mark {
			continue
		}
		if e.Parent >= 0 {
			n.rows[i] = n.rows[e.Parent] + 1
			l.own[t.Events[e.Parent].Name] -= end[i] - e.Start
		}
		l.own[e.Name] += end[i] - e.Start
		n.bars = append(n.bars, bar{e.Name, n.rows[i], e.Start, end[i], e.Call.Kind != 0, false})
		if w, ok := idle[i]; ok && min(w.until, end[i]) > e.Start {
			until := min(w.until, end[i])
			l.own[waitName] += until - e.Start
			l.own[e.Name] -= until - e.Start
			n.bars = append(n.bars, bar{fmt.Sprintf("wait for rank %d", w.rank), n.rows[i] + 1, e.Start, until, true, true})
		}
	}
	l.lanes = append(l.lanes, n)
}

// addDevice adds the lane of a rank's device, if it did any work.
func (l *timeline) addDevice(t Track) {
	n := lane{title: fmt.Sprintf("GPU %d", t.Rank), rows: make([]int, len(t.Events))}
	for i, e := range t.Events {
		if !e.GPU {
			continue
		}
		if e.Parent >= 0 && t.Events[e.Parent].GPU {
			n.rows[i] = n.rows[e.Parent] + 1
		}
		l.to = max(l.to, e.GPUEnd)
		n.bars = append(n.bars, bar{e.Name, n.rows[i], e.GPUStart, e.GPUEnd, e.Call.Kind != 0, false})
	}
	if len(n.bars) > 0 {
		l.lanes = append(l.lanes, n)
	}
}

// longest returns up to n names by their own time, the longest first. Each has at least a
// hundredth of the run.
func (l *timeline) longest(n int) []string {
	names := slices.SortedFunc(maps.Keys(l.own), func(a, b string) int {
		return cmp.Or(cmp.Compare(l.own[b], l.own[a]), cmp.Compare(a, b))
	})
	names = slices.DeleteFunc(names, func(name string) bool { return l.own[name]*100 < l.to-l.from })
	return names[:min(n, len(names))]
}

// typical returns a view of the call that took the median time on the first rank, of the
// region that repeats, together with the calls of the same number in other lanes. Its
// title is empty if no region repeats.
func (l *timeline) typical() (v view) {
	name, calls := l.repeated()
	all := calls[0]
	if len(all) == 0 {
		return view{}
	}
	sorted := slices.SortedStableFunc(slices.Values(all), func(a, b bar) int { return cmp.Compare(a.end-a.start, b.end-b.start) })
	median := sorted[len(sorted)/2]
	k := slices.Index(all, median)
	v = view{from: median.start, to: median.end, top: make([]int, len(l.lanes))}
	for i, c := range calls {
		if k < len(c) {
			v.from, v.to, v.top[i] = min(v.from, c[k].start), max(v.to, c[k].end), c[k].row
		}
	}
	v.title = fmt.Sprintf("%s %d of %d: %s, from %s on", printable(name), k+1, len(all), duration(v.to-v.from), duration(v.from))
	v.zero = v.from
	margin := (v.to-v.from)/40 + 1
	v.from, v.to = max(l.from, v.from-margin), min(l.to, v.to+margin)
	return v
}

// repeated returns the region that took most time of those that the first rank began at
// least three times, and its calls in each lane. Communication is left out: a wait for
// another rank can be long, but its cause is elsewhere.
func (l *timeline) repeated() (name string, calls [][]bar) {
	times, total := map[string]int{}, map[string]time.Duration{}
	for _, b := range l.lanes[0].bars {
		if !b.call {
			times[b.name]++
			total[b.name] += b.end - b.start
		}
	}
	for n := range times {
		if times[n] >= 3 && (times[name] < 3 || total[n] > total[name] || total[n] == total[name] && n < name) {
			name = n
		}
	}
	calls = make([][]bar, len(l.lanes))
	for i := 0; times[name] >= 3 && i < len(calls); i++ {
		for _, b := range l.lanes[i].bars {
			if b.name == name && !b.call {
				calls[i] = append(calls[i], b)
			}
		}
	}
	return name, calls
}
