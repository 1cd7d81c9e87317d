//go:build !amd64

package cpu

func stackVector[F float](image, trace, src, rec []F) int { return 0 }
