package report

import (
	"fmt"
	"io"

	"github.com/golops/golops/internal/disk"
)

// Save writes a file by way of write, such as the method PNG of a picture. A
// reader sees the old file or the new one whole, and a failure leaves nothing
// behind. A link is followed; what is there and is no regular file, such as a
// device, is refused.
func Save(path string, write func(io.Writer) error) error {
	if err := disk.Save(path, write); err != nil {
		return fmt.Errorf("report: save %s: %w", path, err)
	}
	return nil
}
