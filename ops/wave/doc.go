// Package wave provides operators of wave physics, and the grids, travel times,
// amplitudes and wavelets that they use.
package wave
