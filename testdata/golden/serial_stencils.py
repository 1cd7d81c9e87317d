"""Cases of derivatives, integration and convolution."""

import numpy as np
import pylops

from serial import axes_tag, one, store, tag
from store import DTYPES, rand


def first_derivative():
    def put(dims, dtypes, **kw):
        p = dict(axis=-1, sampling=1.0, kind="centered", edge=False, order=3)
        p.update(kw)
        var = tag(p["kind"], p["order"], f"edge{int(p['edge'])}", axes_tag(dims), f"axis{p['axis']}", p["sampling"])
        for dt in dtypes:
            Op = pylops.FirstDerivative(dims, dtype=dt, **p)
            store("FirstDerivative", var, Op, dt, p)

    kinds = [dict(kind="forward"), dict(kind="backward")]
    kinds += [dict(kind="centered", order=o, edge=e) for o in (3, 5) for e in (False, True)]
    for k in kinds:
        put((11,), DTYPES, sampling=0.7, **k)
        for ax in range(2):
            put((7, 5), one(), axis=ax, sampling=0.7, **k)
        for ax in range(3):
            put((5, 6, 5), one(), axis=ax, **k)
    put((7, 5), one())
    put((11,), one(), edge=True)
    # The shortest axes that each stencil takes.
    put((2,), one(), kind="forward")
    put((2,), one(), kind="backward")
    put((3,), one(), edge=True)
    put((5,), one(), order=5, edge=True)
    # PyLops ignores edge and order where the kind is not centered.
    put((11,), one(), kind="forward", edge=True)
    put((11,), one(), kind="backward", edge=True, order=5)


def second_derivative():
    def put(dims, dtypes, **kw):
        p = dict(axis=-1, sampling=1.0, kind="centered", edge=False)
        p.update(kw)
        var = tag(p["kind"], f"edge{int(p['edge'])}", axes_tag(dims), f"axis{p['axis']}", p["sampling"])
        for dt in dtypes:
            Op = pylops.SecondDerivative(dims, dtype=dt, **p)
            store("SecondDerivative", var, Op, dt, p)

    kinds = [dict(kind="forward"), dict(kind="backward"), dict(kind="centered"), dict(kind="centered", edge=True)]
    for k in kinds:
        put((11,), DTYPES, sampling=0.7, **k)
        for ax in range(2):
            put((7, 5), one(), axis=ax, sampling=0.7, **k)
        for ax in range(3):
            put((5, 4, 3), one(), axis=ax, **k)
    put((7, 5), one())
    put((3,), one(), edge=True)
    put((4,), one(), edge=True)


def laplacian():
    def put(dims, dtypes, **kw):
        p = dict(axes=(-2, -1), weights=(1.0, 1.0), sampling=(1.0, 1.0), edge=False, kind="centered")
        p.update(kw)
        var = tag(p["kind"], f"edge{int(p['edge'])}", axes_tag(dims), "axes" + axes_tag(p["axes"]),
                  "w" + axes_tag(p["weights"]), "s" + axes_tag(p["sampling"]))
        for dt in dtypes:
            Op = pylops.Laplacian(dims, dtype=dt, **p)
            store("Laplacian", var, Op, dt, p)

    put((7, 5), DTYPES)
    w = dict(weights=(0.5, 2.0), sampling=(0.7, 1.5))
    for k in (dict(kind="forward"), dict(kind="backward"), dict(edge=True), dict()):
        put((7, 5), DTYPES if k == dict(edge=True) else one(), axes=(0, 1), **w, **k)
        for axes in ((0, 1), (0, 2), (1, 2), (2, 0)):
            put((5, 4, 3), one(), axes=axes, **w, **k)
        put((5, 4, 3), one(), axes=(0, 1, 2), weights=(0.5, 2.0, -1.0), sampling=(0.7, 1.5, 0.9), **k)
    put((7, 5), one(), axes=(0,), weights=(3.0,), sampling=(0.5,))


def gradient():
    def put(dims, dtypes, **kw):
        p = dict(sampling=1.0, edge=False, kind="centered")
        p.update(kw)
        var = tag(p["kind"], f"edge{int(p['edge'])}", axes_tag(dims), "s" + axes_tag(p["sampling"]))
        for dt in dtypes:
            Op = pylops.Gradient(dims, dtype=dt, **p)
            store("Gradient", var, Op, dt, p)

    for k in (dict(kind="forward"), dict(kind="backward"), dict(edge=True), dict()):
        put((11,), one(), sampling=0.7, **k)
        put((7, 5), DTYPES, sampling=(0.7, 1.5), **k)
        put((5, 4, 3), one(), sampling=(0.7, 1.5, 0.9), **k)
    put((7, 5), one(), sampling=0.5)


def causal_integration():
    def put(dims, dtypes, **kw):
        p = dict(axis=-1, sampling=1.0, kind="full", removefirst=False)
        p.update(kw)
        var = tag(p["kind"], f"rm{int(p['removefirst'])}", axes_tag(dims), f"axis{p['axis']}", p["sampling"])
        for dt in dtypes:
            Op = pylops.CausalIntegration(dims, dtype=dt, **p)
            store("CausalIntegration", var, Op, dt, p)

    for kind in ("full", "half", "trapezoidal"):
        for rm in (False, True):
            put((11,), DTYPES, kind=kind, removefirst=rm, sampling=0.7)
            for ax in range(2):
                put((7, 5), one(), kind=kind, removefirst=rm, axis=ax, sampling=0.7)
            for ax in range(1 if rm else 0, 2 if rm else 3):
                put((5, 4, 3), one(), kind=kind, removefirst=rm, axis=ax)
    put((7, 5), one())
    for kind in ("full", "half", "trapezoidal"):
        put((1,), one(), kind=kind)
        put((2,), one(), kind=kind)


def convolve1d():
    def put(dims, dtypes, nh, offset, real_h=False, **kw):
        p = dict(offset=offset, axis=-1, method=None)
        p.update(kw)
        var = tag(axes_tag(dims), f"nh{nh}", f"offset{offset}", f"axis{p['axis']}")
        if p["method"]:
            var = tag(var, p["method"])
        if real_h:
            var = tag(var, "realh")
        for dt in dtypes:
            h = rand("h", dt, nh)
            if real_h:
                h = (h.real).astype(dt)
            Op = pylops.signalprocessing.Convolve1D(dims, h=h, dtype=dt, **p)
            store("Convolve1D", var, Op, dt, p, dict(h=h))

    put((11,), DTYPES, 5, 2)
    for nh, offs in ((5, (0, 4)), (4, (0, 1, 2, 3)), (1, (0,)), (11, (0, 5, 10)), (10, (3, 5))):
        for off in offs:
            put((11,), one(), nh, off)
    put((11,), ("complex64", "complex128"), 5, 1, real_h=True)
    put((11,), one(), 5, 1, method="fft")
    for ax in range(2):
        for nh, off in ((3, 0), (3, 1), (3, 2), (4, 1), (5, 2)):
            put((7, 5), one(), nh, off, axis=ax)
    for ax in range(3):
        put((5, 4, 3), one(), 3, 1, axis=ax)
        put((5, 4, 3), one(), 2, 0, axis=ax)
    # A filter longer than the axis: data as long as the filter.
    for n, nh, offs in ((5, 8, (0, 2, 4)), (4, 7, (0, 1, 3)), (4, 8, (0, 2))):
        for off in offs:
            put((n,), one(), nh, off)


def smoothing1d():
    def put(dims, dtypes, nsmooth, axis=-1):
        p = dict(nsmooth=nsmooth, axis=axis)
        for dt in dtypes:
            Op = pylops.Smoothing1D(nsmooth, dims, axis=axis, dtype=dt)
            store("Smoothing1D", tag(axes_tag(dims), f"n{nsmooth}", f"axis{axis}"), Op, dt, p)

    put((11,), DTYPES, 3)
    # PyLops makes an even length odd by one more.
    for n in (1, 4, 5, 11):
        put((11,), one(), n)
    for ax in range(2):
        put((7, 5), one(), 3, ax)
        put((7, 5), one(), 4, ax)
    for ax in range(3):
        put((5, 4, 3), one(), 3, ax)


def smoothing2d():
    def put(dims, dtypes, nsmooth, axes=(-2, -1)):
        p = dict(nsmooth=nsmooth, axes=axes)
        for dt in dtypes:
            Op = pylops.Smoothing2D(nsmooth, dims, axes=axes, dtype=dt)
            store("Smoothing2D", tag(axes_tag(dims), "n" + axes_tag(nsmooth), "axes" + axes_tag(axes)), Op, dt, p)

    put((7, 5), DTYPES, (3, 5))
    put((7, 5), one(), (4, 2))
    put((7, 5), one(), (1, 3))
    # Longer than an axis.
    put((7, 5), one(), (9, 7))
    for axes in ((0, 1), (0, 2), (1, 2)):
        put((5, 4, 3), one(), (3, 3), axes)
    put((6, 4, 5), one(), (5, 3), (0, 2))


def nonstationary_convolve1d():
    def put(dims, dtypes, nh, ih, axis=-1, real_h=False):
        p = dict(ih=ih, axis=axis)
        var = tag(axes_tag(dims), f"nh{nh}", "ih" + axes_tag(ih), f"axis{axis}")
        if real_h:
            var = tag(var, "realh")
        for dt in dtypes:
            hs = rand("hs", dt, (len(ih), nh))
            if real_h:
                hs = hs.real.astype(dt)
            Op = pylops.signalprocessing.NonStationaryConvolve1D(dims, hs, ih, axis=axis, dtype=dt)
            store("NonStationaryConvolve1D", var, Op, dt, p, dict(hs=hs, ih=np.array(ih, dtype=np.int64)))

    put((11,), DTYPES, 3, (1, 5, 9))
    put((11,), one(), 5, (2, 4, 6, 8))
    put((11,), one(), 5, (0, 10))
    put((11,), one(), 3, (4, 5))
    put((11,), one(), 1, (3, 8))
    put((11,), one(), 11, (1, 6))
    put((11,), ("complex64", "complex128"), 3, (1, 5, 9), real_h=True)
    put((7, 5), one(), 3, (1, 4), axis=0)
    put((7, 5), one(), 3, (0, 2, 4), axis=1)
    put((7, 5), one(), 5, (1, 3, 5), axis=0)
    for ax in range(3):
        put((5, 4, 3), one(), 3, (0, 2), axis=ax)
