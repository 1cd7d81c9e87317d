package comm

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"

	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/device"
)

// Objects are sent as gob, after an int64 with their length. If a value cannot be
// encoded (a function, a channel, a struct without exported fields), the sender sends
// a negative length and the text of the error, so that no receiver waits for it.

func encode(v any) (data []byte, n int64, err error) {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(v); err != nil {
		err = fmt.Errorf("comm: encode %T: %w", v, err)
		return []byte(err.Error()), -int64(len(err.Error())), err
	}
	return b.Bytes(), int64(b.Len()), nil
}

func decode(data []byte, n int64, from int, v any) error {
	if n < 0 {
		return &RankError{Rank: from, Err: errors.New(string(data))}
	}
	if err := gob.NewDecoder(bytes.NewReader(data)).Decode(v); err != nil {
		return fmt.Errorf("comm: decode %T from rank %d: %w", v, from, err)
	}
	return nil
}

// objectSize returns how many bytes follow a length of n, which is negative for
// the text of an error.
func objectSize(n int64) (int, error) {
	if n = max(n, -n); n < 0 || n > driver.MaxElements {
		return 0, fmt.Errorf("comm: a rank sends an object of %d bytes, more than any memory holds", n)
	}
	if err := device.CheckHostMemory(int(n)); err != nil {
		return 0, fmt.Errorf("comm: a rank sends an object of %d bytes: %w", n, err)
	}
	return int(n), nil
}

// SendObject sends any Go value that encoding/gob can encode.
func SendObject(ctx context.Context, c *Comm, v any, to int) error {
	data, n, encErr := encode(v)
	if err := c.Send(ctx, Of([]int64{n}), to); err != nil {
		return err
	}
	if err := c.Send(ctx, Of(data), to); err != nil {
		return err
	}
	return encErr
}

// RecvObject receives into *v what SendObject sent. Both types must match.
func RecvObject[T any](ctx context.Context, c *Comm, v *T, from int) error {
	n := []int64{0}
	if err := c.Recv(ctx, Of(n), from); err != nil {
		return err
	}
	k, err := objectSize(n[0])
	if err != nil {
		return err
	}
	data := make([]byte, k)
	if err := c.Recv(ctx, Of(data), from); err != nil {
		return err
	}
	return decode(data, n[0], from, v)
}

// BroadcastObject copies root's *v into *v of all ranks.
func BroadcastObject[T any](ctx context.Context, c *Comm, v *T, root int) error {
	var data []byte
	var encErr error
	n := []int64{0}
	if c.Rank() == root {
		data, n[0], encErr = encode(v)
	}
	if err := c.Broadcast(ctx, Of(n), root); err != nil {
		return err
	}
	k, err := objectSize(n[0])
	if err != nil {
		return err
	}
	if c.Rank() != root {
		data = make([]byte, k)
	}
	if err := c.Broadcast(ctx, Of(data), root); err != nil {
		return err
	}
	if c.Rank() == root {
		return encErr
	}
	return decode(data, n[0], root, v)
}

// GatherObjects returns all ranks' v, by rank, on root, and nil elsewhere.
func GatherObjects[T any](ctx context.Context, c *Comm, v T, root int) ([]T, error) {
	data, n, encErr := encode(&v)
	var lens []int64
	if c.Rank() == root {
		lens = make([]int64, c.Size())
	}
	if err := c.Gather(ctx, Of(lens), Of([]int64{n}), root); err != nil {
		return nil, err
	}
	counts, all, err := decodeBuffer(lens)
	if err != nil {
		return nil, err
	}
	if err := c.GatherV(ctx, Of(all), counts, Of(data), root); err != nil {
		return nil, err
	}
	if c.Rank() != root {
		return nil, encErr
	}
	return decodeAll[T](all, lens)
}

// AllGatherObjects returns all ranks' v, by rank, on every rank.
func AllGatherObjects[T any](ctx context.Context, c *Comm, v T) ([]T, error) {
	data, n, _ := encode(&v) // an error reaches every rank, this one too, as a negative length
	lens := make([]int64, c.Size())
	if err := c.AllGather(ctx, Of(lens), Of([]int64{n})); err != nil {
		return nil, err
	}
	counts, all, err := decodeBuffer(lens)
	if err != nil {
		return nil, err
	}
	if err := c.AllGatherV(ctx, Of(all), counts, Of(data)); err != nil {
		return nil, err
	}
	return decodeAll[T](all, lens)
}

// decodeBuffer allocates memory for objects of these lengths.
func decodeBuffer(lens []int64) (counts []int, all []byte, err error) {
	counts = make([]int, len(lens))
	total := int64(0)
	for i, n := range lens {
		if counts[i], err = objectSize(n); err != nil {
			return nil, nil, err
		}
		total += int64(counts[i])
	}
	if _, err := objectSize(total); err != nil {
		return nil, nil, err
	}
	return counts, make([]byte, total), nil
}

func decodeAll[T any](all []byte, lens []int64) ([]T, error) {
	out := make([]T, len(lens))
	var errs []error
	for i, n := range lens {
		k := int(max(n, -n))
		data := all[:k]
		all = all[k:]
		errs = append(errs, decode(data, n, i, &out[i]))
	}
	return out, errors.Join(errs...)
}

// Agree returns an error on every rank if err is non-nil on any. A rank that failed
// gets its err; the others get a *RankError with the text of the lowest rank that
// failed. It is collective. Call it after work that may fail on some ranks only, so
// that either all ranks continue or none does.
func Agree(ctx context.Context, c *Comm, err error) error {
	failed := []int32{0}
	if err != nil {
		failed[0] = int32(c.Size() - c.Rank()) // the lowest rank has the largest value
	}
	if e := c.AllReduce(ctx, Of(failed), Of(failed), Max); e != nil {
		return ownOr(err, e)
	}
	if failed[0] == 0 {
		return nil
	}
	lowest, text := c.Size()-int(failed[0]), ""
	if c.Rank() == lowest {
		text = err.Error()
	}
	if e := BroadcastObject(ctx, c, &text, lowest); e != nil {
		return ownOr(err, e)
	}
	if err != nil {
		return err
	}
	return &RankError{Rank: lowest, Err: errors.New(text)}
}

// ownOr returns the error of this rank if it has one, else the error of the
// communication. Communication often fails because another rank has already returned
// the same error.
func ownOr(own, sent error) error {
	if own != nil {
		return own
	}
	return sent
}
