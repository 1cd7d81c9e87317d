package golden

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// array is an array as stored, its elements in C order.
type array struct {
	descr string // the element type as NumPy spells it, without the byte order
	shape []int
	data  []byte
}

// itemSize holds the element types we read, all little endian.
var itemSize = map[string]int{"f4": 4, "f8": 8, "c8": 8, "c16": 16, "i4": 4, "i8": 8, "b1": 1}

// files keeps what was read: tests ask for the arrays of a file one by one.
var files struct {
	sync.Mutex
	byPath map[string]map[string]array
}

// read returns the array of the case called key.
func (c Case) read(key string) (array, error) {
	name, ok := c.arrays[key]
	if !ok {
		return array{}, fmt.Errorf("golden: array %q of %s: the case has %v", key, c.Name, c.Keys())
	}
	path := filepath.Join(c.dir, c.file)
	files.Lock()
	defer files.Unlock()
	if files.byPath[path] == nil {
		arrays, err := readNpz(path)
		if err != nil {
			return array{}, err
		}
		if files.byPath == nil {
			files.byPath = map[string]map[string]array{}
		}
		files.byPath[path] = arrays
	}
	a, ok := files.byPath[path][name]
	if !ok {
		return array{}, fmt.Errorf("golden: array %q of %s: %s holds no %q", key, c.Name, path, name)
	}
	return a, nil
}

// readNpz reads all arrays of a file, by name.
func readNpz(path string) (map[string]array, error) {
	z, err := zip.OpenReader(path)
	if err != nil {
		return nil, fmt.Errorf("golden: open %s: %w", path, err)
	}
	defer z.Close()
	arrays := make(map[string]array, len(z.File))
	for _, f := range z.File {
		a, err := readMember(f)
		if err != nil {
			return nil, fmt.Errorf("golden: read %s of %s: %w", f.Name, path, err)
		}
		arrays[strings.TrimSuffix(f.Name, ".npy")] = a
	}
	return arrays, nil
}

func readMember(f *zip.File) (array, error) {
	r, err := f.Open()
	if err != nil {
		return array{}, err
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	if err != nil {
		return array{}, err
	}
	return parseNpy(data)
}

const magic = "\x93NUMPY"

// parseNpy reads an array in NumPy's format, version 1 or 2.
func parseNpy(b []byte) (array, error) {
	if len(b) < len(magic)+4 || string(b[:len(magic)]) != magic {
		return array{}, errors.New("not in npy format: no magic string")
	}
	major := b[len(magic)]
	rest := b[len(magic)+2:]
	var n uint64
	switch {
	case major == 1:
		n, rest = uint64(binary.LittleEndian.Uint16(rest)), rest[2:]
	case major == 2 && len(rest) >= 4:
		n, rest = uint64(binary.LittleEndian.Uint32(rest)), rest[4:]
	default:
		return array{}, fmt.Errorf("npy version %d of %d bytes: only 1 and 2 are known", major, len(b))
	}
	if n > uint64(len(rest)) {
		return array{}, fmt.Errorf("npy header of %d bytes: only %d follow", n, len(rest))
	}
	a, fortran, err := parseHeader(string(rest[:n]))
	if err != nil {
		return array{}, err
	}
	return fill(a, fortran, rest[n:])
}

// The header is a Python dictionary that NumPy always writes the same way.
var (
	descrRE = regexp.MustCompile(`'descr':\s*'([<>|=]?)([a-zA-Z]\d+)'`)
	orderRE = regexp.MustCompile(`'fortran_order':\s*(True|False)`)
	shapeRE = regexp.MustCompile(`'shape':\s*\(([\d,\s]*)\)`)
)

func parseHeader(h string) (a array, fortran bool, err error) {
	descr, order, dims := descrRE.FindStringSubmatch(h), orderRE.FindStringSubmatch(h), shapeRE.FindStringSubmatch(h)
	if descr == nil || order == nil || dims == nil {
		return a, false, fmt.Errorf("npy header %q: descr, fortran_order or shape is missing or strange", h)
	}
	size, ok := itemSize[descr[2]]
	if !ok || descr[1] == ">" || (descr[1] == "|") != (size == 1) {
		return a, false, fmt.Errorf("npy type %q: have f4, f8, c8, c16, i4, i8, little endian, and b1", descr[1]+descr[2])
	}
	a.descr, a.shape = descr[2], []int{}
	for _, s := range strings.Split(dims[1], ",") {
		// A single length is followed by a comma, a scalar has none at all.
		if s = strings.TrimSpace(s); s == "" {
			continue
		}
		d, err := strconv.Atoi(s)
		if err != nil {
			return a, false, fmt.Errorf("npy shape (%s): %w", dims[1], err)
		}
		a.shape = append(a.shape, d)
	}
	return a, order[1] == "True", nil
}

// fill puts data into a, in C order.
func fill(a array, fortran bool, data []byte) (array, error) {
	size, n := itemSize[a.descr], 1
	for _, d := range a.shape {
		if d != 0 && n > math.MaxInt/size/d {
			return array{}, fmt.Errorf("npy shape %v of %s: too big", a.shape, a.descr)
		}
		n *= d
	}
	if n*size != len(data) {
		return array{}, fmt.Errorf("npy shape %v of %s needs %d bytes: %d follow", a.shape, a.descr, n*size, len(data))
	}
	a.data = bytes.Clone(data)
	if !fortran || n == 0 {
		return a, nil
	}
	idx := make([]int, len(a.shape))
	for i := range n {
		at, step := 0, 1
		for k, d := range a.shape {
			at += idx[k] * step
			step *= d
		}
		copy(a.data[i*size:(i+1)*size], data[at*size:])
		for k := len(idx) - 1; k >= 0; k-- {
			if idx[k]++; idx[k] < a.shape[k] {
				break
			}
			idx[k] = 0
		}
	}
	return a, nil
}
