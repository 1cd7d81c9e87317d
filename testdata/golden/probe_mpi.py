"""Shows what PyLops-MPI cannot do: mpirun -n RANKS probe_mpi.py NAME.

Without a name it lists the probes and their numbers of ranks. A probe prints
one line for each rank: what it got, what was raised, or that it hangs.
"""

import os
import sys
import threading
import time

LIMIT = 6  # seconds, after which a rank is taken to hang


def derivative(n, adjoint=False, **kw):
    def probe(m):
        Op = m.pylops_mpi.MPIFirstDerivative((n,), **kw)
        x = m.scatter_rows(m.rand("x", "float64", (n,)))
        (Op.rmatvec if adjoint else Op.matvec)(x).asarray()

    return probe


def second(n, **kw):
    def probe(m):
        m.pylops_mpi.MPISecondDerivative((n,), **kw).rmatvec(m.scatter_rows(m.rand("x", "float64", (n,)))).asarray()

    return probe


def product(kind):
    def probe(m):
        m.pylops_mpi.MPIMatrixMult(m.rand("A", "float64", (3, 4)), 3, kind=kind)

    return probe


def halo(dims, width, grid):
    def probe(m):
        Op = m.pylops_mpi.MPIHalo(dims, width, proc_grid_shape=grid)
        return f"holds {Op.local_dims}"

    return probe


def convolve(n, nh, ih):
    def probe(m):
        np = m.np
        hs, x = m.rand("hs", "float64", (len(ih), nh)), m.rand("x", "float64", n)
        Op = m.pylops_mpi.signalprocessing.MPINonStationaryConvolve1D((n,), hs, np.array(ih), axis=0)
        got = Op.matvec(m.DistributedArray.to_dist(x)).asarray()
        want = m.pylops.signalprocessing.NonStationaryConvolve1D((n,), hs, ih) @ x
        return f"differs from PyLops at samples {np.flatnonzero(abs(got - want) > 1e-12).tolist()}"

    return probe


def empty_rank(m):
    ops = [m.pylops.MatrixMult(m.rand("A", "float64", (3, 2)))] if m.rank == 0 else []
    m.pylops_mpi.MPIBlockDiag(ops)


def sum_of_layouts(m):
    D = m.pylops_mpi.MPIFirstDerivative((6,))
    n = 4 if m.rank == 0 else 2
    B = m.pylops_mpi.MPIBlockDiag([m.pylops.MatrixMult(m.rand("A", "float64", (n, n)))])
    (D + B).matvec(m.DistributedArray.to_dist(m.rand("x", "float64", 6))).asarray()


def two_dimensions(m):
    x = m.DistributedArray.to_dist(m.rand("x", "float64", (11, 3)))
    m.pylops_mpi.MPIFirstDerivative((11, 3)) @ x


def ghost(m):
    x = m.DistributedArray.to_dist(m.rand("x", "float64", 5))
    x.add_ghost_cells(cells_front=3)


def norm3d(m):
    x = m.DistributedArray.to_dist(m.rand("x", "float64", (5, 4, 3)))
    return f"a norm along axis 0 of (5, 4, 3) has shape {x.norm(axis=0).shape}, not (4, 3)"


def norm_broadcast(m):
    x = m.DistributedArray.to_dist(m.rand("x", "float64", (5, 4)), partition=m.Partition.BROADCAST)
    return f"a norm along axis 1 of a broadcast (5, 4) has shape {x.norm(axis=1).shape}, not (5,)"


def norm_empty(m):
    return f"inf norm {m.DistributedArray.to_dist(m.rand('x', 'float64', 2)).norm(m.np.inf)}"


def reshape(m):
    m.DistributedArray.to_dist(m.rand("x", "float64", 12)).reshape((3, 12 // 3 // m.size), axis=1)


def mixed(m):
    x = m.DistributedArray.to_dist(m.rand("x", "float64", 4))
    y = m.DistributedArray.to_dist(m.rand("x", "complex128", 4))
    return f"a real array plus a complex one is {(x + y).dtype}"


def conj(m):
    x = m.DistributedArray.to_dist(m.rand("x", "float64", 4))
    y = x.conj()
    x[:] = 0
    return f"after x[:] = 0, x.conj() made before is {y.local_array}"


def nested(m):
    x = m.pylops_mpi.StackedDistributedArray([m.DistributedArray.to_dist(m.rand("x", "float64", 4))])
    m.pylops_mpi.StackedDistributedArray([x]).zeros_like()


PROBES = {
    "FirstDerivative-order5-adjoint-11rows": (3, derivative(11, adjoint=True, order=5)),
    "FirstDerivative-edge-5rows": (3, derivative(5, edge=True)),
    "FirstDerivative-edge-adjoint-5rows": (3, derivative(5, adjoint=True, edge=True)),
    "FirstDerivative-2rows": (3, derivative(2)),
    "FirstDerivative-axis1": (2, derivative(7, axis=1)),
    "SecondDerivative-edge-adjoint-5rows": (3, second(5, edge=True)),
    "FirstDerivative-2d-input": (2, two_dimensions),
    "MatrixMult-block": (2, product("block")),
    "MatrixMult-summa": (3, product("summa")),
    "Halo-uneven-sides": (2, halo((11,), (2, 1), (2,))),
    "Halo-wider-than-block": (3, halo((5,), 2, (3,))),
    "Halo-block-of-none": (3, halo((4,), 1, (3,))),
    "Halo-block-below-none": (4, halo((5,), 0, (4,))),
    "NonStationaryConvolve1D-not-divisible": (2, convolve(11, 3, (1, 5, 9))),
    "NonStationaryConvolve1D-halo-too-wide": (3, convolve(12, 3, (1, 5, 9))),
    "NonStationaryConvolve1D-rank-without-filter": (3, convolve(12, 3, (1, 2))),
    "NonStationaryConvolve1D-close-filters": (2, convolve(18, 5, (2, 4, 6, 8, 10, 12, 14))),
    "BlockDiag-empty-rank": (2, empty_rank),
    "sum-of-two-layouts": (2, sum_of_layouts),
    "array-ghost-cells-over-two-ranks": (3, ghost),
    "array-norm-3d": (2, norm3d),
    "array-norm-broadcast": (2, norm_broadcast),
    "array-norm-inf-empty-rank": (3, norm_empty),
    "array-reshape-axis1": (2, reshape),
    "array-real-plus-complex": (2, mixed),
    "array-conj-of-real": (1, conj),
    "array-zeros-like-of-nested-stack": (1, nested),
}


class Tools:
    """What probes use, loaded only on the ranks."""

    def __init__(self):
        import mpi_common
        import numpy
        import pylops
        import pylops_mpi
        from store import rand

        self.np, self.pylops, self.pylops_mpi, self.rand = numpy, pylops, pylops_mpi, rand
        self.DistributedArray, self.Partition = pylops_mpi.DistributedArray, pylops_mpi.Partition
        self.comm, self.rank, self.size = mpi_common.comm, mpi_common.rank, mpi_common.size
        self.scatter_rows = mpi_common.scatter_rows


def main(name):
    m = Tools()

    def say(what):
        print(f"rank {m.rank}: {what}", flush=True)

    def hung():
        say("hangs")
        os._exit(0)

    watch = threading.Timer(LIMIT, hung)
    watch.start()
    try:
        say(PROBES[name][1](m) or "done")
    except Exception as e:
        say(f"{type(e).__name__}: {' '.join(str(e).split())}")
    watch.cancel()
    # An end now would end the ranks that hang, before they can say so.
    time.sleep(LIMIT + 1 if m.size > 1 else 0)
    m.comm.Abort(0)


if __name__ == "__main__":
    if len(sys.argv) == 1:
        for name, (ranks, _) in PROBES.items():
            print(name, ranks)
    else:
        main(sys.argv[1])
