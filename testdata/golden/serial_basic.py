"""Cases of the operators that move, select and scale elements."""

import numpy as np
import pylops

from serial import axes_tag, one, store, tag
from store import DTYPES, is_complex, rand, real_of


def lengths(v):
    """What PyLops takes for dims: a lone number for one dimension."""
    return v[0] if len(v) == 1 else v


def identity_and_zero():
    # N is the shape of the data, M that of the model.
    shapes = [((7,), (7,)), ((5,), (7,)), ((7,), (5,)), ((7, 5), (7, 5)), ((4, 3), (7, 5)), ((7, 5), (4, 3)), ((7, 5), (7, 3))]
    for N, M in shapes:
        p = dict(N=lengths(N), M=lengths(M))
        var = tag("N" + axes_tag(N), "M" + axes_tag(M))
        dtypes = DTYPES if len(N) == 1 else one()
        for dt in dtypes:
            store("Identity", var, pylops.Identity(lengths(N), lengths(M), inplace=False, dtype=dt), dt, p)
            store("Zero", var, pylops.Zero(lengths(N), lengths(M), dtype=dt), dt, p)


def diagonal():
    for dims in ((11,), (7, 5), (5, 4, 3)):
        for dt in DTYPES if len(dims) < 3 else one():
            d = rand("d", dt, dims)
            store("Diagonal", tag("full", axes_tag(dims)), pylops.Diagonal(d, dtype=dt), dt, {}, dict(d=d))
    for dims in ((7, 5), (5, 4, 3)):
        for ax in range(len(dims)):
            for dt in DTYPES if len(dims) < 3 else one():
                d = rand("d", dt, dims[ax])
                Op = pylops.Diagonal(d, dims=dims, axis=ax, dtype=dt)
                store("Diagonal", tag(axes_tag(dims), f"axis{ax}"), Op, dt, dict(axis=ax), dict(d=d))
    # Real values on complex arrays.
    for dt in ("complex64", "complex128"):
        d = rand("d", real_of(dt), 11)
        store("Diagonal", "full-11-reald", pylops.Diagonal(d, dtype=dt), dt, {}, dict(d=d))


def matrix_mult():
    for n, m in ((5, 5), (7, 4), (3, 6)):
        for dt in DTYPES:
            A = rand("A", dt, (n, m))
            store("MatrixMult", tag(f"{n}x{m}"), pylops.MatrixMult(A, dtype=dt), dt, dict(otherdims=None), dict(A=A))
    for n, m, other in ((7, 4, (3,)), (3, 5, (2, 4)), (4, 4, (3, 2))):
        for dt in DTYPES if other == (3,) else one():
            A = rand("A", dt, (n, m))
            Op = pylops.MatrixMult(A, otherdims=other, dtype=dt)
            store("MatrixMult", tag(f"{n}x{m}", "other" + axes_tag(other)), Op, dt, dict(otherdims=other), dict(A=A))
    for dt in ("complex64", "complex128"):
        A = rand("A", real_of(dt), (7, 4))
        store("MatrixMult", "7x4-realA", pylops.MatrixMult(A, dtype=dt), dt, dict(otherdims=None), dict(A=A))


def restriction():
    def put(dims, dtypes, iava, axis=-1):
        iava = np.array(iava, dtype=np.int64)
        var = tag(axes_tag(dims), "i" + axes_tag(iava), f"axis{axis}")
        for dt in dtypes:
            Op = pylops.Restriction(dims, iava, axis=axis, inplace=False, dtype=dt)
            store("Restriction", var, Op, dt, dict(axis=axis, iava=iava), dict(iava=iava))

    put((11,), DTYPES, (0, 3, 4, 8, 10))
    put((11,), one(), (5,))
    put((11,), one(), range(11))
    put((7, 5), one(), (0, 2, 5), 0)
    put((7, 5), one(), (1, 4), 1)
    put((7, 5), one(), (1, 2, 6), -2)
    for ax in (0, 1, 2, -1):
        put((5, 4, 3), one(), (0, 2), ax)


def transpose():
    def put(dims, dtypes, axes):
        for dt in dtypes:
            Op = pylops.Transpose(dims, axes, dtype=dt)
            store("Transpose", tag(axes_tag(dims), "axes" + axes_tag(axes)), Op, dt, dict(axes=axes))

    put((7, 5), DTYPES, (1, 0))
    put((7, 5), one(), (0, 1))
    for axes in ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0), (-1, 0, 1)):
        put((5, 4, 3), one(), axes)
    put((2, 3, 4, 5), one(), (3, 1, 0, 2))


def flip_roll_symmetrize():
    for dims in ((11,), (7, 5), (5, 4, 3)):
        for ax in range(len(dims)):
            dtypes = DTYPES if len(dims) == 1 else one()
            var = tag(axes_tag(dims), f"axis{ax}")
            for dt in dtypes:
                store("Flip", var, pylops.Flip(dims, axis=ax, dtype=dt), dt, dict(axis=ax))
                store("Symmetrize", var, pylops.Symmetrize(dims, axis=ax, dtype=dt), dt, dict(axis=ax))
            for shift in (1, -2, 13) if len(dims) == 1 else (2, -1):
                for dt in DTYPES if shift == -2 else one():
                    Op = pylops.Roll(dims, axis=ax, shift=shift, dtype=dt)
                    store("Roll", tag(var, f"shift{shift}"), Op, dt, dict(axis=ax, shift=shift))


def pad():
    def put(dims, dtypes, pad):
        var = tag(axes_tag(dims), "pad" + axes_tag(np.ravel(pad)))
        for dt in dtypes:
            store("Pad", var, pylops.Pad(dims, pad, dtype=dt), dt, dict(pad=pad))

    put((11,), DTYPES, (2, 3))
    put((11,), one(), (0, 2))
    put((11,), one(), (1, 0))
    put((11,), one(), (0, 0))
    put((7, 5), DTYPES, ((1, 2), (0, 3)))
    put((7, 5), one(), ((0, 0), (2, 1)))
    put((5, 4, 3), one(), ((1, 0), (0, 2), (2, 1)))


def sums():
    for dims in ((7, 5), (5, 4, 3)):
        for ax in range(len(dims)):
            for dt in DTYPES if len(dims) == 2 else one():
                store("Sum", tag(axes_tag(dims), f"axis{ax}"), pylops.Sum(dims, axis=ax, dtype=dt), dt, dict(axis=ax))
    # PyLops takes one dimension for (n, 1), of which axis 0 is the one to sum.
    for dt in one():
        store("Sum", "11-axis0", pylops.Sum((11,), axis=0, dtype=dt), dt, dict(axis=0))


def spread():
    def put(dims, dimsd, interp, holes):
        rng = np.random.Generator(np.random.PCG64(7))
        shape = (*dims, dimsd[0])
        table = rng.integers(0, dimsd[1] - 1 if interp else dimsd[1], shape)
        hole = rng.random(shape) < 0.25
        var = tag(axes_tag(dims), axes_tag(dimsd), "interp" if interp else "table", "holes" if holes else "full")
        for dt in DTYPES:
            # A hole in the table, NaN in PyLops, is where nothing is spread to.
            t = np.where(hole, np.nan, table) if holes else table
            dtable = rand("dtable", "float64", shape) % 1 if interp else None
            Op = pylops.Spread(dims, dimsd, table=t, dtable=dtable, dtype=dt)
            extra = dict(table=t)
            if interp:
                extra["dtable"] = dtable
            store("Spread", var, Op, dt, dict(interp=interp), extra)

    for interp in (False, True):
        put((3, 4), (5, 6), interp, False)
        put((4, 6), (3, 7), interp, True)


def regression():
    def put(op, make, n, order):
        for dt in DTYPES:
            # A complex model needs a complex axis in PyLops: it adds in place.
            taxis = (np.arange(n) * 0.25 - 0.6).astype(real_of(dt))
            params = dict(order=order) if op == "Regression" else {}
            store(op, tag(f"n{n}", f"order{order}"), make(taxis.astype(dt), order, dt), dt, params, dict(taxis=taxis))

    for n, order in ((11, 3), (4, 0), (6, 1)):
        put("Regression", lambda t, o, dt: pylops.Regression(t, order=o, dtype=dt), n, order)
    put("LinearRegression", lambda t, o, dt: pylops.LinearRegression(t, dtype=dt), 11, 1)


def real_and_imag():
    for dims in ((11,), (7, 5)):
        for dt in DTYPES:
            # On a complex type the data are real: u is given as complex too,
            # for whoever keeps the type, and PyLops uses its real part alone.
            for name, cls in (("Real", pylops.Real), ("Imag", pylops.Imag)):
                if name == "Imag" and not is_complex(dt):
                    continue
                store(name, axes_tag(dims), cls(dims, dtype=dt), dt, {})
