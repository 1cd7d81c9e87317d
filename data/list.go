package data

import (
	"bufio"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
)

// ReadList returns the numbers of a .npy file of one axis, or of a text with one number
// per line. There is at least one, and all are finite. Errors say what a number is, such
// as "angle in degrees".
func ReadList(path, what string) ([]float64, error) {
	read := readTextList
	if strings.EqualFold(filepath.Ext(path), ".npy") {
		read = readNPYList
	}
	list, err := read(path, what)
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("it has no numbers: give one %s per line", what)
	}
	for i, v := range list {
		if err == nil && (math.IsNaN(v) || math.IsInf(v, 0)) {
			err = fmt.Errorf("number %d is %g: give one %s per line", i+1, v, what)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("data: read %s: %w", path, err)
	}
	return list, nil
}

func readNPYList(path, _ string) ([]float64, error) {
	f, h, err := openNPY(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if len(h.Shape) != 1 {
		return nil, fmt.Errorf("it has shape %v: a list has one axis", h.Shape)
	}
	return readElements[float64](f, h, true)
}

// readTextList reads line by line, so that a large file that is no list ends early.
func readTextList(path, what string) (list []float64, err error) {
	f, _, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" {
			continue
		}
		v, err := strconv.ParseFloat(line, 64)
		if err != nil {
			return nil, fmt.Errorf("line %d is %.40q: give one %s per line", n, line, what)
		}
		list = append(list, v)
	}
	return list, lines.Err()
}
