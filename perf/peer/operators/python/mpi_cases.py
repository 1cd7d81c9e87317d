"""The operators and array operations of PyLops-MPI, as a user calls them."""

import numpy as np
import pylops
import pylops_mpi
from mpi4py import MPI
from pylops_mpi import DistributedArray, Partition, StackedDistributedArray
from pylops_mpi.signalprocessing import MPINonStationaryConvolve1D

from common import filters, matrix, values

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()


def whole(a):
    """The elements of a distributed array, on every rank."""
    if isinstance(a, StackedDistributedArray):
        return np.concatenate([whole(a[i]) for i in range(a.narrays)])
    return np.ravel(a.asarray())


def scattered(a, lengths):
    """a, one dimension, in the given lengths."""
    return DistributedArray.to_dist(a, local_shapes=[(n,) for n in lengths])


def rows(a, dims):
    """a flattened, whole rows on each rank, as the operators want it."""
    rest = int(np.prod(dims[1:]))
    return scattered(a, [rest * (dims[0] // size + (r < dims[0] % size)) for r in range(size)])


def both(Op, x, u):
    """Forward and adjoint."""
    return [(lambda: Op.matvec(x), whole), (lambda: Op.rmatvec(u), whole)]


def square(make):
    """An operator that keeps the shape."""

    def steps(case):
        dims, n = tuple(case["shape"]), int(np.prod(case["shape"]))
        Op = make(dims, case)
        return both(Op, rows(values(n, 0, 1, case["type"]), dims), rows(values(n, 0, 2, case["type"]), dims))

    return steps


def gradient(case):
    dims, n = tuple(case["shape"]), int(np.prod(case["shape"]))
    Op = pylops_mpi.MPIGradient(dims, kind=case["kind"], dtype=case["type"])
    u = StackedDistributedArray([rows(values(n, i * n, 2, case["type"]), dims) for i in range(len(dims))])
    return both(Op, rows(values(n, 0, 1, case["type"]), dims), u)


def halo(case):
    dims, n = tuple(case["shape"]), int(np.prod(case["shape"]))
    Op = pylops_mpi.MPIHalo(dims, case["length"], proc_grid_shape=(size,) + (1,) * (len(dims) - 1), dtype=case["type"])
    lengths = comm.allgather(int(np.prod(Op.local_extent)))
    return both(Op, rows(values(n, 0, 1, case["type"]), dims), scattered(values(sum(lengths), 0, 2, case["type"]), lengths))


def nonstationary(dims, case):
    hs, ih = filters(case)
    return MPINonStationaryConvolve1D(dims, hs, ih, axis=case["axis"], dtype=case["type"])


def matrices(case):
    """The operators of this rank, and how long what they take and give is on each."""
    n, nrows, ncols = case["shape"]
    share = n // size
    mine = [pylops.MatrixMult(matrix(case, i), dtype=case["type"]) for i in range(rank * share, (rank + 1) * share)]
    return mine, [share * nrows] * size, [share * ncols] * size


def replicated(n, seed, dtype):
    """The copies are equal, and nobody checks, as in golops."""
    return DistributedArray.to_dist(values(n, 0, seed, dtype), partition=Partition.UNSAFE_BROADCAST)


def block_diag(case):
    mine, nrows, ncols = matrices(case)
    Op = pylops_mpi.MPIBlockDiag(mine, dtype=case["type"])
    return both(Op, scattered(values(sum(ncols), 0, 1, case["type"]), ncols), scattered(values(sum(nrows), 0, 2, case["type"]), nrows))


def vstack(case):
    mine, nrows, _ = matrices(case)
    Op = pylops_mpi.MPIVStack(mine, dtype=case["type"])
    return both(Op, replicated(case["shape"][2], 1, case["type"]), scattered(values(sum(nrows), 0, 2, case["type"]), nrows))


def hstack(case):
    mine, _, ncols = matrices(case)
    Op = pylops_mpi.MPIHStack(mine, dtype=case["type"])
    return both(Op, scattered(values(sum(ncols), 0, 1, case["type"]), ncols), replicated(case["shape"][1], 2, case["type"]))


def matrix_mult(case):
    """On one rank, where blocks are the matrices themselves."""
    n, k, m = case["shape"]
    Op = pylops_mpi.MPIMatrixMult(matrix(dict(case, shape=(n, k))), m, kind="block", dtype=case["type"])
    x, u = values(k * m, 0, 1, case["type"]), values(n * m, 0, 2, case["type"])
    return both(Op, scattered(x, [x.size]), scattered(u, [u.size]))


def arrays(operation, result=whole):
    """An operation on two arrays that are split along the first axis."""

    def steps(case):
        dims, n = tuple(case["shape"]), int(np.prod(case["shape"]))
        x, y = (DistributedArray.to_dist(values(n, 0, seed, case["type"]).reshape(dims)) for seed in (1, 2))
        return [(lambda: operation(x, y, case), result)]

    return steps


def redistribute(case):
    """There, and back from the other axis."""
    dims, n = tuple(case["shape"]), int(np.prod(case["shape"]))
    x = DistributedArray.to_dist(values(n, 0, 1, case["type"]).reshape(dims))
    u = DistributedArray.to_dist(values(n, 0, 2, case["type"]).reshape(dims), axis=1)
    return [(lambda: x.redistribute(1), whole), (lambda: u.redistribute(0), whole)]


CASES = {
    "FirstDerivative": square(lambda dims, c: pylops_mpi.MPIFirstDerivative(
        dims, kind=c["kind"], order=c["order"] or 3, dtype=c["type"])),
    "SecondDerivative": square(lambda dims, c: pylops_mpi.MPISecondDerivative(dims, kind=c["kind"], dtype=c["type"])),
    "Laplacian": square(lambda dims, c: pylops_mpi.MPILaplacian(dims, axes=(0, 1), kind=c["kind"], dtype=c["type"])),
    "Gradient": gradient,
    "Halo": halo,
    "NonStationaryConvolve1D": square(nonstationary),
    "BlockDiag": block_diag,
    "VStack": vstack,
    "HStack": hstack,
    "MatrixMult block": matrix_mult,
    "add": arrays(lambda x, y, _: x + y),
    "scale": arrays(lambda x, y, c: x * 2.5),
    "copy": arrays(lambda x, y, _: x.copy()),
    "dot": arrays(lambda x, y, _: x.dot(y), np.asarray),
    "norm 2": arrays(lambda x, y, _: x.norm(2), np.asarray),
    "redistribute": redistribute,
    "add_ghost_cells": arrays(lambda x, y, c: x.add_ghost_cells(c["length"], c["length"]),
                              lambda a: np.concatenate(comm.allgather(a)).ravel()),
}
