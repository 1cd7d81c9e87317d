//go:build amd64 || arm64

package local

// pause tells the core that this is a spin loop.
func pause()
