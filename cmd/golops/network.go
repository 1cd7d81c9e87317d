package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/golops/golops/cost"
)

// bandwidths are the units of a network, in bytes per second. A small b is a bit.
var bandwidths = []struct {
	unit  string
	bytes float64
}{{"GB/s", 1e9}, {"MB/s", 1e6}, {"Gb/s", 1e9 / 8}, {"Mb/s", 1e6 / 8}, {"B/s", 1}}

// parseNetwork reads latency,bandwidth, such as 2us,100Gb/s.
func parseNetwork(text string) (l cost.Link, err error) {
	latency, bandwidth, found := strings.Cut(text, ",")
	if !found {
		return l, errors.New("must be latency,bandwidth, such as 2us,100Gb/s")
	}
	d, err := time.ParseDuration(latency)
	if err != nil || d < 0 {
		return l, fmt.Errorf("latency %q: must be a time, such as 2us", latency)
	}
	for _, u := range bandwidths {
		number, has := strings.CutSuffix(bandwidth, u.unit)
		if !has {
			continue
		}
		n, err := strconv.ParseFloat(number, 64)
		if err != nil || !(n > 0) || n > 1e9 {
			return l, fmt.Errorf("bandwidth %q: must be a positive number and a unit, such as 100Gb/s", bandwidth)
		}
		// The overhead of a message is about a quarter of the latency in the networks that
		// were measured.
		return cost.Link{Latency: d.Seconds(), Overhead: d.Seconds() / 4, Bandwidth: n * u.bytes, Overlap: true}, nil
	}
	return l, fmt.Errorf("bandwidth %q has no unit: have GB/s, MB/s, B/s, and Gb/s, Mb/s for bits", bandwidth)
}
