package gpu

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// images holds the kernels that this process has compiled, so that goroutine ranks
// compile each kernel once. Keys cover everything that the result depends on.
var images struct {
	sync.Mutex
	made map[string]*image
}

// image is the machine code of one file for one element type.
type image struct {
	sync.Mutex
	code []byte
}

// imageOf returns the code of a source from this process, from the cache on disk or
// from the compiler. stale is code that the driver refused: it is not returned again.
func (c *compiler) imageOf(cache, name, source, arch string, options []string, stale []byte) ([]byte, error) {
	key := c.key(name, source, arch, options)
	images.Lock()
	if images.made == nil {
		images.made = map[string]*image{}
	}
	im := images.made[key]
	if im == nil {
		im = new(image)
		images.made[key] = im
	}
	images.Unlock()
	im.Lock()
	defer im.Unlock()
	if im.code != nil && !bytes.Equal(im.code, stale) {
		return im.code, nil
	}
	file := ""
	if cache != "" {
		file = filepath.Join(cache, strings.TrimSuffix(name, ".cu")+"-"+key[:32])
		if code := readImage(file); code != nil && !bytes.Equal(code, stale) {
			im.code = code
			return code, nil
		}
	}
	code, err := c.compile(name, source, arch, options)
	if err != nil {
		return nil, err
	}
	im.code = code
	if file != "" {
		writeImage(file, code)
	}
	return code, nil
}

// key hashes everything that the result of a compilation depends on. It includes the
// size and time of the compiler's file, because two builds may have one version.
func (c *compiler) key(name, source, arch string, options []string) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s %d.%d %s %q %s\n%s\n", c.p.Name, c.major, c.minr, arch, options, name, source)
	if info, err := os.Stat(c.lib.Path); err == nil {
		fmt.Fprintln(h, info.Size(), info.ModTime().UnixNano())
	}
	return hex.EncodeToString(h.Sum(nil))
}

// hashSize is the length of the hash at the start of a cached file. Code follows.
const hashSize = sha256.Size

// imageLimit is larger than any compiled kernel.
const imageLimit = 64 << 20

// readImage returns the code in a cached file, or nil if the file is missing or
// damaged. It does not read pipes and devices, which may never end.
func readImage(file string) []byte {
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > imageLimit {
		return nil
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	return parseImage(b)
}

// parseImage returns the code after the hash, or nil if the hash does not match.
func parseImage(b []byte) []byte {
	if len(b) <= hashSize {
		return nil
	}
	if h := sha256.Sum256(b[hashSize:]); !bytes.Equal(h[:], b[:hashSize]) {
		return nil
	}
	return b[hashSize:]
}

// writeImage stores code for other processes. It ignores errors: they only cost the
// others a compilation.
func writeImage(file string, code []byte) {
	if os.MkdirAll(filepath.Dir(file), 0o755) != nil {
		return
	}
	tmp, err := os.CreateTemp(filepath.Dir(file), "tmp-*")
	if err != nil {
		return
	}
	defer os.Remove(tmp.Name())
	h := sha256.Sum256(code)
	_, err = tmp.Write(append(h[:], code...))
	if tmp.Close() != nil || err != nil {
		return
	}
	_ = os.Rename(tmp.Name(), file) // two processes that race write the same code
}

// cacheFolder returns the folder of compiled kernels, "" for none.
func cacheFolder(configured string) string {
	if configured == "off" {
		return ""
	}
	if configured != "" {
		return configured
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "golops", "kernels")
}
