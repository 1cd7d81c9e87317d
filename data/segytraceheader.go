package data

import "fmt"

// Header returns a word of the header of trace i, which counts from 0.
func (s *SEGY) Header(i int, w Word) (int, error) {
	v := []int{0}
	err := s.Headers(i, v, w)
	return v[0], err
}

// Headers sets dst to words of the header of trace i, which it reads once.
func (s *SEGY) Headers(i int, dst []int, words ...Word) error {
	if err := s.headers(i, dst, words); err != nil {
		return fmt.Errorf("data: header of trace %d: %w", i, err)
	}
	return nil
}

func (s *SEGY) headers(i int, dst []int, words []Word) error {
	if len(dst) != len(words) {
		return fmt.Errorf("room for %d values of %d words", len(dst), len(words))
	}
	if err := s.inside(i, i+1); err != nil {
		return err
	}
	h := make([]byte, traceHeader)
	if err := readAt(s.r, h, s.first+int64(i)*s.traceBytes()); err != nil {
		return err
	}
	if err := s.checkLength(h); err != nil {
		return err
	}
	for k, w := range words {
		if err := w.check(1, traceHeader); err != nil {
			return err
		}
		dst[k] = w.get(h, 1)
	}
	return nil
}

// inside returns an error unless traces lo to hi-1 are in the file.
func (s *SEGY) inside(lo, hi int) error {
	if lo < 0 || hi < lo || hi > s.traces {
		return fmt.Errorf("the file has %d traces, which count from 0", s.traces)
	}
	return nil
}

// checkLength refuses a trace of another length: all later traces would be read from
// the wrong place.
func (s *SEGY) checkLength(header []byte) error {
	if n := TraceSamples.get(header, 1); n != 0 && n != s.samples {
		return fmt.Errorf("it has %d samples, the file %d: traces that vary in length cannot be read", n, s.samples)
	}
	return nil
}

// Scaled returns a word of the header of trace i, scaled by another word, as the
// standard defines it: a positive scalar multiplies, a negative one divides, and 0 means
// 1.
func (s *SEGY) Scaled(i int, w, scalar Word) (float64, error) {
	var v [2]int
	if err := s.Headers(i, v[:], w, scalar); err != nil {
		return 0, err
	}
	return scale(v[0], v[1]), nil
}

// Coordinates returns two words of the header of trace i, such as SourceX and
// SourceY, with CoordinateScalar applied as Scaled does.
func (s *SEGY) Coordinates(i int, x, y Word) (float64, float64, error) {
	var v [3]int
	if err := s.Headers(i, v[:], x, y, CoordinateScalar); err != nil {
		return 0, 0, err
	}
	return scale(v[0], v[2]), scale(v[1], v[2]), nil
}

func scale(v, by int) float64 {
	switch {
	case by > 0:
		return float64(v) * float64(by)
	case by < 0:
		return float64(v) / float64(-by)
	}
	return float64(v)
}
