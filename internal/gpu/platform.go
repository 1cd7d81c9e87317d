// Package gpu is a device.Accelerator over CUDA and over HIP. Both share all code. A
// table of names for each is the only difference.
//
// Libraries are opened at run time. Kernels are .cu files in this folder. They are
// compiled for the present GPU when first used.
//
// # How a kernel is added
//
// Write KERNEL(name, NameArgs) { ... } in a .cu file. common.cuh is prepended to
// every file and lists what a kernel can use. The struct of arguments has 8-byte
// fields first and explicit padding. Its mirror in Go has the same fields in the
// same order. In the Go file, give kernels[T, F] a struct of functions and make
// them in newKernels:
//
//	k.axis.sum = k.function("axis.cu", "sumAxis")
//
// and launch them:
//
//	launch(k.d, &k.axis.sum, blocks(n, 256), 256, 0, &sumAxisArgs{dst: dst.Addr, ...})
//
// launch copies the arguments, so they may be on the stack. It allocates nothing and
// returns no error: the device records the first failure. Methods that return an
// error end with k.d.takeErr().
//
// A description in host memory, such as a device.Sparse, is uploaded once. Its Cache
// holds the result. cacheTables frees the GPU memory when the Cache is cleared or
// the description is garbage:
//
//	a, _ := s.Cache.Get(k.d).(*gatherArgs)
//	if a == nil {
//		var t tables
//		a = &gatherArgs{first: put(&t, s.First), ...} // offsets in t
//		addr, err := k.d.upload(t.bytes)              // on an error: k.d.fail(err), return
//		a.first += addr
//		cacheTables(k.d, &s.Cache, a, addr)
//	}
//
// A kernel that a platform or library lacks calls k.d.unsupported. Work that is put
// on d.stream without launch, for example by a library, stands between d.enter and
// d.leave, and sets d.busy.
package gpu

// Platform is what differs between CUDA and HIP: names of libraries and functions,
// and some numbers. Names of functions are tags of the tables that bind fills.
type Platform struct {
	Name    string   // "cuda" or "hip", which is also the tag
	Title   string   // for texts
	Env     string   // the variable that names folders to search first
	Homes   []string // variables that name the folder of a toolkit
	Folders []string // patterns of folders, searched last
	Needs   string   // the oldest version that has all functions

	driver, compiler, blas, fft []library

	// The numbers of device attributes.
	attrMajor, attrMinor, attrProcessors, attrShared, attrL2 uintptr

	// byIndex says that SetCurrent takes the device's index, not its context.
	byIndex bool
	target  string // the prefix of an architecture's number
}

// library is a file name and the major version of its driver.
type library struct {
	name  string
	major int // 0: any
}

// CUDA is the table of NVIDIA's names.
var CUDA = &Platform{
	Name: "cuda", Title: "CUDA", Env: "GOLOPS_CUDA", Homes: []string{"CUDA_HOME", "CUDA_PATH"},
	Folders: []string{"/usr/local/cuda/lib64", "/usr/local/cuda-*/lib64", "/usr/lib/wsl/lib"},
	Needs:   "CUDA 11.8 or newer",
	driver:  []library{{"libcuda.so.1", 0}},
	compiler: []library{
		{"libnvrtc.so.13", 13}, {"libnvrtc.so.12", 12}, {"libnvrtc.so.11.2", 11},
	},
	blas:      []library{{"libcublas.so.13", 13}, {"libcublas.so.12", 12}, {"libcublas.so.11", 11}},
	fft:       []library{{"libcufft.so.12", 13}, {"libcufft.so.11", 12}, {"libcufft.so.10", 11}},
	attrMajor: 75, attrMinor: 76, attrProcessors: 16, attrShared: 97, attrL2: 38,
	target: "sm_",
}

// HIP is the table of AMD's names.
var HIP = &Platform{
	Name: "hip", Title: "HIP", Env: "GOLOPS_HIP", Homes: []string{"ROCM_PATH", "ROCM_HOME", "HIP_PATH"},
	Folders: []string{"/opt/rocm/lib", "/opt/rocm-*/lib"},
	Needs:   "ROCm 5.5 or newer",
	driver:  []library{{"libamdhip64.so.7", 7}, {"libamdhip64.so.6", 6}, {"libamdhip64.so.5", 5}},
	compiler: []library{
		{"libhiprtc.so.7", 7}, {"libhiprtc.so.6", 6}, {"libhiprtc.so.5", 5},
	},
	blas:      []library{{"libhipblas.so.3", 7}, {"libhipblas.so.2", 6}, {"libhipblas.so.1", 5}, {"libhipblas.so.0", 5}},
	fft:       []library{{"libhipfft.so.0", 0}},
	attrMajor: 23, attrMinor: 61, attrProcessors: 63, attrShared: 74, attrL2: 19,
	byIndex: true,
}
