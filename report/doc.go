// Package report makes pictures, HTML pages and progress bars.
//
// A [Picture] is a 2-D array with axes in physical units, a colour bar and
// optional points on top; [Panels] puts several side by side; [Curves] is a
// line plot, such as the residual over iterations; [View] is a picture of any
// array of up to three dimensions. All of them write PNG files of 150 dots per
// inch. A [Page] is one HTML file that holds pictures, parameters, timings and
// versions, and needs no other file. A [Progress] shows on a terminal how far
// an iteration has come.
//
// The package does not depend on ranks or devices: the caller gathers values first. It
// prints only to the given writer.
package report
