package trace

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Track is what one rank recorded.
type Track struct {
	Rank    int
	Events  []Event // in the order in which they began
	Dropped int     // regions and marks that the recorder had no room for
	Late    int     // marks that came after the End of their region and were ignored
}

// Event is a region or a mark.
type Event struct {
	Name   string
	Parent int32         // index in Track.Events of the region around it; -1 if there is none
	Mark   bool          // a point, not a region
	Open   bool          // a region that never ended
	GPU    bool          // the region has times of a device
	Start  time.Duration // since Epoch; negative if before it
	End    time.Duration // for a mark, Start; for an open region, when its parent or the recording ended

	Call Call // of communication; its Kind is 0 elsewhere

	// If GPU is set, the device took from GPUStart to GPUEnd for the work that the region
	// queued: see Clock.
	GPUStart, GPUEnd time.Duration

	first, last int32 // numbers of stamps of the device, from 1; 0 is none
}

// Call is communication in a region, or one side of a message at a mark.
type Call struct {
	Group uint64 // the group, the same on all ranks
	Bytes int64  // that this rank gives or gets
	Peer  int32  // the other rank of a message, in its group
	Me    int32  // this rank in its group
	Seq   uint32 // of a collective in its group, or of a message between two ranks
	Kind  CallKind
}

// CallKind is a kind of Call.
type CallKind uint8

// The kinds. Ranks match collectives of one Group and Seq, and a Sent with the Received
// of the same Group and Seq between the same ranks.
const (
	Collective CallKind = iota + 1
	Sent                // a mark
	Received            // a mark
	Local               // waits for no other rank
)

// ordered returns the tracks by rank. They may come from another process, so
// it checks what the reports rely on.
func ordered(tracks []Track) ([]Track, error) {
	tracks = slices.Clone(tracks)
	slices.SortStableFunc(tracks, func(a, b Track) int { return cmp.Compare(a.Rank, b.Rank) })
	for i, t := range tracks {
		if t.Rank < 0 {
			return nil, fmt.Errorf("trace: track of rank %d: a rank must not be negative", t.Rank)
		}
		if i > 0 && t.Rank == tracks[i-1].Rank {
			return nil, fmt.Errorf("trace: two tracks of rank %d: pass one for each rank", t.Rank)
		}
		for k, e := range t.Events {
			if err := e.check(t.Events[:k]); err != nil {
				return nil, fmt.Errorf("trace: track of rank %d: event %d, %q: %w", t.Rank, k, e.Name, err)
			}
		}
	}
	return tracks, nil
}

// check looks at an event that follows those before it.
func (e Event) check(before []Event) error {
	switch p := int(e.Parent); {
	case p < -1 || p >= len(before):
		return fmt.Errorf("parent is %d, must be an earlier event or -1", p)
	case p >= 0 && before[p].Mark:
		return fmt.Errorf("parent %d is a mark, must be a region", p)
	case p < 0 && e.Mark:
		return errors.New("a mark must have a region as its parent")
	case e.End < e.Start:
		return fmt.Errorf("ends at %v, before its start at %v", e.End, e.Start)
	case len(before) > 0 && e.Start < before[len(before)-1].Start:
		return fmt.Errorf("starts at %v, before the event in front of it", e.Start)
	case p >= 0 && !e.Mark && e.Start > before[p].End:
		return fmt.Errorf("starts at %v, after its parent's end at %v", e.Start, before[p].End)
	}
	return nil
}

// ends returns the end of each event as drawn. A bar cannot extend past its parent.
func (t Track) ends() []time.Duration {
	end := make([]time.Duration, len(t.Events))
	for i, e := range t.Events {
		end[i] = e.End
		if e.Parent >= 0 {
			end[i] = min(e.End, end[e.Parent])
		}
	}
	return end
}

// notes returns sentences on what the record of t lacks.
func (t Track) notes() []string {
	var s []string
	if t.Dropped > 0 {
		s = append(s, fmt.Sprintf("%s dropped: the recorder was full after %d", count(t.Dropped, "event"), len(t.Events)))
	}
	if t.Late > 0 {
		s = append(s, fmt.Sprintf("%s ignored: the region had ended", count(t.Late, "mark")))
	}
	return s
}

// count returns n with a noun in singular or plural.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
