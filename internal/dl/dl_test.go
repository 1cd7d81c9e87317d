package dl

import (
	"runtime"
	"testing"
)

func TestNeedsLinux(t *testing.T) {
	if err := needsLinux("GPUs", "linux", "arm64"); err != nil {
		t.Errorf("on Linux: %v", err)
	}
	const want = "GPUs need Linux; this is windows/amd64"
	if err := needsLinux("GPUs", "windows", "amd64"); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// Where no library can be opened, the reason says so in one line and does not
// advise to install something.
func TestReasonOfPlatform(t *testing.T) {
	err := needsLinux("native libraries", "darwin", "arm64")
	if got, want := Reason(err, []string{"libx.so"}), "native libraries need Linux; this is darwin/arm64"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if _, err := Open(Local, "libnot_there.so.9"); runtime.GOOS != "linux" && err.Error() != NeedsLinux("native libraries").Error() {
		t.Errorf("open: %v", err)
	}
}
