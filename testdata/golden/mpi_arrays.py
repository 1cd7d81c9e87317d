"""Cases of the operations on distributed arrays."""

import numpy as np
from pylops_mpi import DistributedArray, Partition, StackedDistributedArray
from pylops_mpi.DistributedArray import local_split

from mpi_common import add, comm, gather_blocks, one, size
from serial import axes_tag, tag
from store import DTYPES, rand

ORDERS = {"0": 0, "1": 1, "2": 2, "3": 3, "inf": np.inf, "-inf": -np.inf}
ORD = list(ORDERS)
SHAPES = [((11,), 0), ((7, 5), 0), ((7, 5), 1)]


def with_zeros(name, dtype, shape):
    """Random numbers with a few zeros, for the norm that counts."""
    x = rand(name, dtype, shape)
    x.ravel()[::4] = 0
    return x


def all_norms(X, **kw):
    """The norms of every order, one after another along the first axis."""
    return np.stack([np.squeeze(X.norm(o, **kw)) for o in ORDERS.values()])


def dots(X, W, dtype):
    """Both products, in the element type: PyLops-MPI 0.8 returns Python's own numbers."""
    return {name: np.array(X.dot(W, vdot=name == "vdot"), dtype=dtype) for name in ("dot", "vdot")}


def by_rank(a):
    """What each rank got, one after another along the first axis."""
    return np.stack(comm.allgather(np.squeeze(a)))


def arithmetic():
    for shape, axis in SHAPES:
        for dt in DTYPES if len(shape) == 1 else one():
            x, w = rand("x", dt, shape), rand("w", dt, shape)
            X, W = DistributedArray.to_dist(x, axis=axis), DistributedArray.to_dist(w, axis=axis)
            p, var = dict(axis=axis), tag(axes_tag(shape), f"axis{axis}")
            alpha = 2 - 0.5j if dt.startswith("complex") else 2.5

            def put(what, Y, params=p, **extra):
                add(f"array.{what}", var, dt, params, dict(x=x, y=Y.asarray(), **extra), shape, shape)

            put("add", X + W, w=w)
            put("subtract", X - W, w=w)
            put("multiply", X * W, w=w)
            put("scale", alpha * X, dict(axis=axis, alpha=alpha))
            put("neg", -X)
            put("conj", X.conj())


def dots_and_norms():
    def put(shape, axis, partition, dt):
        x, w = with_zeros("x", dt, shape), rand("w", dt, shape)
        kw = dict(partition=partition, axis=axis)
        X, W = DistributedArray.to_dist(x, **kw), DistributedArray.to_dist(w, **kw)
        p = dict(axis=axis, partition=partition.value)
        var = tag(axes_tag(shape), f"axis{axis}", partition.value)
        add("array.dot", var, dt, p, dict(x=x, w=w, **dots(X, W, dt)), shape)
        add("array.norm", var, dt, dict(p, ord=ORD), dict(x=x, norms=all_norms(X)), shape)

    for shape, axis in SHAPES:
        for dt in DTYPES if len(shape) == 1 else one():
            put(shape, axis, Partition.SCATTER, dt)
    for dt in one():
        put((11,), 0, Partition.BROADCAST, dt)


def norm_along_axis():
    for shape, axis in SHAPES[1:]:
        for along in (0, 1):
            for dt in DTYPES if (axis, along) == (0, 0) else one():
                x = with_zeros("x", dt, shape)
                X = DistributedArray.to_dist(x, axis=axis)
                p = dict(axis=axis, norm_axis=along, ord=ORD)
                var = tag(axes_tag(shape), f"axis{axis}", f"along{along}")
                add("array.norm_axis", var, dt, p, dict(x=x, norms=all_norms(X, axis=along)), shape)


def redistribute():
    for shape, before, after in (((7, 5), 0, 1), ((7, 5), 1, 0), ((5, 4, 3), 0, 2), ((5, 4, 3), 1, 0), ((5, 4, 3), 0, 0)):
        for dt in one():
            x = rand("x", dt, shape)
            Y = DistributedArray.to_dist(x, axis=before).redistribute(after)
            var = tag(axes_tag(shape), f"from{before}", f"to{after}")
            add("array.redistribute", var, dt, dict(axis=before, to_axis=after), dict(x=x, **gather_blocks("y", Y.local_array)), shape)


def ghost_cells():
    for shape, axis in SHAPES:
        # The last axis has but one row on some rank.
        for front, back in ((1, None), (None, 1), (1, 1)) + (((2, None), (2, 1), (1, 2)) if axis == 0 else ()):
            for dt in one():
                x = rand("x", dt, shape)
                y = DistributedArray.to_dist(x, axis=axis).add_ghost_cells(front, back)
                var = tag(axes_tag(shape), f"axis{axis}", f"front{front}", f"back{back}")
                p = dict(axis=axis, cells_front=front, cells_back=back)
                add("array.add_ghost_cells", var, dt, p, dict(x=x, **gather_blocks("y", y)), shape)


def splits():
    for shape, axis in (((11,), 0), ((2,), 0), ((3,), 0), ((7, 5), 0), ((7, 5), 1), ((5, 4, 3), 1), ((1, 4), 0)):
        for partition in (Partition.SCATTER, Partition.BROADCAST):
            shapes = comm.allgather(local_split(shape, comm, partition, axis))
            p = dict(global_shape=shape, axis=axis, partition=partition.value)
            var = tag(axes_tag(shape), f"axis{axis}", partition.value)
            add("array.local_split", var, "float64", p, dict(local_shapes=np.array(shapes, dtype=np.int64)), shape)


def stacked():
    for dt in DTYPES:
        parts = [((11,), 0), ((7, 5), 0)]
        x = [with_zeros(f"x{i}", dt, s) for i, (s, _) in enumerate(parts)]
        w = [rand(f"w{i}", dt, s) for i, (s, _) in enumerate(parts)]
        X, W = (StackedDistributedArray([DistributedArray.to_dist(a) for a in z]) for z in (x, w))
        arrays = dict(x0=x[0], x1=x[1], w0=w[0], w1=w[1], norms=all_norms(X))
        arrays.update(dots(X, W, dt))
        add("array.stacked", "11+7x5", dt, dict(n=2, ord=ORD), arrays)


def masked():
    """Each rank gets the number of its own group."""
    masks = {2: [[0, 1], [1, 0], [0, 0]], 3: [[0, 0, 1], [0, 1, 0], [0, 1, 2]]}
    for mask in masks.get(size, []):
        for shape, axis in SHAPES[:2]:
            for dt in DTYPES if len(shape) == 1 and mask == masks[size][0] else one():
                x, w = with_zeros("x", dt, shape), rand("w", dt, shape)
                X, W = (DistributedArray.to_dist(z, axis=axis, mask=mask) for z in (x, w))
                products = {name: by_rank(d) for name, d in dots(X, W, dt).items()}
                arrays = dict(x=x, w=w, **products, norms=by_rank(all_norms(X)))
                p = dict(axis=axis, mask=mask, ord=ORD)
                add("array.masked", tag(axes_tag(shape), "mask" + axes_tag(mask)), dt, p, arrays, shape)


STAGES = [arithmetic, dots_and_norms, norm_along_axis, redistribute, ghost_cells, splits, stacked, masked]
