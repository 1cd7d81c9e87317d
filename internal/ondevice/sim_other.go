//go:build !linux

package ondevice

import "errors"

func simulate() error { return errors.New("ondevice: there are simulated GPUs on Linux only") }
