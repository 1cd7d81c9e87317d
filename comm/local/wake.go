package local

// wakeWaiters wakes the ranks that sleep until this rank sets a flag. It is called
// after each change of a flag in this rank's state.
func (r *rank) wakeWaiters() {
	if r.g.sleepers.Load() == 0 {
		return
	}
	for k := range r.g.states {
		if c := &r.g.states[k]; c.parked.Load() && int(c.waitsFor.Load()) == r.me {
			c.signal()
		}
	}
}

// wakeAll wakes all ranks that sleep, after a change that any of them may wait for.
func (g *group) wakeAll() {
	if g.sleepers.Load() == 0 {
		return
	}
	for k := range g.states {
		g.states[k].signal()
	}
}

func (c *rankState) signal() {
	select {
	case c.wake <- struct{}{}:
	default: // a wake-up is pending already
	}
}
