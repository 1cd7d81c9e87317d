// libcublas.so.12 by name.
#include "core.h"
#include "blas.h"

using namespace sim;

static const BlasCodes codes = {1, 7, 13};
static Trans trans(int op) { return op >= 0 && op <= 2 ? Trans(op) : badTrans; }

extern "C" {

int cublasCreate_v2(Blas** h) {
	Context* c = nullptr;
	if (enter(&c) != ok) return codes.notInitialized;
	*h = new Blas{{c, nullptr}, true};
	return 0;
}

int cublasDestroy_v2(Blas* h) {
	if (!h) return codes.notInitialized;
	delete h;
	return 0;
}

int cublasSetStream_v2(Blas* h, void* stream) {
	if (!h) return codes.notInitialized;
	h->on.raw = stream;
	return 0;
}

int cublasSetMathMode(Blas* h, int) { return h ? 0 : codes.notInitialized; }
int cublasSetAtomicsMode(Blas* h, int) { return h ? 0 : codes.notInitialized; }
int cublasSetWorkspace_v2(Blas* h, void*, size_t) { return h ? 0 : codes.notInitialized; }

int cublasSetPointerMode_v2(Blas* h, int mode) {
	if (!h) return codes.notInitialized;
	if (mode != 0 && mode != 1) return codes.invalidValue;
	h->hostFactors = mode == 0;
	return 0;
}

int cublasGetVersion_v2(Blas*, int* version) {
	*version = 120405;
	return 0;
}

const char* cublasGetStatusString(int status) {
	switch (status) {
	case 0: return "success";
	case 1: return "the library was not initialized";
	case 3: return "the resource allocation failed";
	case 7: return "an unsupported value or parameter was passed to the function";
	case 13: return "the function failed to launch on the GPU";
	}
	return "an internal operation failed";
}

BLAS_PRODUCTS(cublasS, _v2, float)
BLAS_PRODUCTS(cublasD, _v2, double)
BLAS_PRODUCTS(cublasC, _v2, std::complex<float>)
BLAS_PRODUCTS(cublasZ, _v2, std::complex<double>)

} // extern "C"
