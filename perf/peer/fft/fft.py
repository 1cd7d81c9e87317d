"""Times Fourier transforms of SciPy, ducc0 and FFTW (pyFFTW), one thread. Each line of the
input is a case in JSON; each line of the output has the seconds of one transform."""

import json
import sys
import time

import numpy as np
import scipy.fft

try:
    import ducc0
except ImportError:
    ducc0 = None
try:
    import pyfftw
except ImportError:
    pyfftw = None

plans = {}


def peers(case):
    """The functions that transform the array of a case, made once."""
    key = json.dumps(case["dims"]), case["dtype"]
    if key in plans:
        return plans[key]
    dims, axes, dtype = tuple(case["dims"]), tuple(case["axes"]), np.dtype(case["dtype"])
    real = dtype.kind == "f"
    rng = np.random.default_rng(1)
    x = rng.standard_normal(dims)
    if not real:
        x = x + 1j * rng.standard_normal(dims)
    x = x.astype(dtype)
    out = dict(scipy=lambda: (scipy.fft.rfftn if real else scipy.fft.fftn)(x, axes=axes, workers=1))
    y = out["scipy"]()
    if ducc0 is not None:
        f = ducc0.fft.r2c if real else ducc0.fft.c2c
        y1 = np.empty_like(y)
        out["ducc0"] = lambda: f(x, axes=axes, nthreads=1, out=y1)
    if pyfftw is not None:
        a, b = pyfftw.empty_aligned(dims, dtype), pyfftw.empty_aligned(y.shape, y.dtype)
        effort = "FFTW_MEASURE" if x.size <= 1 << 20 else "FFTW_ESTIMATE"
        plan = pyfftw.FFTW(a, b, axes=axes, flags=(effort,), threads=1)
        a[...] = x
        out["fftw"] = plan.execute
    plans.clear()
    plans[key] = out
    return out


def seconds(f, least):
    """The best time of one call among groups that together take at least so long."""
    f()
    best, calls, spent = np.inf, 1, 0.0
    while spent < least:
        start = time.perf_counter()
        for _ in range(calls):
            f()
        took = time.perf_counter() - start
        spent += took
        best = min(best, took / calls)
        if took < least / 20:
            calls *= 2
    return best


for line in sys.stdin:
    case = json.loads(line)
    print(json.dumps({name: seconds(f, case["seconds"]) for name, f in peers(case).items()}), flush=True)
