"""Cases of Fourier transforms."""

import warnings

import pylops

from serial import axes_tag, store, tag
from store import DTYPES, is_complex

warnings.filterwarnings("ignore", module="pylops")


def complex_of(dtype):
    return dict(float32="complex64", float64="complex128").get(dtype, dtype)


# The SciPy engine of FFT2D scales norms "none" and "1/n" by roots, against its documentation.
def fourier():
    def put(make, op, dims, key, axes, nffts, norm, before=False, after=False):
        size = {"axis": "nfft"}.get(key, "nffts")
        p = {key: axes, size: nffts, "norm": norm, "ifftshift_before": before, "fftshift_after": after}
        for dt in DTYPES:
            real = not is_complex(dt)
            Op = make(dims, dtype=dt, real=real, engine="numpy", **p)
            var = tag(axes_tag(dims), "axes" + axes_tag(axes), norm.replace("/", "over"), f"n{axes_tag(nffts or 0)}",
                      f"shift{int(before)}{int(after)}", "real" if real else "complex")
            store(op, var, Op, dt, dict(p, real=real), udtype=complex_of(dt))

    for norm in ("none", "ortho", "1/n"):
        put(pylops.signalprocessing.FFT, "FFT", (11,), "axis", 0, None, norm)
        put(pylops.signalprocessing.FFT, "FFT", (7, 6), "axis", 0, 16, norm)
    put(pylops.signalprocessing.FFT, "FFT", (5, 12), "axis", 1, 13, "ortho", before=True)
    put(pylops.signalprocessing.FFT, "FFT", (5, 4, 3), "axis", -2, None, "none", before=True, after=True)
    put(pylops.signalprocessing.FFT2D, "FFT2D", (7, 5), "axes", (0, 1), None, "ortho")
    put(pylops.signalprocessing.FFT2D, "FFT2D", (4, 6, 5), "axes", (2, 0), (8, 5), "1/n", before=True)
    put(pylops.signalprocessing.FFTND, "FFTND", (5, 4, 3), "axes", (0, 1, 2), None, "none")
    put(pylops.signalprocessing.FFTND, "FFTND", (3, 5, 4), "axes", (0, 1, 2), (4, 7, 4), "ortho", after=True)
