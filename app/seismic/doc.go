// Package seismic is what applications on seismic volumes share: volumes in files of
// SEG-Y or NumPy, spread over ranks by their traces, wavelets, and sections of volumes as
// pictures.
package seismic
