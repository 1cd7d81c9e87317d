package nccl

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/golops/golops/internal/dl"
)

// EnvVar names a library, or its folder, to use instead of searching for one.
const EnvVar = "GOLOPS_NCCL"

// oldest is the oldest version with all functions that this package needs.
const oldest = 21800

// names are the product, its library and what to install, by the platform of a device.
var names = map[string][3]string{
	"cuda": {"NCCL", "libnccl.so.2", "package libnccl2, or nvidia-nccl-cu12 of pip"},
	"hip":  {"RCCL", "librccl.so.1", "package rccl of ROCm"},
}

// Found is a library that was opened but not used yet.
type Found struct {
	Path    string
	Name    string // NCCL or RCCL
	Version string // such as 2.28.9
	code    int
	lib     *dl.Lib
}

// Find opens the library for GPUs of a platform, "cuda" or "hip". The error says what was
// tried and what to do.
func Find(platform string) (*Found, error) {
	name, ok := names[platform]
	if !ok {
		return nil, fmt.Errorf("nccl: no library for GPUs of platform %q: have cuda, hip", platform)
	}
	l, err := dl.Open(dl.Local, candidates(name[1])...)
	if err != nil {
		if p := os.Getenv(EnvVar); p != "" {
			return nil, fmt.Errorf("nccl: %s=%s: %s", EnvVar, p, dl.Reason(err, []string{name[1]}))
		}
		return nil, fmt.Errorf("nccl: no %s: %s: install it (%s), or set %s=/path/to/%s", name[0],
			dl.Reason(err, []string{name[1]}), name[2], EnvVar, name[1])
	}
	f := &Found{Path: l.Path, Name: name[0], lib: l}
	get := l.Func("ncclGetVersion")
	if get == 0 {
		return nil, fmt.Errorf("nccl: %s lacks ncclGetVersion: it is no %s", l.Path, name[0])
	}
	code := new(int32)
	if r := get.Call(dl.Pointer(code)); r != 0 {
		return nil, fmt.Errorf("nccl: ncclGetVersion of %s failed with code %d", l.Path, r)
	}
	f.code, f.Version = int(*code), version(int(*code))
	return f, nil
}

// version turns the library's version number into text.
func version(code int) string {
	major := 10000
	if code < 10000 { // 2.8 and older
		major = 1000
	}
	return fmt.Sprintf("%d.%d.%d", code/major, code%major/100, code%100)
}

// candidates returns the files to try: the one that EnvVar names, or those on the loader's
// path and in the usual folders.
func candidates(file string) []string {
	if p := os.Getenv(EnvVar); p != "" {
		if s, err := os.Stat(p); err == nil && s.IsDir() {
			return dl.Below(p, file)
		}
		return []string{p}
	}
	out := []string{file}
	for _, v := range []string{"GOLOPS_CUDA", "GOLOPS_HIP", "CUDA_HOME", "CUDA_PATH", "NCCL_HOME", "ROCM_PATH"} {
		for _, dir := range filepath.SplitList(os.Getenv(v)) {
			out = append(out, dl.Below(dir, file)...)
		}
	}
	for _, dir := range []string{"/usr/local/cuda/lib64", "/usr/local/cuda-*/lib64", "/usr/local/lib", "/usr/lib/x86_64-linux-gnu",
		"/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/opt/rocm/lib", "/opt/rocm-*/lib"} {
		out = append(out, dl.Matching(dir, file)...)
	}
	return out
}

// lib is the library with its functions. Functions of newer versions may be 0.
type lib struct {
	*Found
	getUniqueID, initRankConfig, finalize, destroy, abort, getAsyncError, getErrorString, getLastError,
	groupStart, groupEnd, allReduce, reduce, broadcast, allGather, reduceScatter, send, recv dl.Func

	initRankScalable, revoke, allToAll, gather, scatter,
	memAlloc, memFree, register, deregister, windowRegister, windowDeregister, putSignal dl.Func
}

// bind looks up all functions.
func bind(f *Found) (*lib, error) {
	if f.code < oldest {
		return nil, fmt.Errorf("nccl: %s is %s %s: %s or newer is needed: install one, or set %s to it",
			f.Path, f.Name, f.Version, version(oldest), EnvVar)
	}
	l := &lib{Found: f}
	var missing []error
	for name, fn := range map[string]*dl.Func{
		"ncclGetUniqueId": &l.getUniqueID, "ncclCommInitRankConfig": &l.initRankConfig, "ncclCommFinalize": &l.finalize,
		"ncclCommDestroy": &l.destroy, "ncclCommAbort": &l.abort, "ncclCommGetAsyncError": &l.getAsyncError,
		"ncclGetErrorString": &l.getErrorString, "ncclGetLastError": &l.getLastError,
		"ncclGroupStart": &l.groupStart, "ncclGroupEnd": &l.groupEnd, "ncclAllReduce": &l.allReduce, "ncclReduce": &l.reduce,
		"ncclBroadcast": &l.broadcast, "ncclAllGather": &l.allGather, "ncclReduceScatter": &l.reduceScatter,
		"ncclSend": &l.send, "ncclRecv": &l.recv,
	} {
		if *fn = f.lib.Func(name); *fn == 0 {
			missing = append(missing, fmt.Errorf("nccl: %s lacks %s", f.Path, name))
		}
	}
	l.initRankScalable = f.lib.Func("ncclCommInitRankScalable")
	l.revoke = f.lib.Func("ncclCommRevoke")
	l.allToAll = f.lib.Func("ncclAlltoAll")
	if l.allToAll == 0 {
		l.allToAll = f.lib.Func("ncclAllToAll") // how older RCCL spells it
	}
	l.gather, l.scatter = f.lib.Func("ncclGather"), f.lib.Func("ncclScatter")
	l.memAlloc, l.memFree = f.lib.Func("ncclMemAlloc"), f.lib.Func("ncclMemFree")
	l.register, l.deregister = f.lib.Func("ncclCommRegister"), f.lib.Func("ncclCommDeregister")
	l.windowRegister, l.windowDeregister = f.lib.Func("ncclCommWindowRegister"), f.lib.Func("ncclCommWindowDeregister")
	l.putSignal = f.lib.Func("ncclPutSignal")
	return l, errors.Join(missing...)
}
