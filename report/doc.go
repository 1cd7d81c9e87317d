// Package report makes what a run shows and leaves behind: pictures, one HTML
// page and a progress bar.
//
// A [Picture] is a 2-D array with axes in physical units, a colour bar and
// optional points on top; [Panels] puts several side by side; [Curves] is a
// line plot, such as the residual over iterations; [View] is a picture of any
// array of up to three dimensions. All of them write PNG files of 150 dots per
// inch. A [Page] is one HTML file that holds pictures, parameters, timings and
// versions, and needs no other file. A [Progress] shows on a terminal how far
// an iteration has come.
//
// Nothing here knows of ranks or devices: the caller brings values to one
// place first. Nothing is printed except to the writer that was given.
package report
