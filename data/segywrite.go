package data

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/golops/golops/internal/disk"
)

// SEGYConfig says what WriteSEGY writes besides traces.
type SEGYConfig struct {
	NumTraces    int
	NumSamples   int          // of each trace, 1 to 65535; some programs read at most 32767
	Interval     int          // between samples, in microseconds for records of time, 1 to 65535
	Format       SampleFormat // 0 means FormatIEEE, which is exact; FormatIBM rounds to the nearest, by at most 2⁻²¹ of the value
	Text         string       // up to 40 lines of 80 characters, written in EBCDIC; "" means a text that says what the file is
	ExtendedText []string     // more texts like it
	Binary       map[Word]int // words of the binary header, bytes 3201 to 3600, but for those that follow from the fields above
}

// Validate reports everything that is wrong with c.
func (c SEGYConfig) Validate() error {
	var errs []error
	if c.NumTraces < 0 {
		errs = append(errs, fmt.Errorf("NumTraces is %d, must not be negative", c.NumTraces))
	}
	if c.NumSamples < 1 || c.NumSamples > math.MaxUint16 {
		errs = append(errs, fmt.Errorf("NumSamples is %d, must be 1 to %d", c.NumSamples, math.MaxUint16))
	}
	if c.Interval < 1 || c.Interval > math.MaxUint16 {
		errs = append(errs, fmt.Errorf("Interval is %d, must be 1 to %d microseconds", c.Interval, math.MaxUint16))
	}
	if !slices.Contains([]SampleFormat{0, FormatIBM, FormatIEEE}, c.Format) {
		errs = append(errs, fmt.Errorf("Format is %d: have FormatIBM (1) and FormatIEEE (5)", c.Format))
	}
	if _, err := encodeText(c.Text); err != nil {
		errs = append(errs, fmt.Errorf("Text: %w", err))
	}
	if len(c.ExtendedText) > math.MaxInt16 {
		errs = append(errs, fmt.Errorf("ExtendedText has %d texts, at most %d are possible", len(c.ExtendedText), math.MaxInt16))
	}
	for i, text := range c.ExtendedText {
		if _, err := encodeText(text); err != nil {
			errs = append(errs, fmt.Errorf("ExtendedText %d: %w", i, err))
		}
	}
	if len(errs) == 0 {
		_, err := c.binaryHeader()
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (c SEGYConfig) format() SampleFormat {
	if c.Format == 0 {
		return FormatIEEE
	}
	return c.Format
}

// binaryHeader returns the binary header. Words that follow from c are set on
// top of those of the caller, which must not differ.
func (c SEGYConfig) binaryHeader() ([]byte, error) {
	b := make([]byte, binaryHeader)
	if err := putAll(b, binaryFirst, binaryLast, c.Binary); err != nil {
		return nil, fmt.Errorf("Binary: %w", err)
	}
	for w, v := range map[Word]int{
		binaryInterval: c.Interval, binarySamples: c.NumSamples, binaryFormat: int(c.format()),
		binaryRevision: 0x0100, binaryFixed: 1, binaryTexts: len(c.ExtendedText),
	} {
		if was := w.get(b, binaryFirst); was != 0 && was != v {
			return nil, fmt.Errorf("Binary: %v follows from the other fields and is %d, not %d: leave it out", w, v, was)
		}
		if err := w.put(b, binaryFirst, v); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// defaultText is a textual header as the standard wants it.
func (c SEGYConfig) defaultText() string {
	text := ""
	for i := 1; i <= textLines; i++ {
		line := ""
		switch i {
		case 1:
			line = "WRITTEN BY GOLOPS"
		case 2:
			line = fmt.Sprintf("%d TRACES OF %d SAMPLES, INTERVAL %d, FORMAT %d", c.NumTraces, c.NumSamples, c.Interval, c.format())
		case 39:
			line = "SEG Y REV1"
		case 40:
			line = "END TEXTUAL HEADER"
		}
		text += fmt.Sprintf("C%2d %s\n", i, line)
	}
	return text
}

// WriteSEGY writes a SEG-Y file of revision 1. It calls traces once for each
// trace, from 0 on, to set dst to its samples, and headers, unless that is nil,
// for words of its header. The number of the trace in line and file, a code for
// seismic data, the number of samples and the interval are there already. The
// same traces give the same bytes. Other programs see the old file or the whole
// new one.
//
// IBM floats have no NaN and no infinity: these are an error with FormatIBM.
func WriteSEGY(path string, c SEGYConfig, traces func(i int, dst []float32) error, headers func(i int) map[Word]int) error {
	err := c.Validate()
	if err == nil {
		err = disk.Save(path, func(w io.Writer) error { return writeSEGY(w, c, traces, headers) })
	}
	if err != nil {
		return fmt.Errorf("data: write %s: %w", path, err)
	}
	return nil
}

func writeSEGY(w io.Writer, c SEGYConfig, traces func(int, []float32) error, headers func(int) map[Word]int) error {
	if c.Text == "" {
		c.Text = c.defaultText()
	}
	front, err := encodeText(c.Text)
	if err != nil {
		return err
	}
	b, err := c.binaryHeader()
	if err != nil {
		return err
	}
	front = append(front, b...)
	for _, text := range c.ExtendedText {
		t, err := encodeText(text)
		if err != nil {
			return err
		}
		front = append(front, t...)
	}
	if _, err := w.Write(front); err != nil {
		return err
	}
	samples, out := make([]float32, c.NumSamples), make([]byte, traceHeader+4*c.NumSamples)
	for i := range c.NumTraces {
		err := traces(i, samples)
		if err == nil {
			err = c.putHeader(out[:traceHeader], i, headers)
		}
		if err == nil {
			err = c.format().encodeSamples(out[traceHeader:], samples)
		}
		if err == nil {
			_, err = w.Write(out)
		}
		if err != nil {
			return fmt.Errorf("trace %d: %w", i, err)
		}
	}
	return nil
}

// putHeader fills the header of a trace: what is known, and the caller's words
// on top of it.
func (c SEGYConfig) putHeader(h []byte, i int, headers func(int) map[Word]int) error {
	clear(h)
	known := map[Word]int{
		TraceSequenceLine: i + 1, TraceSequenceFile: i + 1, TraceIdentification: 1,
		TraceSamples: c.NumSamples, TraceInterval: c.Interval,
	}
	if err := putAll(h, 1, traceHeader, known); err != nil {
		return err
	}
	if headers != nil {
		if err := putAll(h, 1, traceHeader, headers(i)); err != nil {
			return err
		}
	}
	if n := TraceSamples.get(h, 1); n != c.NumSamples {
		return fmt.Errorf("the given words make %v %d, must be %d as for all traces", TraceSamples, n, c.NumSamples)
	}
	return nil
}

// encodeSamples converts samples to the formats that can be written.
func (f SampleFormat) encodeSamples(dst []byte, src []float32) error {
	for i, v := range src {
		b, ok := math.Float32bits(v), true
		if f == FormatIBM {
			b, ok = toIBM(v)
		}
		if !ok {
			return fmt.Errorf("sample %d is %v, which IBM floats lack: write FormatIEEE", i, v)
		}
		binary.BigEndian.PutUint32(dst[4*i:], b)
	}
	return nil
}
