package trace

import "time"

// wait is the part of a region in which its rank waited for another one.
type wait struct {
	until  time.Duration // from the start of the region on
	rank   int           // for whom
	region int32         // in which that rank ended the wait
}

// message identifies a message among those of all ranks.
type message struct {
	group    uint64
	from, to int32
	seq      uint32
}

func (c Call) message() message {
	if c.Kind == Sent {
		return message{c.Group, c.Me, c.Peer, c.Seq}
	}
	return message{c.Group, c.Peer, c.Me, c.Seq}
}

// place is a point in a region of a track.
type place struct {
	rank   int
	region int32
	at     time.Duration
}

// sends returns where each message was sent.
func sends(tracks []Track) map[message]place {
	sent := map[message]place{}
	for _, t := range tracks {
		for _, e := range t.Events {
			if e.Call.Kind == Sent {
				sent[e.Call.message()] = place{t.Rank, e.Parent, e.Start}
			}
		}
	}
	return sent
}

// waits returns, for each track, the regions in which its rank waited, by index. A rank
// waits in a collective until the last rank has entered it, and in the region that
// receives a message until the message was sent.
func waits(tracks []Track) []map[int]wait {
	type collective struct {
		group uint64
		seq   uint32
	}
	entered, sent := map[collective]place{}, sends(tracks)
	for _, t := range tracks {
		for i, e := range t.Events {
			if e.Call.Kind != Collective {
				continue
			}
			k := collective{e.Call.Group, e.Call.Seq}
			if last, ok := entered[k]; !ok || e.Start > last.at {
				entered[k] = place{t.Rank, int32(i), e.Start}
			}
		}
	}
	found := make([]map[int]wait, len(tracks))
	for i, t := range tracks {
		found[i] = map[int]wait{}
		note := func(at int, p place) {
			e := &t.Events[at]
			if until := min(p.at, e.End); p.rank != t.Rank && until > e.Start && until > found[i][at].until {
				found[i][at] = wait{until, p.rank, p.region}
			}
		}
		for k, e := range t.Events {
			switch e.Call.Kind {
			case Collective:
				note(k, entered[collective{e.Call.Group, e.Call.Seq}])
			case Received:
				if p, ok := sent[e.Call.message()]; ok {
					note(int(e.Parent), p)
				}
			}
		}
	}
	return found
}
