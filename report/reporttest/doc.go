// Package reporttest opens HTML pages in headless Chromium, for tests: a page
// must load without a console message, an exception or a failed resource.
//
// It speaks the DevTools protocol over a pipe. The log on standard error that
// Chromium can write instead has console messages but says nothing of files
// that could not be loaded.
package reporttest
