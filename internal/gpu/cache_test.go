package gpu

import (
	"bytes"
	"crypto/sha256"
	"testing"
)

// FuzzImage reads arbitrary files of the kernel cache. Code is returned only if its
// hash matches, because the driver runs it.
func FuzzImage(f *testing.F) {
	h := sha256.Sum256([]byte("machine code"))
	good := append(h[:], "machine code"...)
	f.Add(good)
	f.Add(good[:len(good)-1])
	f.Add(good[1:])
	f.Add(good[:hashSize])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		code := parseImage(b)
		if code != nil {
			if h := sha256.Sum256(code); !bytes.Equal(append(h[:], code...), b) {
				t.Errorf("%d bytes gave code that is not behind its hash", len(b))
			}
		}
		h := sha256.Sum256(b)
		if got := parseImage(append(h[:], b...)); !bytes.Equal(got, b) {
			t.Errorf("%d bytes behind their hash: %d came back", len(b), len(got))
		}
		if len(b) > 0 {
			h[len(b)%len(h)] ^= 1 + b[0]>>1
			if parseImage(append(h[:], b...)) != nil {
				t.Errorf("%d bytes behind another hash were taken", len(b))
			}
		}
	})
}
