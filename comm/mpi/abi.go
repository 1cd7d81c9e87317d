package mpi

import (
	"fmt"

	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/internal/dl"
	"github.com/golops/golops/scalar"
)

// Family is a set of MPI libraries with the same binary interface.
type Family string

// The families.
const (
	OpenMPI  Family = "Open MPI"
	MPICH    Family = "MPICH"
	Standard Family = "MPI-5 standard ABI"
)

// abi holds the values that C programs get from mpi.h, for one family. Handles are
// passed as uintptr. In memory, MPICH's are 32 bits wide.
type abi struct {
	family       Family
	intHandles   bool // handles are C int, not pointers
	world        uintptr
	commNull     uintptr
	requestNull  uintptr
	infoNull     uintptr
	errorsReturn uintptr
	dtypes       [scalar.Brain + 1]uintptr // 16-bit floats are integers to the library
	ops          [7]uintptr                // Average is a sum
	inPlace      uintptr                   // MPICH's is -1
	anySource    int32
	anyTag       int32
	undefined    int32
	typeShared   int32
	exclusive    int32
	shared       int32
	tagUB        int32
	threads      [4]int32 // single, funneled, serialized, multiple
	statusSource int      // offsets in MPI_Status
	statusTag    int
}

// detect returns the ABI of an open library. Libraries of the older ABIs may export
// MPI_Abi_get_version too; they return -1.
func detect(l *dl.Lib) (*abi, error) {
	if f := l.Func("MPI_Abi_get_version"); f != 0 {
		v := new([2]int32)
		if f.Call(addr(&v[0]), addr(&v[1])) == 0 && v[0] > 0 {
			return standardABI(), nil
		}
	}
	if l.Addr("ompi_mpi_comm_world") != 0 {
		return openABI(l)
	}
	if l.Func("MPI_Init_thread") == 0 {
		return nil, fmt.Errorf("mpi: %s is no MPI library: it lacks MPI_Init_thread", l.Path)
	}
	return mpichABI(), nil
}

func standardABI() *abi {
	return &abi{
		family: Standard, world: 0x101, commNull: 0x100, requestNull: 0x180, infoNull: 0x130, errorsReturn: 0x143,
		dtypes: [...]uintptr{scalar.Uint8: 0x245, scalar.Int32: 0x250, scalar.Int64: 0x258, scalar.Float32: 0x210,
			scalar.Float64: 0x214, scalar.Complex64: 0x212, scalar.Complex128: 0x216, scalar.Half: 0x249, scalar.Brain: 0x249},
		ops: [7]uintptr{driver.Sum: 0x21, driver.Prod: 0x24, driver.Min: 0x22, driver.Max: 0x23, driver.Average: 0x21,
			driver.Replace: 0x3c, driver.NoOp: 0x3d},
		inPlace: 1, anySource: -1, anyTag: -2, undefined: -32766, typeShared: 221, exclusive: 301, shared: 302,
		tagUB: 501, threads: [4]int32{0, 1024, 2048, 4096}, statusSource: 0, statusTag: 4,
	}
}

func mpichABI() *abi {
	return &abi{
		family: MPICH, intHandles: true, world: 0x44000000, commNull: 0x04000000, requestNull: 0x2c000000,
		infoNull: 0x1c000000, errorsReturn: 0x54000001,
		dtypes: [...]uintptr{scalar.Uint8: 0x4c000102, scalar.Int32: 0x4c000439, scalar.Int64: 0x4c00083a,
			scalar.Float32: 0x4c00040a, scalar.Float64: 0x4c00080b, scalar.Complex64: 0x4c000840, scalar.Complex128: 0x4c001041,
			scalar.Half: 0x4c00023c, scalar.Brain: 0x4c00023c},
		ops: [7]uintptr{driver.Sum: 0x58000003, driver.Prod: 0x58000004, driver.Min: 0x58000002, driver.Max: 0x58000001,
			driver.Average: 0x58000003, driver.Replace: 0x5800000d, driver.NoOp: 0x5800000e},
		inPlace: ^uintptr(0), anySource: -2, anyTag: -1, undefined: -32766, typeShared: 1, exclusive: 234, shared: 235,
		tagUB: 0x64400001, threads: [4]int32{0, 1, 2, 3}, statusSource: 8, statusTag: 12,
	}
}

// openABI looks up Open MPI's handles, which are addresses of the library's data.
func openABI(l *dl.Lib) (*abi, error) {
	var missing string
	at := func(name string) uintptr {
		a := l.Addr("ompi_" + name)
		if a == 0 && missing == "" {
			missing = name
		}
		return a
	}
	a := &abi{
		family: OpenMPI, world: at("mpi_comm_world"), commNull: at("mpi_comm_null"), requestNull: at("request_null"),
		infoNull: at("mpi_info_null"), errorsReturn: at("mpi_errors_return"),
		dtypes: [...]uintptr{scalar.Uint8: at("mpi_unsigned_char"), scalar.Int32: at("mpi_int32_t"), scalar.Int64: at("mpi_int64_t"),
			scalar.Float32: at("mpi_float"), scalar.Float64: at("mpi_double"), scalar.Complex64: at("mpi_c_float_complex"),
			scalar.Complex128: at("mpi_c_double_complex"), scalar.Half: at("mpi_uint16_t"), scalar.Brain: at("mpi_uint16_t")},
		ops: [7]uintptr{driver.Sum: at("mpi_op_sum"), driver.Prod: at("mpi_op_prod"), driver.Min: at("mpi_op_min"),
			driver.Max: at("mpi_op_max"), driver.Average: at("mpi_op_sum"), driver.Replace: at("mpi_op_replace"),
			driver.NoOp: at("mpi_op_no_op")},
		inPlace: 1, anySource: -1, anyTag: -1, undefined: -32766, typeShared: 0, exclusive: 1, shared: 2,
		tagUB: 0, threads: [4]int32{0, 1, 2, 3}, statusSource: 0, statusTag: 4,
	}
	if missing != "" {
		return nil, fmt.Errorf("mpi: %s lacks ompi_%s: Open MPI 3 or newer is needed", l.Path, missing)
	}
	return a, nil
}
