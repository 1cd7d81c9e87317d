package data

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
)

// SampleFormat is the code of SEG-Y for how samples are stored.
type SampleFormat int

// The formats that can be read. FormatIBM and FormatIEEE can be written.
const (
	FormatIBM   SampleFormat = 1
	FormatInt32 SampleFormat = 2
	FormatInt16 SampleFormat = 3
	FormatIEEE  SampleFormat = 5
	FormatInt8  SampleFormat = 8
)

// size returns the bytes of a sample, 0 if the format is none of the above.
func (f SampleFormat) size() int {
	return map[SampleFormat]int{FormatIBM: 4, FormatInt32: 4, FormatInt16: 2, FormatIEEE: 4, FormatInt8: 1}[f]
}

// Layout of a file: a textual header, a binary header, extended textual headers, and
// traces, each after its trace header.
const (
	binaryHeader = 400
	binaryFirst  = textBytes + 1 // the number of its first byte
	binaryLast   = textBytes + binaryHeader
	traceHeader  = 240
)

// Words of the binary header that say how the file is laid out.
var (
	binaryInterval = Word{"Interval", 3217, 2}
	binarySamples  = Word{"Samples", 3221, 2}
	binaryFormat   = Word{"Format", 3225, 2}
	binaryRevision = Word{"Revision", 3501, 2}
	binaryFixed    = Word{"FixedLength", 3503, 2}
	binaryTexts    = Word{"ExtendedTexts", 3505, 2}
)

// SEGY reads traces of equal length from a SEG-Y file of revision 0 or 1. What
// it reads it reads from the file at that moment, so that ranks that open the
// same file read only their own traces. Goroutines may share it.
//
// It says nothing about geometry: programs name the header words that hold it.
type SEGY struct {
	r        io.ReaderAt
	close    func() error
	text     []byte
	binary   []byte
	texts    int   // extended textual headers
	first    int64 // where traces start
	traces   int
	samples  int
	interval int
	format   SampleFormat
}

// OpenSEGY opens a SEG-Y file. Close it when done.
func OpenSEGY(path string) (*SEGY, error) {
	f, size, err := openRegular(path)
	if err != nil {
		return nil, fmt.Errorf("data: open %s: %w", path, err)
	}
	s, err := newSEGY(f, size)
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("data: open %s: %w", path, err)
	}
	s.close = f.Close
	return s, nil
}

// NewSEGY reads SEG-Y from r, which has this many bytes.
func NewSEGY(r io.ReaderAt, size int64) (*SEGY, error) {
	s, err := newSEGY(r, size)
	if err != nil {
		return nil, fmt.Errorf("data: open SEG-Y: %w", err)
	}
	return s, nil
}

func newSEGY(r io.ReaderAt, size int64) (*SEGY, error) {
	if size < binaryLast {
		return nil, fmt.Errorf("it has %d bytes, the headers of SEG-Y alone have %d", size, binaryLast)
	}
	b := make([]byte, binaryLast)
	if err := readAt(r, b, 0); err != nil {
		return nil, err
	}
	s := &SEGY{r: r, text: b[:textBytes], binary: b[textBytes:], close: func() error { return nil }}
	if err := s.readFormat(); err != nil {
		return nil, err
	}
	if err := s.findTexts(size); err != nil {
		return nil, err
	}
	if err := s.readLength(size); err != nil {
		return nil, err
	}
	if err := s.checkRevision(); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *SEGY) word(w Word) int { return w.get(s.binary, binaryFirst) }

// readFormat reads the sample format and refuses files that this package cannot read.
func (s *SEGY) readFormat() error {
	s.format = SampleFormat(s.word(binaryFormat))
	if s.format.size() == 0 {
		if swapped := SampleFormat(s.format>>8&0xff | s.format&0xff<<8); swapped.size() > 0 {
			return fmt.Errorf("format code %d has its bytes swapped: the file is little-endian, SEG-Y is big-endian", s.format)
		}
		return fmt.Errorf("format code %d of the samples is unknown: have 1 (IBM), 2, 3, 8 (integers) and 5 (IEEE); or this is no SEG-Y file", s.format)
	}
	return nil
}

// checkRevision refuses features of revision 2 of the standard. A file of revision 2
// that uses none of them reads like one of revision 1.
func (s *SEGY) checkRevision() error {
	if s.binary[binaryRevision.Byte-binaryFirst] < 2 {
		return nil
	}
	at := func(byte int) []byte { return s.binary[byte-binaryFirst:] }
	number := func(byte int) int64 { return int64(int32(binary.BigEndian.Uint32(at(byte)))) }
	for _, c := range []struct {
		what      string
		got, want int64
	}{
		{"samples per trace (bytes 3269 to 3272)", number(3269), int64(s.samples)},
		{"extra headers per trace (bytes 3507 to 3510)", number(3507), 0},
		{"start of the first trace (bytes 3521 to 3528)", int64(binary.BigEndian.Uint64(at(3521))), s.first},
		{"trailers (bytes 3529 to 3532)", number(3529), 0},
	} {
		if c.got != 0 && c.got != c.want {
			return fmt.Errorf("it is of revision 2, and its %s are %d: convert it to revision 1", c.what, c.got)
		}
	}
	if v := math.Float64frombits(binary.BigEndian.Uint64(at(3273))); v != 0 && v != float64(s.interval) {
		return fmt.Errorf("it is of revision 2, and its interval (bytes 3273 to 3280) is %v: convert it to revision 1", v)
	}
	return nil
}

// endText ends extended textual headers whose number is not given.
const endText = "((SEG: ENDTEXT))"

// findTexts counts the extended textual headers. Traces start after them.
func (s *SEGY) findTexts(size int64) error {
	n := s.word(binaryTexts)
	if n < -1 {
		return fmt.Errorf("it claims %d extended textual headers", n)
	}
	for s.first = binaryLast; s.texts != n; s.texts++ {
		if s.first+textBytes > size {
			return fmt.Errorf("the file is truncated: it ends in extended textual header %d", s.texts+1)
		}
		s.first += textBytes
		if n >= 0 {
			continue
		}
		text, err := s.textAt(s.first - textBytes)
		if err != nil {
			return err
		}
		if strings.HasPrefix(strings.ToUpper(text), endText) {
			n = s.texts + 1
		}
	}
	return nil
}

// readLength sets the number and length of traces. Words that are zero in the binary
// header are read from the first trace header.
func (s *SEGY) readLength(size int64) error {
	s.samples, s.interval = s.word(binarySamples), s.word(binaryInterval)
	left := size - s.first
	if left > 0 && (s.samples == 0 || s.interval == 0) {
		if left < traceHeader {
			return errors.New("the file is truncated: it ends in the header of the first trace")
		}
		h := make([]byte, traceHeader)
		if err := readAt(s.r, h, s.first); err != nil {
			return err
		}
		if s.samples == 0 {
			s.samples = TraceSamples.get(h, 1)
		}
		if s.interval == 0 {
			s.interval = TraceInterval.get(h, 1)
		}
	}
	if left > 0 && s.samples == 0 {
		return errors.New("neither the binary header nor the first trace says how many samples a trace has")
	}
	each := s.traceBytes()
	if left%each != 0 {
		return fmt.Errorf("the %d bytes of traces are not a whole number of traces of %d bytes, for %d samples and a header: the file is truncated, or its traces vary in length, which cannot be read", left, each, s.samples)
	}
	if left/each > math.MaxInt {
		return fmt.Errorf("it has %d traces, more than an int can count", left/each)
	}
	s.traces = int(left / each)
	return nil
}

// traceBytes returns the bytes of a trace with its header.
func (s *SEGY) traceBytes() int64 { return int64(traceHeader + s.samples*s.format.size()) }

// readAt fills b. A file that ends early is an error that says so.
func readAt(r io.ReaderAt, b []byte, at int64) error {
	if n, err := r.ReadAt(b, at); n < len(b) {
		return fmt.Errorf("%d bytes at %d: %w", len(b), at, short(bare(err)))
	}
	return nil
}

func (s *SEGY) textAt(at int64) (string, error) {
	b := make([]byte, textBytes)
	if err := readAt(s.r, b, at); err != nil {
		return "", err
	}
	return decodeText(b), nil
}

// Close closes the file.
func (s *SEGY) Close() error { return s.close() }

// NumTraces returns the number of traces of the file.
func (s *SEGY) NumTraces() int { return s.traces }

// NumSamples returns the number of samples of a trace.
func (s *SEGY) NumSamples() int { return s.samples }

// Interval returns the sample interval as it is stored: in microseconds for traces in
// time.
func (s *SEGY) Interval() int { return s.interval }

// Format returns how samples are stored.
func (s *SEGY) Format() SampleFormat { return s.format }

// Text returns the lines of the textual header, written in EBCDIC or in ASCII,
// without spaces at their ends.
func (s *SEGY) Text() string { return decodeText(s.text) }

// ExtendedText returns the extended textual headers.
func (s *SEGY) ExtendedText() ([]string, error) {
	var texts []string
	for i := range s.texts {
		t, err := s.textAt(binaryLast + int64(i)*textBytes)
		if err != nil {
			return nil, fmt.Errorf("data: extended textual header %d: %w", i+1, err)
		}
		texts = append(texts, t)
	}
	return texts, nil
}

// Binary returns a word of the binary header, whose bytes are 3201 to 3600.
func (s *SEGY) Binary(w Word) (int, error) {
	if err := w.check(binaryFirst, binaryLast); err != nil {
		return 0, fmt.Errorf("data: binary header: %w", err)
	}
	return s.word(w), nil
}

// decodeSamples converts samples to float32. Integers beyond 2²⁴ are rounded.
func (f SampleFormat) decodeSamples(dst []float32, src []byte) {
	switch f {
	case FormatIBM:
		for i := range dst {
			dst[i] = fromIBM(binary.BigEndian.Uint32(src[4*i:]))
		}
	case FormatIEEE:
		for i := range dst {
			dst[i] = math.Float32frombits(binary.BigEndian.Uint32(src[4*i:]))
		}
	case FormatInt32:
		for i := range dst {
			dst[i] = float32(int32(binary.BigEndian.Uint32(src[4*i:])))
		}
	case FormatInt16:
		for i := range dst {
			dst[i] = float32(int16(binary.BigEndian.Uint16(src[2*i:])))
		}
	case FormatInt8:
		for i := range dst {
			dst[i] = float32(int8(src[i]))
		}
	}
}
