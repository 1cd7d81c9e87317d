package mpi

import (
	"slices"
	"sync"
)

// openHandles are the groups of Split and the windows that this process has open.
type openHandles struct {
	mu      sync.Mutex
	groups  []*rank
	windows []*window // in the order in which they were made
}

func (h *openHandles) add(x any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch x := x.(type) {
	case *rank:
		h.groups = append(h.groups, x)
	case *window:
		h.windows = append(h.windows, x)
	}
}

func (h *openHandles) remove(x any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch x := x.(type) {
	case *rank:
		h.groups = slices.DeleteFunc(h.groups, func(r *rank) bool { return r == x })
	case *window:
		h.windows = slices.DeleteFunc(h.windows, func(w *window) bool { return w == x })
	}
}
