package app

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ReadText returns what is in a text file of at most limit bytes. Pipes and
// devices, which may have no end, are refused before they are opened: opening a
// pipe waits.
func ReadText(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", Shown(path), cause(err))
	}
	if info.IsDir() {
		return nil, fmt.Errorf("%s: this is a folder", Shown(path))
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: this is no regular file, but a pipe or a device", Shown(path))
	}
	if info.Size() > limit {
		return nil, fmt.Errorf("%s: has %d bytes, at most %d are read", Shown(path), info.Size(), limit)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", Shown(path), cause(err))
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, limit+1)) // it may have grown
	if err == nil && int64(len(text)) > limit {
		err = fmt.Errorf("has more than the %d bytes that are read", limit)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", Shown(path), cause(err))
	}
	return text, nil
}

// cause takes operation and path out of an error of the file system: the path
// stands in front already, in a form that is safe to print.
func cause(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// Shown returns text from a file or a name as a terminal may print it: as it
// stands if that is harmless, Quoted otherwise, and cut off when it is long.
func Shown(s string) string {
	if len(s) <= longest && utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return s
	}
	return Quoted(s)
}

// Quoted returns text in quotes, without what could disturb a terminal.
func Quoted(s string) string {
	if len(s) > longest {
		return strconv.Quote(s[:longest]) + "..."
	}
	return strconv.Quote(s)
}

const longest = 200 // bytes of a text that messages show
