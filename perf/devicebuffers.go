package perf

import (
	"context"
	"errors"
	"fmt"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
)

// mirror is the memory on a device behind the host's buffers: data are made and
// verified on the host and copied.
type mirror struct {
	k          device.Kernels[complex128] // any type would do: bytes are copied
	c          comm.Comm
	how        Registration // with c
	send, recv half
}

// half is one buffer, here and there.
type half struct {
	host []complex128
	mem  device.Mem[complex128]
	reg  comm.Registration // that mem is of, or nil
}

func newMirror(d device.Device, c comm.Comm, how Registration) (*mirror, error) {
	k, err := device.KernelsFor[complex128](d)
	return &mirror{k: k, c: c, how: how}, err
}

// reflect makes room for what the buffers have. With a registration it is
// collective.
func (m *mirror) reflect(ctx context.Context, send, recv []complex128) error {
	for _, p := range []struct {
		h    *half
		host []complex128
	}{{&m.send, send}, {&m.recv, recv}} {
		p.h.host = p.host
		n := len(p.host)
		if m.how != Unregistered { // all ranks have the same
			most := []int64{int64(n)}
			if err := m.c.AllReduce(ctx, comm.Of(most), comm.Of(most), comm.Max); err != nil {
				return err
			}
			n = int(most[0])
		}
		if p.h.mem.N >= n {
			continue
		}
		if err := m.drop(ctx, p.h); err != nil {
			return err
		}
		if err := m.alloc(ctx, p.h, n); err != nil {
			return err
		}
	}
	return nil
}

func (m *mirror) alloc(ctx context.Context, h *half, n int) (err error) {
	if m.how == Unregistered {
		h.mem, err = m.k.Alloc(n)
		return err
	}
	if h.reg, err = comm.AllocRegistered(ctx, m.c, 16*n, m.how == RegisterSymmetric); err != nil {
		return err
	}
	h.mem = device.Mem[complex128]{Addr: h.reg.Buf().Addr(), N: n}
	return nil
}

// drop gives the memory of h back.
func (m *mirror) drop(ctx context.Context, h *half) (err error) {
	if h.reg != nil {
		err = h.reg.Close(ctx)
	} else {
		m.k.Free(h.mem)
	}
	h.mem, h.reg = device.Mem[complex128]{}, nil
	return err
}

func (m *mirror) free(ctx context.Context) error {
	return errors.Join(m.drop(ctx, &m.send), m.drop(ctx, &m.recv))
}

// tryRegister says why c cannot register memory, the same on all ranks. It is
// collective.
func tryRegister(ctx context.Context, c comm.Comm, how Registration) (fault, err error) {
	reg, err := comm.AllocRegistered(ctx, c, 4096, how == RegisterSymmetric)
	if errors.Is(err, errors.ErrUnsupported) {
		return &ConfigError{fmt.Errorf("registration (-R): %w", err)}, nil
	}
	if err != nil {
		return nil, err
	}
	return nil, reg.Close(ctx)
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
