package perf

import (
	"context"
	"errors"
	"fmt"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
)

// deviceBuffers are buffers in GPU memory. Data are made and verified in host
// memory and copied.
type deviceBuffers struct {
	k          device.Kernels[complex128] // for copies of bytes; any type would do
	c          *comm.Comm
	how        Registration // of the buffers with c
	send, recv deviceBuffer
}

// deviceBuffer is one buffer in host memory and in GPU memory.
type deviceBuffer struct {
	host []complex128
	mem  device.Mem[complex128]
	reg  comm.Registration // owns mem, if not nil
}

func newDeviceBuffers(d device.Device, c *comm.Comm, how Registration) (*deviceBuffers, error) {
	k, err := device.KernelsFor[complex128](d)
	return &deviceBuffers{k: k, c: c, how: how}, err
}

// resize makes the GPU buffers at least as large as send and recv. With a
// registration it is collective.
func (m *deviceBuffers) resize(ctx context.Context, send, recv []complex128) error {
	for _, p := range []struct {
		h    *deviceBuffer
		host []complex128
	}{{&m.send, send}, {&m.recv, recv}} {
		p.h.host = p.host
		n := len(p.host)
		if m.how != Unregistered { // all ranks register the same size
			most := []int64{int64(n)}
			if err := m.c.AllReduce(ctx, comm.Of(most), comm.Of(most), comm.Max); err != nil {
				return err
			}
			n = int(most[0])
		}
		if p.h.mem.N >= n {
			continue
		}
		if err := m.freeBuffer(ctx, p.h); err != nil {
			return err
		}
		if err := m.alloc(ctx, p.h, n); err != nil {
			return err
		}
	}
	return nil
}

func (m *deviceBuffers) alloc(ctx context.Context, h *deviceBuffer, n int) (err error) {
	if m.how == Unregistered {
		h.mem, err = m.k.Alloc(n)
		return err
	}
	if h.reg, err = m.c.AllocRegistered(ctx, 16*n, m.how == RegisterSymmetric); err != nil {
		return err
	}
	h.mem = device.Mem[complex128]{Addr: h.reg.Buf().Addr(), N: n}
	return nil
}

// freeBuffer frees the GPU memory of h.
func (m *deviceBuffers) freeBuffer(ctx context.Context, h *deviceBuffer) (err error) {
	if h.reg != nil {
		err = h.reg.Close(ctx)
	} else {
		m.k.Free(h.mem)
	}
	h.mem, h.reg = device.Mem[complex128]{}, nil
	return err
}

func (m *deviceBuffers) free(ctx context.Context) error {
	return errors.Join(m.freeBuffer(ctx, &m.send), m.freeBuffer(ctx, &m.recv))
}

// tryRegister returns why c cannot register memory, the same on all ranks. It is
// collective.
func tryRegister(ctx context.Context, c *comm.Comm, how Registration) (fault, err error) {
	reg, err := c.AllocRegistered(ctx, 4096, how == RegisterSymmetric)
	if errors.Is(err, errors.ErrUnsupported) {
		return &ConfigError{fmt.Errorf("registration (-R): %w", err)}, nil
	}
	if err != nil {
		return nil, err
	}
	return nil, reg.Close(ctx)
}

// onDevice returns the GPU memory of a part of a host buffer.
func (m *deviceBuffers) onDevice(b comm.Buf) comm.Buf {
	for _, h := range []deviceBuffer{m.send, m.recv} {
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

// upload and download copy the first send and recv bytes of the buffers.
func (m *deviceBuffers) upload(send, recv int) error {
	return m.both(send, recv, func(h deviceBuffer, n int) error { return m.k.CopyIn(m.k.Slice(h.mem, 0, n), h.host[:n]) })
}

func (m *deviceBuffers) download(send, recv int) error {
	return m.both(send, recv, func(h deviceBuffer, n int) error { return m.k.CopyOut(h.host[:n], m.k.Slice(h.mem, 0, n)) })
}

func (m *deviceBuffers) both(send, recv int, f func(h deviceBuffer, n int) error) error {
	const elem = 16
	if err := f(m.send, (send+elem-1)/elem); err != nil {
		return err
	}
	return f(m.recv, (recv+elem-1)/elem)
}
