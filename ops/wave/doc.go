// Package wave provides the operators of wave physics and what they are made of:
// grids, travel times, amplitudes and wavelets.
package wave
