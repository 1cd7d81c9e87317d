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

// images has what this process has compiled, so that ranks that share it
// compile each kernel once. It is keyed by everything that the result depends on.
var images struct {
	sync.Mutex
	made map[string]*image
}

// image is the machine code of one file for one element type.
type image struct {
	sync.Mutex
	code []byte
}

// imageOf returns the code of a source, from this process, from the cache on
// disk or from the compiler. stale asks for a new compilation: the driver did
// not take what was there.
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

// key is a hash of all that the result of a compilation depends on. The file of
// the compiler is part of it: versions do not tell two builds apart.
func (c *compiler) key(name, source, arch string, options []string) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s %d.%d %s %q %s\n%s\n", c.p.Name, c.major, c.minr, arch, options, name, source)
	if info, err := os.Stat(c.lib.Path); err == nil {
		fmt.Fprintln(h, info.Size(), info.ModTime().UnixNano())
	}
	return hex.EncodeToString(h.Sum(nil))
}

// A file of the cache is a hash and what it is of.
const hashSize = sha256.Size

// imageLimit is more than any kernel compiles to.
const imageLimit = 64 << 20

// readImage returns the code in a file of the cache, or nil if there is none or
// if it is damaged. Pipes and devices would never end and are not read.
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

// parseImage returns what is behind the hash, or nil if it is not of that.
func parseImage(b []byte) []byte {
	if len(b) <= hashSize {
		return nil
	}
	if h := sha256.Sum256(b[hashSize:]); !bytes.Equal(h[:], b[:hashSize]) {
		return nil
	}
	return b[hashSize:]
}

// writeImage stores code for other processes. A folder that cannot be written
// to costs them a compilation, no more.
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
	_ = os.Rename(tmp.Name(), file) // of two that race, either will do
}

// cacheFolder returns where compiled kernels are kept, "" for nowhere.
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
