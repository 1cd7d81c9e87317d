"""Further cases of the operations on distributed arrays: every way of lying on
the ranks, operations in place, copies, views, and arithmetic of stacks.

They go to a file of their own, so that older numbers keep their names.
"""

import numpy as np
from pylops_mpi import DistributedArray, Partition, StackedDistributedArray
from pylops_mpi.DistributedArray import subcomm_split

from mpi_arrays import ORD, all_norms, dots, with_zeros
from mpi_common import add, comm, gather_blocks, one, rank, size, split
from serial import axes_tag, tag
from store import DTYPES, is_complex, rand

WHOLE = (Partition.BROADCAST, Partition.UNSAFE_BROADCAST)
# Rows of an array of eleven on each rank, with a rank that has none and without.
EMPTY = {1: [11], 2: [0, 11], 3: [5, 0, 6]}.get(size)
UNEVEN = {1: [11], 2: [4, 7], 3: [2, 8, 1]}.get(size)


def put(op, *args, **kw):
    add(f"array.{op}", *args, file="mpi-array-more.npz", **kw)


class Lie:
    """A way for an array to lie on the ranks."""

    def __init__(self, shape, axis=0, partition=Partition.SCATTER, counts=None):
        self.shape, self.axis, self.partition, self.counts = shape, axis, partition, counts

    def dist(self, x):
        return DistributedArray.to_dist(x, partition=self.partition, axis=self.axis, local_shapes=self.shapes())

    def shapes(self):
        if self.counts is None:
            return None
        return [self.shape[: self.axis] + (n,) + self.shape[self.axis + 1 :] for n in self.counts]

    def tag(self, *more):
        counts = [] if self.counts is None else ["rows" + axes_tag(self.counts)]
        return tag(axes_tag(self.shape), f"axis{self.axis}", self.partition.value, *counts, *more)

    def params(self, **more):
        p = dict(axis=self.axis, partition=self.partition.value)
        if self.counts is not None:
            p["counts"] = self.counts
        return dict(p, **more)


def lies(counts):
    """Ways to lie: rows and copies first, which come in all element types."""
    return [
        Lie((11,)),
        Lie((5, 3), partition=WHOLE[0]),
        Lie((5, 3), axis=1),
        Lie((11,), partition=WHOLE[1]),
        Lie((11,), counts=counts),
    ]


def types(i):
    """All element types for the first two of some ways to lie, then one by turns."""
    return DTYPES if i < 2 else one()


def factor(dt):
    return 2 - 0.5j if is_complex(dt) else 2.5


def results(X, W, alpha):
    """What each operation makes of X and W, and of copies of X in place."""
    made = dict(add=X + W, subtract=X - W, multiply=X * W, scale=X * alpha, neg=-X)
    made.update(iadd=X.copy(), isub=X.copy(), copy=X.copy())
    made["iadd"] += W
    made["isub"] -= W
    conj = X.conj().asarray().copy()  # before X changes: that of a real array is X itself
    X += W  # which the copies must not see
    return dict({k: a.asarray() for k, a in made.items()}, conj=conj)


def arithmetic():
    for i, lie in enumerate(lies(EMPTY)):
        for dt in types(i):
            x, w = rand("x", dt, lie.shape), rand("w", dt, lie.shape)
            X, W, alpha = lie.dist(x), lie.dist(w), factor(dt)
            filled = X.copy()
            filled[:] = alpha
            arrays = dict(x=x, w=w, fill=filled.asarray(), zeros_like=X.zeros_like().asarray())
            arrays.update(empty_shapes=np.array(X.empty_like().local_shapes, dtype=np.int64))
            arrays.update(results(X, W, alpha))
            put("vectors", lie.tag(), dt, lie.params(alpha=alpha), arrays, lie.shape)


def dots_and_norms():
    for i, lie in enumerate(lies(UNEVEN)):
        if lie.partition is Partition.SCATTER and lie.counts is None:
            continue  # the older cases have these
        for dt in types(i):
            x, w = with_zeros("x", dt, lie.shape), rand("w", dt, lie.shape)
            X, W = lie.dist(x), lie.dist(w)
            arrays = dict(x=x, w=w, **dots(X, W, dt), norms=all_norms(X))
            put("numbers", lie.tag(), dt, lie.params(ord=ORD), arrays, lie.shape)


def to_dist():
    """The blocks of an array, and the array that is made of blocks."""
    for i, lie in enumerate(lies(EMPTY)):
        for dt in types(i):
            x = rand("x", dt, lie.shape)
            local = lie.dist(x).local_array
            Y = DistributedArray(lie.shape, partition=lie.partition, axis=lie.axis, local_array=local, local_shapes=lie.shapes())
            put("to_dist", lie.tag(), dt, lie.params(), dict(x=x, y=Y.asarray(), **gather_blocks("y", local)), lie.shape, lie.shape)


def assign():
    """Each rank writes to its rows from the second on what no other rank writes."""
    for lie in lies(UNEVEN):
        for dt in one():
            x = rand("x", dt, lie.shape)
            X = lie.dist(x)
            w = rand(f"w{rank}", dt, X.local_array[1:].shape)
            X[1:] = w
            blocks = dict(gather_blocks("w", w), **gather_blocks("y", X.local_array))
            put("setitem", lie.tag(), dt, lie.params(), dict(x=x, **blocks), lie.shape)


def ravel():
    shape = (5, 3)
    for i, lie in enumerate((Lie(shape), Lie(shape, partition=WHOLE[0]), Lie(shape, axis=1), Lie(shape, partition=WHOLE[1]))):
        for dt in types(i):
            x = rand("x", dt, lie.shape)
            Y = lie.dist(x).ravel()
            put("ravel", lie.tag(), dt, lie.params(), dict(x=x, **gather_blocks("y", Y.local_array)), lie.shape, Y.global_shape)


def reshape():
    rows = split(5)[rank]
    views = (
        (Lie((5, 4)), (rows, 2, 2)),
        (Lie((5, 4), partition=WHOLE[0]), (2, 10)),
        (Lie((5, 3)), (rows * 3,)),
        (Lie((15,), counts=[3 * n for n in split(5)]), (rows, 3)),
        (Lie((5, 3), partition=WHOLE[1]), (3, 5)),
    )
    for i, (lie, local) in enumerate(views):
        for dt in types(i):
            x = rand("x", dt, lie.shape)
            Y = lie.dist(x).reshape(local)
            var = lie.tag("to" + axes_tag(Y.global_shape))
            put("reshape", var, dt, lie.params(), dict(x=x, **gather_blocks("y", Y.local_array)), lie.shape, Y.global_shape)


def redistribute():
    """Rows that were shared out unevenly are balanced along the other axis."""
    counts = {1: [5], 2: [1, 4], 3: [1, 0, 4]}[size]
    lie = Lie((5, 3), counts=counts)
    for dt in DTYPES:
        x = rand("x", dt, lie.shape)
        Y = lie.dist(x).redistribute(1)
        p = lie.params(to_axis=1)
        put("redistribute", lie.tag("to1"), dt, p, dict(x=x, **gather_blocks("y", Y.local_array)), lie.shape)


def subcomms():
    """Rank and size of each rank in the group of its own color."""
    for mask in {1: [[0]], 2: [[0, 1], [0, 0]], 3: [[0, 1, 0], [1, 0, 0], [0, 1, 2]]}[size]:
        sub = subcomm_split(mask)
        groups = np.array(comm.allgather((sub.Get_rank(), sub.Get_size())), dtype=np.int64)
        put("subcomm_split", "mask" + axes_tag(mask), "float64", dict(mask=mask), dict(groups=groups))


def stacks():
    """Arithmetic of two arrays, one of them of copies, and of a stack in a stack."""
    parts = [Lie((11,)), Lie((5, 3), partition=WHOLE[0]), Lie((5, 3), axis=1)]
    for nested in (False, True):
        for dt in DTYPES:
            x, w = ([rand(f"{name}{i}", dt, p.shape) for i, p in enumerate(parts)] for name in "xw")
            alpha = factor(dt)

            def stack(z):
                a = [p.dist(v) for p, v in zip(parts, z)]
                return StackedDistributedArray(a if not nested else [a[0], StackedDistributedArray(a[1:])])

            X, W = stack(x), stack(w)
            arrays = {f"x{i}": v for i, v in enumerate(x)} | {f"w{i}": v for i, v in enumerate(w)}
            arrays.update(dots(X, W, dt), norms=all_norms(X))
            if not nested:  # which PyLops-MPI cannot do
                arrays.update(zeros_like=X.zeros_like().asarray())
                for i, a in enumerate(X.empty_like().distarrays):
                    arrays[f"empty_shapes{i}"] = np.array(a.local_shapes, dtype=np.int64)
            arrays.update(asarray=X.asarray(), **results(X, W, alpha))
            p = dict(parts=[q.params() for q in parts], nested=nested, alpha=alpha, ord=ORD)
            put("stack", "11+" + ("(5x3+5x3)" if nested else "5x3+5x3"), dt, p, arrays)


STAGES = [arithmetic, dots_and_norms, to_dist, assign, ravel, reshape, redistribute, subcomms, stacks]
