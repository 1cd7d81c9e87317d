//go:build !linux

package testdevices

import "errors"

func simulate() error { return errors.New("testdevices: there are simulated GPUs on Linux only") }
