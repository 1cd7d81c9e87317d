package device

import (
	"math"
	"os"
	"path"
	"runtime/metrics"
	"strconv"
	"strings"
	"syscall"
)

// memoryFiles are the folders in which Linux describes its memory.
type memoryFiles struct{ proc, cgroup string }

var thisHost = memoryFiles{"/proc", "/sys/fs/cgroup"}

// memory returns the smallest of the limits of the machine, of the process's
// control groups and of its address space.
func (h memoryFiles) memory() (free, total int64) {
	info := readFields(h.proc + "/meminfo")
	total, free = (info["MemTotal:"]+info["SwapTotal:"])<<10, (info["MemAvailable:"]+info["SwapFree:"])<<10
	if info["MemTotal:"] == 0 || info["MemAvailable:"] == 0 {
		return 0, 0
	}
	for _, g := range h.groups() {
		total, free = min(total, g.limit), min(free, g.limit-g.used)
	}
	used, resident := h.pages()
	var l syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_AS, &l) == nil && l.Cur < math.MaxInt64 {
		total, free = min(total, int64(l.Cur)), min(free, int64(l.Cur)-used-smallAlloc) // Go takes addresses in large pieces
	}
	return max(free-untouched(resident), 0), total
}

// pages returns the bytes of address space and of resident memory of this process.
func (h memoryFiles) pages() (used, resident int64) {
	text, _ := os.ReadFile(h.proc + "/self/statm")
	f := append(strings.Fields(string(text)), "0", "0")
	page := int64(os.Getpagesize())
	return parseNumber(f[0]) * page, parseNumber(f[1]) * page
}

// untouched returns how many bytes Go has allocated that the system does not count
// as resident yet, minus what Go holds in reserve. It may be negative.
func untouched(resident int64) int64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/unused:bytes"}, {Name: "/memory/classes/heap/free:bytes"}}
	metrics.Read(s)
	inUse, reserve := int64(s[0].Value.Uint64()+s[1].Value.Uint64()), int64(s[2].Value.Uint64())
	return max(inUse+reserve-resident, 0) - reserve
}

// cgroup is a control group that this process is in.
type cgroup struct{ limit, used int64 }

// groups returns the control groups that limit memory, from that of the process up
// to the root. It reads both versions of control groups. A container may see its
// own group as the root.
func (h memoryFiles) groups() (all []cgroup) {
	text, _ := os.ReadFile(h.proc + "/self/cgroup")
	for line := range strings.Lines(string(text)) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) != 3 {
			continue
		}
		root, limit, used := h.cgroup, "memory.max", "memory.current"
		if f[1] != "" {
			root, limit, used = h.cgroup+"/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"
		}
		if f[1] != "" && f[1] != "memory" {
			continue
		}
		for at := path.Clean("/" + f[2]); ; at = path.Dir(at) {
			dir := path.Join(root, at)
			if n := readNumber(path.Join(dir, limit)); n > 0 {
				stat := readFields(path.Join(dir, "memory.stat")) // cached files can be evicted
				all = append(all, cgroup{n, readNumber(path.Join(dir, used)) - stat["inactive_file"]})
			}
			if at == "/" {
				break
			}
		}
	}
	return all
}

// readNumber returns the number in a file, or 0: "max" means no limit.
func readNumber(file string) int64 {
	text, _ := os.ReadFile(file)
	return parseNumber(strings.TrimSpace(string(text)))
}

// readFields returns the number after the first word of each line of a file.
func readFields(file string) map[string]int64 {
	text, _ := os.ReadFile(file)
	all := map[string]int64{}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 1 {
			all[f[0]] = parseNumber(f[1])
		}
	}
	return all
}

func parseNumber(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64)
	return max(n, 0)
}
