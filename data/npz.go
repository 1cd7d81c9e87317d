package data

import (
	"archive/zip"
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/golops/golops/internal/disk"
	"github.com/golops/golops/scalar"
)

// Member is an array of a .npz file, under its name.
type Member struct {
	Name string // without the .npy that it has in the file
	NPY

	write func(io.Writer) error // nil if it was read
}

// Named returns an array in C order to write under a name. It keeps elements.
func Named[T scalar.Scalar](name string, dims []int, elements []T) Member {
	dims = slices.Clone(dims)
	return Member{
		Name:  name,
		NPY:   NPY{DType: elementName[T](), Shape: dims},
		write: func(w io.Writer) error { return writeNPY(w, dims, elements) },
	}
}

// ListNPZ returns names and headers of all arrays of a .npz file, in its order.
// Members that are no arrays of numbers are left out.
func ListNPZ(path string) ([]Member, error) {
	var list []Member
	err := openNPZ(path, func(files []*zip.File, size int64) error {
		for _, f := range files {
			name, ok := strings.CutSuffix(f.Name, ".npy")
			if !ok {
				continue
			}
			err := readMember(f, size, func(_ io.Reader, h NPY) error {
				list = append(list, Member{Name: name, NPY: h})
				return nil
			})
			if _, text := errors.AsType[elementError](err); err != nil && !text {
				return fmt.Errorf("member %q: %w", name, err)
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("data: list %s: %w", path, err)
	}
	return list, nil
}

// ReadNPZ returns the shape and the elements of one array of a .npz file, as
// ReadNPY does. Compressed files are read too. The checksum must be right. Memory is
// allocated for the array alone, and only if the host has it and the file is long enough.
func ReadNPZ[T scalar.Scalar](path, name string) (dims []int, elements []T, err error) {
	err = openNPZ(path, func(files []*zip.File, size int64) error {
		f, err := find(files, name)
		if err != nil {
			return err
		}
		return readMember(f, size, func(r io.Reader, h NPY) (err error) {
			if elements, err = readElements[T](r, h, true); err != nil {
				return err
			}
			dims = h.Shape
			return atEnd(r)
		})
	})
	if err != nil {
		return nil, nil, fmt.Errorf("data: read %q of %s: %w", name, path, err)
	}
	return dims, elements, nil
}

func openNPZ(path string, use func(files []*zip.File, size int64) error) error {
	f, size, err := openRegular(path)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := zip.NewReader(f, size)
	if err != nil {
		return fmt.Errorf("this is no .npz file, or it is truncated: %w", err)
	}
	return use(z.File, size)
}

// plausible refuses a member that claims more bytes than a file of this size can hold, so
// that a wrong header allocates no memory.
func plausible(f *zip.File, size int64) error {
	const best = 1032 // bytes that deflate makes of one at most: 258 of 2 bits
	packed, whole := f.CompressedSize64, f.UncompressedSize64
	switch {
	case packed > uint64(size):
		return fmt.Errorf("it claims %d bytes of a file of %d", packed, size)
	case f.Method == zip.Store && whole != packed, whole/best > packed:
		return fmt.Errorf("it claims to be %d bytes long, which cannot be in %d", whole, packed)
	}
	return nil
}

func find(files []*zip.File, name string) (*zip.File, error) {
	var found *zip.File
	var have []string
	for _, f := range files {
		have = append(have, strings.TrimSuffix(f.Name, ".npy"))
		if f.Name == name+".npy" {
			if found != nil {
				return nil, errors.New("there are two arrays of this name")
			}
			found = f
		}
	}
	if found == nil {
		return nil, fmt.Errorf("there is no such array: have %.200q", have)
	}
	return found, nil
}

// readMember calls use with a member of the archive, after the member's NPY header. It
// refuses a header whose length does not match.
func readMember(f *zip.File, size int64, use func(io.Reader, NPY) error) (err error) {
	defer func() {
		if errors.Is(err, zip.ErrFormat) {
			err = fmt.Errorf("it is longer than the archive claims, or damaged: %w", err)
		}
	}()
	if err := plausible(f, size); err != nil {
		return err
	}
	r, err := f.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	b := bufio.NewReaderSize(r, 1<<16)
	h, err := readHeader(b)
	if err != nil {
		return err
	}
	if f.UncompressedSize64 > math.MaxInt64 || int64(f.UncompressedSize64) != h.bytes() {
		return fmt.Errorf("it has %d bytes, %v of %s need %d", f.UncompressedSize64, h.Shape, h.DType, h.bytes())
	}
	return use(b, h)
}

// atEnd lets the reader come to its end, where it compares the checksum.
func atEnd(r io.Reader) error {
	if _, err := io.ReadFull(r, make([]byte, 1)); err != io.EOF {
		return cmp.Or(err, zip.ErrFormat) // there is more
	}
	return nil
}

// WriteNPZ writes arrays to a .npz file in the given order, uncompressed. The
// same arrays give the same bytes: there are no dates in it. Other programs see
// the old file or the whole new one.
func WriteNPZ(path string, members ...Member) error {
	err := checkMembers(members)
	if err == nil {
		err = disk.Save(path, func(w io.Writer) error { return writeNPZ(w, members) })
	}
	if err != nil {
		return fmt.Errorf("data: write %s: %w", path, err)
	}
	return nil
}

func checkMembers(members []Member) error {
	var errs []error
	seen := map[string]bool{}
	for i, m := range members {
		switch {
		case m.write == nil:
			errs = append(errs, fmt.Errorf("member %d, %q, has no elements: make it with Named", i, m.Name))
		case m.Name == "":
			errs = append(errs, fmt.Errorf("member %d has no name", i))
		case seen[m.Name]:
			errs = append(errs, fmt.Errorf("member %d, %q, is there twice", i, m.Name))
		case strings.Contains(m.Name, "\\") || strings.HasPrefix(m.Name, "/"):
			errs = append(errs, fmt.Errorf("member %d, %q, must not start with / or contain \\", i, m.Name))
		}
		seen[m.Name] = true
	}
	return errors.Join(errs...)
}

func writeNPZ(w io.Writer, members []Member) error {
	z := zip.NewWriter(w)
	for _, m := range members {
		f, err := z.CreateHeader(&zip.FileHeader{Name: m.Name + ".npy", Method: zip.Store})
		if err == nil {
			err = m.write(f)
		}
		if err != nil {
			return fmt.Errorf("member %q: %w", m.Name, err)
		}
	}
	return z.Close()
}
