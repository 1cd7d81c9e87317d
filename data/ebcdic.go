package data

import (
	"fmt"
	"strings"
	"unicode"
)

// ebcdic is code page 037: the Latin-1 character of each byte.
const ebcdic = "" +
	"\x00\x01\x02\x03\x9c\x09\x86\x7f\x97\x8d\x8e\x0b\x0c\x0d\x0e\x0f" +
	"\x10\x11\x12\x13\x9d\x85\x08\x87\x18\x19\x92\x8f\x1c\x1d\x1e\x1f" +
	"\x80\x81\x82\x83\x84\x0a\x17\x1b\x88\x89\x8a\x8b\x8c\x05\x06\x07" +
	"\x90\x91\x16\x93\x94\x95\x96\x04\x98\x99\x9a\x9b\x14\x15\x9e\x1a" +
	"\x20\xa0\xe2\xe4\xe0\xe1\xe3\xe5\xe7\xf1\xa2\x2e\x3c\x28\x2b\x7c" +
	"\x26\xe9\xea\xeb\xe8\xed\xee\xef\xec\xdf\x21\x24\x2a\x29\x3b\xac" +
	"\x2d\x2f\xc2\xc4\xc0\xc1\xc3\xc5\xc7\xd1\xa6\x2c\x25\x5f\x3e\x3f" +
	"\xf8\xc9\xca\xcb\xc8\xcd\xce\xcf\xcc\x60\x3a\x23\x40\x27\x3d\x22" +
	"\xd8\x61\x62\x63\x64\x65\x66\x67\x68\x69\xab\xbb\xf0\xfd\xfe\xb1" +
	"\xb0\x6a\x6b\x6c\x6d\x6e\x6f\x70\x71\x72\xaa\xba\xe6\xb8\xc6\xa4" +
	"\xb5\x7e\x73\x74\x75\x76\x77\x78\x79\x7a\xa1\xbf\xd0\xdd\xde\xae" +
	"\x5e\xa3\xa5\xb7\xa9\xa7\xb6\xbc\xbd\xbe\x5b\x5d\xaf\xa8\xb4\xd7" +
	"\x7b\x41\x42\x43\x44\x45\x46\x47\x48\x49\xad\xf4\xf6\xf2\xf3\xf5" +
	"\x7d\x4a\x4b\x4c\x4d\x4e\x4f\x50\x51\x52\xb9\xfb\xfc\xf9\xfa\xff" +
	"\x5c\xf7\x53\x54\x55\x56\x57\x58\x59\x5a\xb2\xd4\xd6\xd2\xd3\xd5" +
	"\x30\x31\x32\x33\x34\x35\x36\x37\x38\x39\xb3\xdb\xdc\xd9\xda\x9f"

// A textual header is 40 lines of 80 characters without line ends.
const (
	textLines = 40
	textWidth = 80
	textBytes = textLines * textWidth
)

// decodeText returns the lines of a textual header without spaces at their
// ends. What cannot be printed becomes a space.
func decodeText(b []byte) string {
	isEBCDIC := looksEBCDIC(b)
	lines := make([]string, 0, textLines)
	for len(b) >= textWidth {
		var line strings.Builder
		for _, c := range b[:textWidth] {
			if isEBCDIC {
				c = ebcdic[c]
			}
			if !unicode.IsPrint(rune(c)) {
				c = ' '
			}
			line.WriteRune(rune(c))
		}
		lines = append(lines, strings.TrimRight(line.String(), " "))
		b = b[textWidth:]
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// looksEBCDIC reports whether more bytes are letters, digits or spaces in EBCDIC than in
// ASCII. The codes share none of these: EBCDIC has letters and digits from 0x81 on, and
// its space is ASCII's @.
func looksEBCDIC(b []byte) bool {
	votes := 0
	for _, c := range b {
		if isText(ebcdic[c]) {
			votes++
		}
		if isText(c) {
			votes--
		}
	}
	return votes > 0
}

func isText(c byte) bool {
	return c == ' ' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}

// encodeText returns a textual header of these lines in EBCDIC.
func encodeText(text string) ([]byte, error) {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if len(lines) > textLines {
		return nil, fmt.Errorf("the text has %d lines, at most %d are possible", len(lines), textLines)
	}
	b := []byte(strings.Repeat("\x40", textBytes)) // spaces
	for i, line := range lines {
		col := 0
		for _, c := range line {
			code := -1
			if c < 256 && unicode.IsPrint(c) {
				code = strings.IndexByte(ebcdic, byte(c))
			}
			if code < 0 {
				return nil, fmt.Errorf("line %d of the text has %q, which EBCDIC lacks", i+1, c)
			}
			if col == textWidth {
				return nil, fmt.Errorf("line %d of the text is longer than %d characters", i+1, textWidth)
			}
			b[i*textWidth+col] = byte(code)
			col++
		}
	}
	return b, nil
}
