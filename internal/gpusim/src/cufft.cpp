// libcufft.so.11 by name. A handle is a small number.
#include "core.h"
#include "fft.h"

using namespace sim;

static std::mutex mu;
static auto& plans = *new std::map<int, std::unique_ptr<FftPlan>>;
static int last = 0;

static FftPlan* find(int handle) {
	std::lock_guard<std::mutex> l(mu);
	auto it = plans.find(handle);
	return it == plans.end() ? nullptr : it->second.get();
}

extern "C" {

int cufftPlanMany(int* handle, int rank, int* n, int* inembed, int istride, int idist, int* onembed, int ostride, int odist, int type,
                  int batch) {
	auto p = std::make_unique<FftPlan>();
	if (int r = makePlan(p.get(), rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch)) return r;
	std::lock_guard<std::mutex> l(mu);
	*handle = ++last;
	plans[last] = std::move(p);
	return fftOK;
}

int cufftPlan1d(int* handle, int nx, int type, int batch) { return cufftPlanMany(handle, 1, &nx, nullptr, 1, 0, nullptr, 1, 0, type, batch); }

int cufftPlan2d(int* handle, int nx, int ny, int type) {
	int n[] = {nx, ny};
	return cufftPlanMany(handle, 2, n, nullptr, 1, 0, nullptr, 1, 0, type, 1);
}

int cufftPlan3d(int* handle, int nx, int ny, int nz, int type) {
	int n[] = {nx, ny, nz};
	return cufftPlanMany(handle, 3, n, nullptr, 1, 0, nullptr, 1, 0, type, 1);
}

int cufftDestroy(int handle) {
	std::lock_guard<std::mutex> l(mu);
	return plans.erase(handle) ? fftOK : fftInvalidPlan;
}

int cufftSetStream(int handle, void* stream) {
	auto* p = find(handle);
	if (!p) return fftInvalidPlan;
	p->on.raw = stream;
	return fftOK;
}

int cufftGetVersion(int* version) {
	*version = 11200;
	return fftOK;
}

FFT_EXECUTIONS(cufft, int, find)

} // extern "C"
