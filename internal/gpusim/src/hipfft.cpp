// libhipfft.so.0 by name. A handle is an address.
#include "core.h"
#include "fft.h"

#include <set>

using namespace sim;

static std::mutex mu;
static auto& plans = *new std::set<FftPlan*>;

static FftPlan* find(FftPlan* handle) {
	std::lock_guard<std::mutex> l(mu);
	return plans.count(handle) ? handle : nullptr;
}

extern "C" {

int hipfftPlanMany(FftPlan** handle, int rank, int* n, int* inembed, int istride, int idist, int* onembed, int ostride, int odist, int type,
                   int batch) {
	auto p = std::make_unique<FftPlan>();
	if (int r = makePlan(p.get(), rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch)) return r;
	std::lock_guard<std::mutex> l(mu);
	*handle = p.release();
	plans.insert(*handle);
	return fftOK;
}

int hipfftPlan1d(FftPlan** handle, int nx, int type, int batch) {
	return hipfftPlanMany(handle, 1, &nx, nullptr, 1, 0, nullptr, 1, 0, type, batch);
}

int hipfftPlan2d(FftPlan** handle, int nx, int ny, int type) {
	int n[] = {nx, ny};
	return hipfftPlanMany(handle, 2, n, nullptr, 1, 0, nullptr, 1, 0, type, 1);
}

int hipfftPlan3d(FftPlan** handle, int nx, int ny, int nz, int type) {
	int n[] = {nx, ny, nz};
	return hipfftPlanMany(handle, 3, n, nullptr, 1, 0, nullptr, 1, 0, type, 1);
}

int hipfftDestroy(FftPlan* handle) {
	std::lock_guard<std::mutex> l(mu);
	if (!plans.erase(handle)) return fftInvalidPlan;
	delete handle;
	return fftOK;
}

int hipfftSetStream(FftPlan* handle, void* stream) {
	if (!find(handle)) return fftInvalidPlan;
	handle->on.raw = stream;
	return fftOK;
}

int hipfftGetVersion(int* version) {
	*version = 1000200;
	return fftOK;
}

FFT_EXECUTIONS(hipfft, FftPlan*, find)

} // extern "C"
