"""Times the SUMMA product of PyLops-MPI: Y = A X, all n by n in float64. Arguments: n, calls.
It prints the norm of Y, then the seconds of each call, from the first rank that begins to the last that ends."""

import sys
import time

import numpy as np
import pylops_mpi
from mpi4py import MPI
from pylops_mpi.basicoperators.MatrixMult import local_block_split

n, calls = int(sys.argv[1]), int(sys.argv[2])
comm = MPI.COMM_WORLD
rows, columns = local_block_split((n, n), comm.Get_rank(), comm)


def block(seed):
    """This rank's block of array number seed; golops.go has the same formula."""
    at = np.arange(rows.start, rows.stop, dtype=np.int64)[:, None] * n + np.arange(columns.start, columns.stop)
    return (at * 7919 + seed * 104729) % 1009 / 1009 - 0.5


Op = pylops_mpi.MPIMatrixMult(block(4), n, kind="summa", dtype="float64")
x = pylops_mpi.DistributedArray(
    global_shape=n * n, local_shapes=comm.allgather(block(1).size), partition=pylops_mpi.Partition.SCATTER, dtype="float64"
)
x[:] = block(1).ravel()
for t in range(-1, calls):
    comm.Barrier()
    began = time.monotonic()
    y = Op @ x
    ends = comm.gather((began, time.monotonic()))
    norm = np.sqrt(comm.allreduce(np.sum(y.local_array**2)))
    if comm.Get_rank() == 0:
        print(norm if t < 0 else max(e for _, e in ends) - min(b for b, _ in ends))
