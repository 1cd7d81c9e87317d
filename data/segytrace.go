package data

import "fmt"

// Trace sets dst, which has NumSamples elements, to the samples of trace i,
// which counts from 0.
func (s *SEGY) Trace(i int, dst []float32) error {
	if err := s.readTraces(i, i+1, dst); err != nil {
		return fmt.Errorf("data: trace %d: %w", i, err)
	}
	return nil
}

// Traces sets dst to the samples of traces lo up to but not including hi, one
// trace after another. IBM floats and 32-bit integers are converted to the
// nearest float32.
func (s *SEGY) Traces(lo, hi int, dst []float32) error {
	if err := s.readTraces(lo, hi, dst); err != nil {
		return fmt.Errorf("data: traces %d to %d: %w", lo, hi-1, err)
	}
	return nil
}

func (s *SEGY) readTraces(lo, hi int, dst []float32) error {
	if err := s.inside(lo, hi); err != nil {
		return err
	}
	if len(dst) != (hi-lo)*s.samples {
		return fmt.Errorf("room for %d samples, %d traces of %d have %d", len(dst), hi-lo, s.samples, (hi-lo)*s.samples)
	}
	each := int(s.traceBytes())
	buf := make([]byte, min(hi-lo, max(1<<20/each, 1))*each) // about a megabyte at once
	for i := lo; i < hi; {
		n := min(hi-i, len(buf)/each)
		if err := readAt(s.r, buf[:n*each], s.first+int64(i)*int64(each)); err != nil {
			return err
		}
		for k := range n {
			trace := buf[k*each:][:each]
			if err := s.checkLength(trace); err != nil {
				return fmt.Errorf("trace %d: %w", i+k, err)
			}
			s.format.decodeSamples(dst[:s.samples], trace[traceHeader:])
			dst = dst[s.samples:]
		}
		i += n
	}
	return nil
}
