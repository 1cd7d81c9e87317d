package data

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/disk"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/trace"
)

// TIFF is what the directories of a .tif file say: a stack of grey images of one size.
// Files of one sample per pixel without compression and tiles are read, in either byte
// order, of 8, 16 or 32-bit integers, with or without sign, or 32 or 64-bit numbers.
type TIFF struct {
	Pages, Rows, Cols int
	Bits              int
	Format            SampleKind

	order  binary.ByteOrder
	strips [][]strip // of each page
}

// SampleKind says what the bits of a pixel are.
type SampleKind int

// The kinds of samples, with the numbers that a file has for them.
const (
	SampleUnsigned SampleKind = iota + 1
	SampleSigned
	SampleFloat
)

// strip is where some rows of a page are.
type strip struct{ at, bytes int64 }

// Tags of a directory that say where the pixels are and what they are.
const (
	tagCols, tagRows, tagBits, tagCompression, tagPhotometric = 256, 257, 258, 259, 262
	tagOffsets, tagSamples, tagStripRows, tagBytes            = 273, 277, 278, 279
	tagTiles, tagFormat                                       = 322, 339
)

// Shape returns the rows and columns of a file of one page, or the pages, rows and columns
// of a stack.
func (t TIFF) Shape() []int {
	if t.Pages == 1 {
		return []int{t.Rows, t.Cols}
	}
	return []int{t.Pages, t.Rows, t.Cols}
}

// InfoTIFF returns what a .tif file says it has, after comparing it with the size of
// the file.
func InfoTIFF(path string) (TIFF, error) {
	f, t, err := openTIFF(path)
	if err != nil {
		return TIFF{}, fmt.Errorf("data: look into %s: %w", path, err)
	}
	return t, bare(f.Close())
}

func openTIFF(path string) (*os.File, TIFF, error) {
	f, size, err := openRegular(path)
	if err != nil {
		return nil, TIFF{}, err
	}
	t, err := readDirectories(f, size)
	if err != nil {
		f.Close()
		return nil, TIFF{}, err
	}
	return f, t, nil
}

// ReadTIFF reads all pages of a .tif file, one after the other. Integers are not scaled.
func ReadTIFF[T scalar.Scalar](path string) (t TIFF, pixels []T, err error) {
	f, t, err := openTIFF(path)
	if err == nil {
		defer f.Close()
		pixels, err = readPages[T](f, t)
	}
	if err != nil {
		return TIFF{}, nil, fmt.Errorf("data: read %s: %w", path, err)
	}
	return t, pixels, nil
}

// LoadTIFF reads a .tif file into an array of s: one page, or a stack of pages along the
// first axis. It is collective. Every rank reads the file and keeps its block.
func LoadTIFF[T scalar.Scalar](ctx context.Context, path string, s *dist.Space) (dist.Array[T], error) {
	defer trace.Begin(ctx, "read a file").End()
	t, pixels, err := ReadTIFF[T](path)
	dims := []int{t.Pages, t.Rows, t.Cols}
	if t.Pages == 1 && s.Shape().NDim() == 2 {
		dims = dims[1:]
	}
	if err == nil && !slices.Equal(dims, s.Shape().Dims()) {
		err = fmt.Errorf("the file has shape %v, want %v", dims, s.Shape())
	}
	if err := dist.Agree(ctx, s.Comm(), "data: load "+path, err, dims); err != nil {
		return dist.Array[T]{}, err
	}
	return dist.FromFunc(ctx, s, func(i []int) T {
		at := 0
		for a, k := range i {
			at = at*dims[a] + k
		}
		return pixels[at]
	})
}

// SaveTIFF writes the real part of an array of two axes as a page of 32-bit numbers, or
// one of three axes as a stack of pages. It is collective. Rank 0 writes, and needs
// memory for all elements.
func SaveTIFF[T scalar.Scalar](ctx context.Context, path string, a dist.Array[T]) error {
	defer trace.Begin(ctx, "write a file").End()
	s := a.Space()
	dims := s.Shape().Dims()
	var err error
	if n := len(dims); s.Parts() != nil || n < 2 || n > 3 || s.Size() == 0 {
		err = fmt.Errorf("an array of shape %v: pages have two axes, a stack three", dims)
	} else if s.Size() > (math.MaxUint32-1<<20)/4 {
		err = fmt.Errorf("an array of shape %v: a .tif file has at most 4 GB: use .npy", dims)
	}
	what := "data: save " + path
	if err := dist.Agree(ctx, s.Comm(), what, err, dims); err != nil {
		return err
	}
	all, err := dist.Gather(ctx, a, 0)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if s.Comm().Rank() == 0 {
		err = disk.Save(path, func(w io.Writer) error { return writePages(w, dims, all) })
	}
	return dist.Agree(ctx, s.Comm(), what, err)
}

// readDirectories follows the chain of directories, one for each page.
func readDirectories(r io.ReaderAt, size int64) (t TIFF, err error) {
	var head [8]byte
	if _, err := r.ReadAt(head[:], 0); err != nil {
		return t, errors.New("it is too short for a TIFF file")
	}
	switch string(head[:2]) {
	case "II":
		t.order = binary.LittleEndian
	case "MM":
		t.order = binary.BigEndian
	default:
		return t, fmt.Errorf("it begins with %q: a TIFF file begins with II or MM", head[:4])
	}
	if v := t.order.Uint16(head[2:]); v != 42 {
		return t, fmt.Errorf("its version is %d, must be 42: BigTIFF is not read", v)
	}
	for at := int64(t.order.Uint32(head[4:])); at != 0; {
		if t.Pages++; int64(t.Pages) > size/16+1 {
			return t, errors.New("its directories have no end")
		}
		if at, err = t.directory(r, at, size); err != nil {
			return t, fmt.Errorf("page %d: %w", t.Pages, err)
		}
	}
	if t.Pages == 0 {
		return t, errors.New("it has no pages")
	}
	return t, nil
}

// directory reads that of one page and returns where the next one is.
func (t *TIFF) directory(r io.ReaderAt, at, size int64) (next int64, err error) {
	var count [2]byte
	if _, err := r.ReadAt(count[:], at); err != nil {
		return 0, fmt.Errorf("its directory at byte %d is beyond the end of the file", at)
	}
	n := int(t.order.Uint16(count[:]))
	entries := make([]byte, 12*n+4)
	if _, err := r.ReadAt(entries, at+2); err != nil {
		return 0, fmt.Errorf("its directory at byte %d reaches beyond the end of the file", at)
	}
	tags := map[uint16][]int64{}
	for i := range n {
		e := entries[12*i:][:12]
		switch tag := t.order.Uint16(e); tag {
		case tagTiles:
			return 0, errors.New("it has tiles, which are not read: save it in strips")
		case tagCols, tagRows, tagBits, tagCompression, tagOffsets, tagSamples, tagStripRows, tagBytes, tagFormat:
			if tags[tag], err = t.values(r, e, size); err != nil {
				return 0, fmt.Errorf("tag %d: %w", tag, err)
			}
		}
	}
	return int64(t.order.Uint32(entries[12*n:])), t.page(tags, size)
}

// values returns the numbers of an entry of a directory.
func (t *TIFF) values(r io.ReaderAt, e []byte, size int64) ([]int64, error) {
	wide := map[uint16]int64{3: 2, 4: 4}[t.order.Uint16(e[2:])] // short, long
	n := int64(t.order.Uint32(e[4:]))
	if wide == 0 || n < 1 || n*wide > size {
		return nil, fmt.Errorf("%d numbers of type %d", n, t.order.Uint16(e[2:]))
	}
	raw := e[8:12]
	if n*wide > 4 {
		raw = make([]byte, n*wide)
		if _, err := r.ReadAt(raw, int64(t.order.Uint32(e[8:]))); err != nil {
			return nil, errors.New("its numbers are beyond the end of the file")
		}
	}
	v := make([]int64, n)
	for i := range v {
		if wide == 2 {
			v[i] = int64(t.order.Uint16(raw[2*i:]))
		} else {
			v[i] = int64(t.order.Uint32(raw[4*i:]))
		}
	}
	return v, nil
}

// page checks the tags of a page. All pages are alike.
func (t *TIFF) page(tags map[uint16][]int64, size int64) error {
	first := func(tag uint16, otherwise int64) int64 {
		if v := tags[tag]; len(v) > 0 {
			return v[0]
		}
		return otherwise
	}
	p := TIFF{Rows: int(first(tagRows, 0)), Cols: int(first(tagCols, 0)), Bits: int(first(tagBits, 1)), Format: SampleKind(first(tagFormat, 1))}
	switch {
	case first(tagCompression, 1) != 1:
		return fmt.Errorf("it is compressed, by method %d: save it without compression", first(tagCompression, 1))
	case first(tagSamples, 1) != 1:
		return fmt.Errorf("it has %d numbers per pixel: grey images have one", first(tagSamples, 1))
	case p.Rows < 1 || p.Cols < 1:
		return fmt.Errorf("it has %d × %d pixels", p.Rows, p.Cols)
	case p.Format < SampleUnsigned || p.Format > SampleFloat || p.Format == SampleFloat && p.Bits != 32 && p.Bits != 64 ||
		p.Format != SampleFloat && p.Bits != 8 && p.Bits != 16 && p.Bits != 32:
		return fmt.Errorf("its pixels have %d bits of format %d: have 8, 16 or 32 bits of integers, 32 or 64 of floating point", p.Bits, p.Format)
	case t.Pages > 1 && (p.Rows != t.Rows || p.Cols != t.Cols || p.Bits != t.Bits || p.Format != t.Format):
		return fmt.Errorf("it has %d × %d pixels of %d bits, the first page has %d × %d of %d", p.Rows, p.Cols, p.Bits, t.Rows, t.Cols, t.Bits)
	}
	if n := device.Size(p.Rows, p.Cols, p.Bits/8); n < 0 || int64(n) > size {
		return fmt.Errorf("it has %d × %d pixels of %d bits, the file has %d bytes", p.Rows, p.Cols, p.Bits, size)
	}
	t.Rows, t.Cols, t.Bits, t.Format = p.Rows, p.Cols, p.Bits, p.Format
	at, bytes := tags[tagOffsets], tags[tagBytes]
	row := int64(p.Cols) * int64(p.Bits/8)
	if len(bytes) == 0 && len(at) == 1 {
		bytes = []int64{row * int64(p.Rows)}
	}
	if len(at) != len(bytes) || len(at) == 0 {
		return fmt.Errorf("it has %d strips with %d sizes", len(at), len(bytes))
	}
	var strips []strip
	left, rows := row*int64(p.Rows), max(1, first(tagStripRows, int64(p.Rows)))
	for i := range at {
		s := strip{at[i], min(left, rows*row)}
		if bytes[i] < s.bytes || s.at+s.bytes > size {
			return fmt.Errorf("strip %d has %d bytes from byte %d of a file of %d, need %d", i, bytes[i], s.at, size, s.bytes)
		}
		left -= s.bytes
		strips = append(strips, s)
	}
	if left > 0 {
		return fmt.Errorf("its strips lack %d bytes", left)
	}
	t.strips = append(t.strips, strips)
	return nil
}

// readPages reads the pixels of all pages.
func readPages[T scalar.Scalar](r io.ReaderAt, t TIFF) ([]T, error) {
	if err := device.CheckHostMemory(t.Pages, t.Rows, t.Cols, 2*scalar.Of[T]().Size()); err != nil {
		return nil, err
	}
	wide := t.Bits / 8
	all := make([]T, 0, t.Pages*t.Rows*t.Cols)
	for _, strips := range t.strips {
		for _, s := range strips {
			raw := make([]byte, s.bytes)
			if _, err := r.ReadAt(raw, s.at); err != nil {
				return nil, bare(err)
			}
			for i := 0; i < len(raw); i += wide {
				all = append(all, scalar.From[T](complex(t.number(raw[i:]), 0)))
			}
		}
	}
	return all, nil
}

// number returns the pixel at the beginning of b.
func (t *TIFF) number(b []byte) float64 {
	var u uint64
	switch t.Bits {
	case 8:
		u = uint64(b[0])
	case 16:
		u = uint64(t.order.Uint16(b))
	case 32:
		u = uint64(t.order.Uint32(b))
	case 64:
		return math.Float64frombits(t.order.Uint64(b))
	}
	switch t.Format {
	case SampleFloat:
		return float64(math.Float32frombits(uint32(u)))
	case SampleSigned:
		return float64(int64(u<<(64-t.Bits)) >> (64 - t.Bits))
	}
	return float64(u)
}

// writePages writes a stack of pages: each has its directory before its pixels.
func writePages[T scalar.Scalar](to io.Writer, dims []int, all []T) error {
	rows, cols := dims[len(dims)-2], dims[len(dims)-1]
	pages, bytes := len(all)/(rows*cols), uint32(4*rows*cols)
	w := bufio.NewWriter(to)
	put := func(v any) { _ = binary.Write(w, binary.LittleEndian, v) } // Flush reports what went wrong
	put([]byte("II"))
	put(uint16(42))
	put(uint32(8))
	at := uint32(8)
	for page := range pages {
		tags := [][2]uint32{
			{tagCols, uint32(cols)}, {tagRows, uint32(rows)}, {tagBits, 32}, {tagCompression, 1}, {tagPhotometric, 1},
			{tagOffsets, 0}, {tagSamples, 1}, {tagStripRows, uint32(rows)}, {tagBytes, bytes}, {tagFormat, uint32(SampleFloat)},
		}
		pixels := at + 2 + uint32(12*len(tags)) + 4 + 2 // two more keep pixels at a multiple of 4
		put(uint16(len(tags)))
		for _, tag := range tags {
			if tag[0] == tagOffsets {
				tag[1] = pixels
			}
			put([]uint16{uint16(tag[0]), 4}) // all long
			put([]uint32{1, tag[1]})
		}
		if at = pixels + bytes; page == pages-1 {
			at = 0
		}
		put(at)
		put(uint16(0))
		for _, v := range all[page*rows*cols:][:rows*cols] {
			put(float32(real(scalar.Complex(v))))
		}
	}
	return w.Flush()
}
