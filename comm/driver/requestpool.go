package driver

// The largest numbers of requests of one communicator that may be under way.
// Libraries need memory for each. Some stop making progress on collectives long
// before memory is full. A large message may be thousands of requests.
const (
	maxCollectives = 1 << 14
	maxMessages    = 1 << 18
)

// RequestPool keeps a communicator's requests and reuses completed ones, so
// that starting a request allocates nothing in the long run. An id holds an index
// and how often that index was used, so a stale id finds nothing.
type RequestPool[T any] struct {
	all      []*T
	kinds    []Kind
	uses     []uint32
	free     []uint32
	messages int // of the requests under way
}

// CheckLimit returns an error if too many requests are under way. The program
// has then forgotten to wait for them.
func (p *RequestPool[T]) CheckLimit(k Kind) error {
	n, limit := p.Len()-p.messages, maxCollectives
	if isMessage(k) {
		n, limit = p.messages, maxMessages
	}
	if n >= limit {
		return fault(k, "%d requests of this communicator are under way: wait for requests before starting more", limit)
	}
	return nil
}

// Len returns how many requests are under way.
func (p *RequestPool[T]) Len() int { return len(p.all) - len(p.free) }

func isMessage(k Kind) bool { return k.Spec().Message || k == KindExchange }

// Take returns an unused request for a call of kind k and its id. The request
// still has the contents of its last use.
func (p *RequestPool[T]) Take(k Kind) (*T, uint64) {
	if len(p.free) == 0 {
		p.free = append(p.free, uint32(len(p.all)))
		p.all = append(p.all, new(T))
		p.uses = append(p.uses, 0)
		p.kinds = append(p.kinds, 0)
	}
	i := p.free[len(p.free)-1]
	p.free = p.free[:len(p.free)-1]
	p.uses[i]++ // odd while in use
	if p.kinds[i] = k; isMessage(k) {
		p.messages++
	}
	return p.all[i], uint64(p.uses[i])<<32 | uint64(i)
}

// Find returns the request called id, or nil if that one has completed.
func (p *RequestPool[T]) Find(id uint64) *T {
	if i := uint32(id); int(i) < len(p.all) && p.uses[i] == uint32(id>>32) {
		return p.all[i]
	}
	return nil
}

// Release returns the request to the pool.
func (p *RequestPool[T]) Release(id uint64) {
	i := uint32(id)
	p.uses[i]++
	if isMessage(p.kinds[i]) {
		p.messages--
	}
	p.free = append(p.free, i)
}
