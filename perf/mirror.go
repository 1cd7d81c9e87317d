package perf

import (
	"github.com/golops/golops/comm"
	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
)

// mirror is the memory on a device behind the host's buffers: data are made and
// verified on the host and copied.
type mirror struct {
	k          device.Kernels[complex128] // any type would do: bytes are copied
	send, recv half
}

// half is one buffer, here and there.
type half struct {
	host []complex128
	mem  device.Mem[complex128]
}

func newMirror(d device.Device) (*mirror, error) {
	k, err := device.KernelsFor[complex128](d)
	return &mirror{k: k}, err
}

// reflect makes room for what the buffers have.
func (m *mirror) reflect(send, recv []complex128) error {
	for _, p := range []struct {
		h    *half
		host []complex128
	}{{&m.send, send}, {&m.recv, recv}} {
		p.h.host = p.host
		if p.h.mem.N >= len(p.host) {
			continue
		}
		m.k.Free(p.h.mem)
		p.h.mem = device.Mem[complex128]{}
		var err error
		if p.h.mem, err = m.k.Alloc(len(p.host)); err != nil {
			return err
		}
	}
	return nil
}

func (m *mirror) free() {
	m.k.Free(m.send.mem)
	m.k.Free(m.recv.mem)
}

// twin returns the memory on the device behind a part of a buffer.
func (m *mirror) twin(b comm.Buf) comm.Buf {
	for _, h := range []half{m.send, m.recv} {
		host := comm.Of(h.host)
		if b.N == 0 || b.Addr() < host.Addr() || b.Addr() >= host.Addr()+uintptr(host.Bytes()) {
			continue
		}
		t := comm.OfMem(h.mem)
		t.DType, t.N = scalar.Uint8, t.Bytes()
		at := int(b.Addr() - host.Addr())
		t = t.Slice(at, at+b.Bytes())
		t.DType, t.N = b.DType, b.N
		return t
	}
	return comm.Buf{DType: b.DType}
}

// up and down copy so many bytes at the start of both buffers.
func (m *mirror) up(send, recv int) error {
	return m.both(send, recv, func(h half, n int) error { return m.k.CopyIn(m.k.Slice(h.mem, 0, n), h.host[:n]) })
}

func (m *mirror) down(send, recv int) error {
	return m.both(send, recv, func(h half, n int) error { return m.k.CopyOut(h.host[:n], m.k.Slice(h.mem, 0, n)) })
}

func (m *mirror) both(send, recv int, f func(h half, n int) error) error {
	const elem = 16
	if err := f(m.send, (send+elem-1)/elem); err != nil {
		return err
	}
	return f(m.recv, (recv+elem-1)/elem)
}
