// libhipblas.so.2 by name.
#include "core.h"
#include "blas.h"

using namespace sim;

static const BlasCodes codes = {1, 3, 5};
static Trans trans(int op) { return op >= 111 && op <= 113 ? Trans(op - 111) : badTrans; }

extern "C" {

int hipblasCreate(Blas** h) {
	Context* c = nullptr;
	if (enter(&c) != ok) return codes.notInitialized;
	*h = new Blas{{c, nullptr}, true};
	return 0;
}

int hipblasDestroy(Blas* h) {
	if (!h) return codes.notInitialized;
	delete h;
	return 0;
}

int hipblasSetStream(Blas* h, void* stream) {
	if (!h) return codes.notInitialized;
	h->on.raw = stream;
	return 0;
}

int hipblasSetPointerMode(Blas* h, int mode) {
	if (!h) return codes.notInitialized;
	if (mode != 0 && mode != 1) return 10; // no such enum
	h->hostFactors = mode == 0;
	return 0;
}
int hipblasSetAtomicsMode(Blas* h, int) { return h ? 0 : codes.notInitialized; }
int hipblasSetMathMode(Blas* h, int) { return h ? 0 : codes.notInitialized; }

const char* hipblasStatusToString(int status) {
	switch (status) {
	case 0: return "HIPBLAS_STATUS_SUCCESS";
	case 1: return "HIPBLAS_STATUS_NOT_INITIALIZED";
	case 3: return "HIPBLAS_STATUS_INVALID_VALUE";
	case 5: return "HIPBLAS_STATUS_EXECUTION_FAILED";
	case 10: return "HIPBLAS_STATUS_INVALID_ENUM";
	}
	return "HIPBLAS_STATUS_UNKNOWN";
}

BLAS_PRODUCTS(hipblasS, , float)
BLAS_PRODUCTS(hipblasD, , double)
BLAS_PRODUCTS(hipblasC, , std::complex<float>)
BLAS_PRODUCTS(hipblasZ, , std::complex<double>)

} // extern "C"
