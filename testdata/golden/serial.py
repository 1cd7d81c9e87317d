"""What the stages of the serial program share."""

import itertools

import numpy as np

from store import DTYPES, Part, passes_dot_test, rand

part = Part("pylops", 0)
turn = itertools.cycle(DTYPES)


def start_turn():
    """Begins the types anew, so that a change in one stage leaves the next alone."""
    global turn
    turn = itertools.cycle(DTYPES)


def one():
    """The next element type in turn."""
    return [next(turn)]


def tag(*words):
    return "-".join(str(w).replace(" ", "") for w in words)


def axes_tag(v):
    return "x".join(str(i) for i in np.atleast_1d(v))


def store(op, variant, Op, dtype, params, extra=None, dims=None, dimsd=None, udtype=None):
    """Applies Op to a random model and its adjoint to random data, and adds the case."""
    dims = tuple(Op.dims) if dims is None else dims
    dimsd = tuple(Op.dimsd) if dimsd is None else dimsd
    x = rand("x", dtype, dims)
    u = rand("u", udtype or dtype, dimsd)
    y = np.asarray(Op.matvec(x.ravel())).reshape(dimsd)
    v = np.asarray(Op.rmatvec(u.ravel())).reshape(dims)
    arrays = dict(extra or {})
    arrays.update(x=x, y=y, u=u, v=v)
    more = {}
    if y.dtype != np.dtype(dtype):
        more["y_dtype"] = y.dtype.name
    if v.dtype != np.dtype(dtype):
        more["v_dtype"] = v.dtype.name
    more["dottest"] = passes_dot_test(x, y, u, v, dtype)
    if not more["dottest"]:
        # What the adjoint should have been, from the columns of the operator.
        n = int(np.prod(dims))
        wide = np.result_type(dtype, np.float64)
        cols = [np.asarray(Op.matvec(e)) for e in np.eye(n, dtype=dtype)]
        dense = np.stack([c.ravel() for c in cols], axis=1).astype(wide)
        arrays["v_true"] = (dense.conj().T @ u.ravel()).reshape(dims).astype(dtype)
    part.add(op, variant, dtype, params, arrays, dims, dimsd, **more)
