package trace

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"
)

// The ends of a region, in the place of a mark's label. With them the times
// between the marks of a region add up to its total.
const (
	startLabel = "(start)"
	endLabel   = "(end)"
	waitLabel  = "(wait for another rank)"
)

// WriteTree writes the regions of all ranks as an indented table. Calls of
// the same path are merged into one line with their number and total time;
// below a region come the times between its consecutive marks, as in
//
//	Begin dot-->Finish dot: 0.000322 s
//
// and then the regions inside it. With perRank there is one table for each
// rank. Without, there is one table with the least, mean and greatest time
// over those ranks that have the line, the time after the name being the
// mean. A single rank always gets its own table.
//
// The time in which a rank waits for another one in a call is a line below the call. Bytes
// of communication and the time of a device stand at the end of a line.
//
// A region that never ended counts until the region around it, or else the
// recording, ended; its line says so.
func WriteTree(w io.Writer, tracks []Track, perRank bool) error {
	tracks, err := ordered(tracks)
	if err != nil {
		return err
	}
	out, idle := bufio.NewWriter(w), waits(tracks)
	recorded := func(t Track) bool { return len(t.Events) > 0 }
	switch {
	case !slices.ContainsFunc(tracks, recorded):
		fmt.Fprintf(out, "no region was recorded on %s\n", count(len(tracks), "rank"))
	case perRank || len(tracks) == 1:
		for i, t := range tracks {
			if i > 0 {
				fmt.Fprintln(out)
			}
			if len(t.Events) == 0 {
				fmt.Fprintf(out, "rank %d: no region was recorded\n", t.Rank)
				continue
			}
			tab := table{{fmt.Sprintf("rank %d", t.Rank), "calls", "s per call", ""}}
			own := merge(tracks[i:i+1], idle[i:i+1]) // alone, so that its lines stand in its own order
			own.walk(-1, func(n *node, depth int) { tab = append(tab, n.rankRow(depth)) })
			tab.write(out)
		}
	default:
		tab := table{{fmt.Sprintf("mean over %d ranks", len(tracks)), "calls", "min s", "mean s", "max s", "slowest", ""}}
		merge(tracks, idle).walk(-1, func(n *node, depth int) { tab = append(tab, n.overRow(depth, tracks)) })
		tab.write(out)
	}
	blank := "\n" // once, above the first note
	for _, t := range tracks {
		for _, note := range t.notes() {
			fmt.Fprintf(out, "%srank %d: %s\n", blank, t.Rank, note)
			blank = ""
		}
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("trace: write tree: %w", err)
	}
	return nil
}

// label names a line of the tree below its parent: a region, or a step from
// one mark to the next.
type label struct {
	name string // the region, or the mark that the step leads to
	from string // the mark that the step comes from
	step bool
}

// node is one line of the tree.
type node struct {
	label
	stats []stat // one for each track
	kids  []*node
	index map[label]*node
}

// stat is what one rank spent on a line.
type stat struct {
	calls, open int
	total       time.Duration
	bytes       int64
	device      time.Duration
}

// merge puts the events of all tracks into one tree. Lines stand in the order
// of their first event, on the lowest rank that has them. idle are the waits of the tracks.
func merge(tracks []Track, idle []map[int]wait) *node {
	root := &node{}
	for i, t := range tracks {
		at := make([]*node, len(t.Events)) // the line of each region
		last := make([]int, len(t.Events)) // its latest mark; 0 is none, for event 0 is a region
		for k, e := range t.Events {
			up := root
			if e.Parent >= 0 {
				up = at[e.Parent]
			}
			if !e.Mark {
				at[k] = up.kid(label{name: e.Name}, len(tracks))
				s := &at[k].stats[i]
				s.add(e.End-e.Start, e.Open)
				s.bytes += e.Call.Bytes
				s.device += e.GPUEnd - e.GPUStart
				if w, ok := idle[i][k]; ok {
					at[k].kid(label{name: waitLabel}, len(tracks)).stats[i].add(w.until-e.Start, false)
				}
				continue
			}
			if e.Call.Kind != 0 { // an end of an arrow
				continue
			}
			from, since := startLabel, t.Events[e.Parent].Start
			if m := last[e.Parent]; m > 0 {
				from, since = t.Events[m].Name, t.Events[m].Start
			}
			last[e.Parent] = k
			up.kid(label{e.Name, from, true}, len(tracks)).stats[i].add(e.Start-since, false)
		}
		for k, m := range last {
			if e := t.Events[k]; m > 0 && !e.Open {
				mark := t.Events[m]
				at[k].kid(label{endLabel, mark.Name, true}, len(tracks)).stats[i].add(e.End-mark.Start, false)
			}
		}
	}
	return root
}

// kid returns the line l below n, which it makes if there is none.
func (n *node) kid(l label, tracks int) *node {
	k := n.index[l]
	if k == nil {
		k = &node{label: l, stats: make([]stat, tracks)}
		if n.index == nil {
			n.index = make(map[label]*node)
		}
		n.index[l] = k
		n.kids = append(n.kids, k)
	}
	return k
}

func (s *stat) add(d time.Duration, open bool) {
	s.calls++
	s.total += d
	if open {
		s.open++
	}
}

// walk calls f for every line below n, steps before regions.
func (n *node) walk(depth int, f func(n *node, depth int)) {
	if depth >= 0 {
		f(n, depth)
	}
	for _, step := range []bool{true, false} {
		for _, k := range n.kids {
			if k.step == step {
				k.walk(depth+1, f)
			}
		}
	}
}

// title returns the first cell of n's line.
func (n *node) title(depth int, d time.Duration) string {
	s := printable(n.name)
	if n.step {
		s = printable(n.from) + "-->" + s
	}
	return strings.Repeat("  ", depth) + s + ": " + seconds(d) + " s"
}

// rankRow returns n's line in a tree of one track.
func (n *node) rankRow(depth int) []string {
	s := n.stats[0]
	each := fmt.Sprintf("%.9f", s.total.Seconds()/float64(s.calls))
	return []string{n.title(depth, s.total), fmt.Sprint(s.calls), each, strings.Join(s.notes(), ", ")}
}

// overRow returns n's line over all tracks.
func (n *node) overRow(depth int, tracks []Track) []string {
	var ranks, least, most, slowest int
	var lo, hi, sum time.Duration
	var all stat
	for i, s := range n.stats {
		if s.calls == 0 {
			continue
		}
		if ranks == 0 {
			least, most, lo, hi, slowest = s.calls, s.calls, s.total, s.total, i
		}
		if s.total > hi {
			hi, slowest = s.total, i
		}
		least, most, lo = min(least, s.calls), max(most, s.calls), min(lo, s.total)
		sum += s.total
		all.open += s.open
		all.bytes += s.bytes
		all.device += s.device
		ranks++
	}
	calls := fmt.Sprint(least)
	if least < most {
		calls = fmt.Sprintf("%d..%d", least, most)
	}
	var notes []string
	if ranks < len(tracks) {
		notes = append(notes, fmt.Sprintf("on %d of %d ranks", ranks, len(tracks)))
	}
	mean := sum / time.Duration(ranks)
	all.bytes /= int64(ranks)
	all.device /= time.Duration(ranks)
	notes = append(notes, all.notes()...)
	return []string{n.title(depth, mean), calls, seconds(lo), seconds(mean), seconds(hi),
		fmt.Sprintf("rank %d", tracks[slowest].Rank), strings.Join(notes, ", ")}
}

// notes returns what stands at the end of a line.
func (s stat) notes() (notes []string) {
	if s.open > 0 {
		notes = append(notes, fmt.Sprintf("%d never ended", s.open))
	}
	if s.bytes > 0 {
		notes = append(notes, bytesText(s.bytes))
	}
	if s.device > 0 {
		notes = append(notes, "GPU "+seconds(s.device)+" s")
	}
	return notes
}

// bytesText returns n with three digits and a unit.
func bytesText(n int64) string {
	v, unit := float64(n), "B"
	for _, u := range []string{"kB", "MB", "GB", "TB"} {
		if v < 999.5 {
			break
		}
		v, unit = v/1000, u
	}
	return fmt.Sprintf("%.3g %s", v, unit)
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.6f", d.Seconds()) }

// printable keeps a name on one line.
func printable(s string) string {
	if s == "" {
		return "(no name)"
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
}
