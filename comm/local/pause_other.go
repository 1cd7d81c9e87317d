//go:build !amd64 && !arm64

package local

// pause would tell the core that this is a spin loop.
func pause() {}
