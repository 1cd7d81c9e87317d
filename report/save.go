package report

import (
	"fmt"
	"io"

	"github.com/golops/golops/internal/disk"
)

// Save writes a file through write, such as the method PNG of a picture. A reader sees
// the whole old file or the whole new one. A failure removes the unfinished file. Save
// follows a link. It refuses to replace anything but a regular file.
func Save(path string, write func(io.Writer) error) error {
	if err := disk.Save(path, write); err != nil {
		return fmt.Errorf("report: save %s: %w", path, err)
	}
	return nil
}
