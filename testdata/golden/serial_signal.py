"""Cases of the operators of signal processing."""

import warnings

import numpy as np
import pylops
from pylops import signalprocessing as sp

from serial import axes_tag, one, store, tag
from store import DTYPES, is_complex, rand


def places(n):
    """Places between n samples and one at the last sample, all nearest to different samples."""
    count = max(n // 2, 1)
    return np.concatenate([(np.arange(min(count, 5)) + 0.3) / count * (n - 1), [n - 1.0]])


def interp():
    def put(dims, dtypes, axis, kind, tol=None):
        iava = places(dims[axis])
        for dt in dtypes:
            Op, _ = sp.Interp(dims, iava, axis=axis, kind=kind, tol=tol, dtype=dt)
            var = tag(kind, axes_tag(dims), f"axis{axis}", "tol" if tol else "all")
            store("Interp", var, Op, dt, dict(axis=axis, kind=kind, tol=tol or 0), dict(iava=iava))

    warnings.simplefilter("ignore")
    for kind in ("nearest", "linear", "sinc"):
        put((11,), DTYPES, 0, kind)
        put((7, 5), one(), 0, kind)
        put((7, 5), one(), 1, kind)
    put((5, 4, 3), one(), 1, "linear")
    put((5, 4, 3), one(), 1, "sinc")
    put((11,), DTYPES, 0, "sinc", 0.2)
    # PyLops has splines in double precision only.
    for dims, axis in (((11,), 0), ((7, 5), 0), ((101,), 0), ((5, 4, 3), 1), ((2, 3), 0)):
        put(dims, ("float64", "complex128"), axis, "cubic_spline")


def bilinear():
    for dims in ((7, 5), (4, 5, 3)):
        for dt in DTYPES if len(dims) == 2 else one():
            # PyLops reads beyond the last sample.
            iava = np.abs(rand("pairs", "float64", (2, 6))) % 1 * (np.array(dims[:2]) - 1.001)[:, None]
            store("Bilinear", axes_tag(dims), sp.Bilinear(iava, dims, dtype=dt), dt, {}, dict(iava0=iava[0], iava1=iava[1]))


def convolve_nd():
    def put(dims, dtypes, extents, offset, axes):
        for dt in dtypes:
            h = rand("h", dt, extents)
            op = "Convolve2D" if len(extents) == 2 else "ConvolveND"
            # The fft method loses digits that the direct one has.
            kw = dict(offset=offset, axes=axes, method="direct", dtype=dt)
            Op = sp.Convolve2D(dims, h, **kw) if op == "Convolve2D" else sp.ConvolveND(dims, h, **kw)
            var = tag(axes_tag(dims), "h" + axes_tag(extents), "offset" + axes_tag(offset), "axes" + axes_tag(axes))
            store(op, var, Op, dt, dict(axes=axes, offset=offset, extents=extents), dict(h=h))

    put((7, 5), DTYPES, (3, 2), (1, 0), (0, 1))
    put((7, 5), one(), (4, 3), (3, 2), (-2, -1))
    put((5, 4, 3), one(), (3, 5), (2, 4), (0, 2))
    put((5, 4, 3), one(), (2, 3), (0, 1), (1, 2))
    put((5, 4, 3), DTYPES, (3, 2, 2), (1, 1, 0), (0, 1, 2))
    put((5, 4, 3), one(), (3, 2, 4), (2, 0, 3), (0, 1, 2))
    put((11,), one(), (4,), (1,), (0,))


def dwt():
    def put(op, dims, dtypes, axes, wavelet, level):
        for dt in dtypes:
            if op == "DWT":
                Op = sp.DWT(dims, axis=axes[0], wavelet=wavelet, level=level, dtype=dt)
            else:
                Op = getattr(sp, op)(dims, axes=axes, wavelet=wavelet, level=level, dtype=dt)
            var = tag(axes_tag(dims), "axes" + axes_tag(axes), wavelet, f"level{level}")
            store(op, var, Op, dt, dict(axes=axes, wavelet=wavelet, level=level))

    put("DWT", (11,), DTYPES, (0,), "haar", 1)
    put("DWT", (8,), one(), (0,), "db3", 3)
    put("DWT", (7, 5), one(), (0,), "db2", 2)
    put("DWT", (7, 5), one(), (1,), "sym4", 1)
    put("DWT", (5, 4, 3), one(), (1,), "coif2", 2)
    for wavelet in ("db10", "sym8", "coif5"):
        put("DWT", (35,), one(), (0,), wavelet, 2)
    put("DWT2D", (7, 5), DTYPES, (0, 1), "haar", 2)
    put("DWT2D", (4, 5, 3), one(), (0, 2), "db2", 2)
    put("DWTND", (5, 4, 3), one(), (0, 1, 2), "db2", 2)


def sliding():
    def put(op, dimsd, dtypes, nwin, nover, nop, taper):
        """Windows of nwin from a model of nop each; further axes are the same in both."""
        rest = dimsd[len(nwin):]
        m, n = int(np.prod(nwin)), int(np.prod(nop))
        nwins = [(d - w) // (w - v) + 1 for d, w, v in zip(dimsd, nwin, nover)]
        for dt in dtypes:
            A = rand("A", dt, (m, n))
            Op = pylops.MatrixMult(A, otherdims=rest or None, dtype=dt)
            if op == "Sliding1D":
                Op = sp.Sliding1D(Op, nwins[0] * n, dimsd[0], nwin[0], nover[0], tapertype=taper)
            elif op == "Sliding2D":
                Op = sp.Sliding2D(Op, (nwins[0] * n, *rest), dimsd, nwin[0], nover[0], tapertype=taper)
            else:
                dims = tuple(a * b for a, b in zip(nwins, nop)) + rest
                more = dict(nop=nop + rest) if op == "Sliding3D" else dict(nop=nop)
                Op = getattr(sp, op)(Op, dims, dimsd, nwin, nover, tapertype=taper, **more)
            var = tag(axes_tag(dimsd), "win" + axes_tag(nwin), "over" + axes_tag(nover), taper or "none")
            params = dict(nwin=nwin, nover=nover, nop=nop, taper=taper or "none", dims=dimsd)
            store(op, var, Op, dt, params, dict(A=A), dims=(*nwins, *nop, *rest))

    for taper in ("hanning", "cosine", "cosinesquare", None):
        put("Sliding1D", (17,), DTYPES if taper == "hanning" else one(), (6,), (3,), (4,), taper)
    put("Sliding1D", (13,), one(), (4,), (0,), (4,), None)
    put("Sliding2D", (12, 3), DTYPES, (5,), (2,), (2,), "hanning")
    put("Sliding3D", (9, 7, 2), one(), (4, 3), (2, 1), (2, 2), "cosinesqrt")
    put("Patch2D", (10, 9), one(), (5, 4), (2, 2), (2, 3), "hanning")
    put("Patch2D", (10, 9), one(), (4, 5), (1, 2), (2, 3), "cosinesquare")
    put("Patch3D", (7, 6, 5), one(), (3, 4, 3), (1, 2, 1), (2, 1, 1), "hanning")


def radon():
    t = np.arange(9) * 0.004
    hx, hy = 10.0 + 5.0 * np.arange(5), -4.0 + 4.0 * np.arange(4)
    for kind, scale in (("linear", 1), ("parabolic", 0.3), ("hyperbolic", 1)):
        for centered, interp in ((True, True), (True, False), (False, True)):
            # No slope is 0, and few times lie on samples: PyLops rounds them either way.
            px = scale * 0.004 / 5 * np.array([-1.13, 0.47, 0.91])
            py = scale * 0.004 / 4 * np.array([-0.61, 1.21])
            params = dict(kind=kind, centered=centered, interp=interp, dt=t[1], hx=hx, hy=hy, px=px, py=py)
            var = tag(kind, "centered" if centered else "as-given", "interp" if interp else "nearest")
            for dt in one():
                Op = sp.Radon2D(t, hx, px, kind=kind, centeredh=centered, interp=interp, dtype=dt)
                store("Radon2D", var, Op, dt, params | dict(dims=(3, 9)))
            if interp:
                Op = sp.Radon3D(t, hy, hx, py, px, kind=kind, centeredh=centered, interp=interp, dtype="float64")
                store("Radon3D", var, Op, "float64", params | dict(dims=(2, 3, 9)))


def dct():
    def put(dims, dtypes, kind, axes):
        for dt in dtypes:
            store("DCT", tag(axes_tag(dims), f"type{kind}", "axes" + axes_tag(axes)), sp.DCT(dims, kind, axes, dtype=dt), dt, dict(type=kind, axes=axes))

    for kind in (1, 2, 3, 4):
        put((11,), DTYPES if kind == 2 else one(), kind, (0,))
        put((7, 5), one(), kind, (0, 1))
    put((5, 4, 3), one(), 2, (0, 2))


def shift():
    def put(dims, dtypes, axis, s, nfft):
        for dt in dtypes:
            Op = sp.Shift(dims, s, axis=axis, nfft=nfft, sampling=0.5, real=not is_complex(dt), dtype=dt)
            var = tag(axes_tag(dims), f"axis{axis}", "each" if np.size(s) > 1 else "one", f"n{nfft or 0}")
            store("Shift", var, Op, dt, dict(axis=axis, nfft=nfft or 0, shifts=np.ravel(s)), dims=dims, dimsd=dims)

    put((11,), DTYPES, 0, 1.3, None)
    put((7, 5), one(), 0, -0.85, 10)
    put((7, 6), one(), 1, 0.7, None)
    put((7, 5), DTYPES, 0, np.linspace(-1, 2, 5), 9)
    put((4, 5, 3), one(), 1, np.linspace(-1, 2, 12).reshape(4, 3), None)


def fourier_radon():
    t, hx, hy = np.arange(9) * 0.004, 10.0 + 5.0 * np.arange(5), -4.0 + 4.0 * np.arange(3)
    px, py = 0.004 / 5 * np.array([-1.13, 0.0, 0.91]), 0.004 / 4 * np.array([-0.61, 1.21])
    for kinds, nfft, flims in ((("linear", "linear"), 9, None), (("parabolic", "linear"), 12, (1, 5)), (("linear", "parabolic"), 10, (0, 4))):
        params = dict(kinds=kinds, nfft=nfft, flims=flims or (0, 0), dt=t[1], hx=hx, hy=hy, px=px, py=py)
        var = tag(*kinds, f"n{nfft}", "band" if flims else "all")
        for dt in DTYPES[:2]:  # PyLops takes real data only
            Op = sp.FourierRadon2D(t, hx, px, nfft, flims, kinds[0], dtype=dt)
            store("FourierRadon2D", var, Op, dt, params)
        Op = sp.FourierRadon3D(t, hy, hx, py, px, nfft, flims, kinds, dtype="float64")
        store("FourierRadon3D", var, Op, "float64", params)


def chirp_radon():
    def put(op, Op, dt, slopes):
        store(op, axes_tag(Op.dims), Op, dt, dict(slopes=slopes, inverse=False))
        columns = [Op.inverse(e) for e in np.eye(Op.shape[1], dtype=dt)]
        Inverse = pylops.MatrixMult(np.stack(columns, axis=1).astype(dt), dtype=dt)
        store(op, tag(axes_tag(Op.dims), "inverse"), Inverse, dt, dict(slopes=slopes, inverse=True), dims=Op.dims, dimsd=Op.dims)

    for nt, nx, ny in ((9, 5, 4), (8, 6, 3)):
        t, hx, hy = np.arange(nt) * 0.004, 10.0 + 5.0 * np.arange(nx), -4.0 + 4.0 * np.arange(ny)
        for dt in DTYPES[:2]:  # PyLops takes real data only
            put("ChirpRadon2D", sp.ChirpRadon2D(t, hx, 0.7, dtype=dt), dt, [0.7])
        # The NumPy engine takes the first slope for the second direction.
        put("ChirpRadon3D", sp.ChirpRadon3D(t, hy, hx, (0.7, 0.45), dtype="float64"), "float64", [0.45, 0.7])
