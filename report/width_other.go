//go:build !unix

package report

import "os"

// terminalWidth is 0 where there is no call to ask for it.
func terminalWidth(*os.File) int { return 0 }
