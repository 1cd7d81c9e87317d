"""Times mpi4py-fft: the transform of n by n by n complex128, split by the first axis over the ranks of MPI.
Arguments: n, calls. It prints the 4-norm of the result, then the seconds of each call, from the first rank that
begins to the last that ends."""

import sys
import time

import numpy as np
from mpi4py import MPI
from mpi4py_fft import PFFT, newDistArray

n, calls = int(sys.argv[1]), int(sys.argv[2])
comm = MPI.COMM_WORLD
fft = PFFT(comm, (n, n, n), axes=(0, 1, 2), dtype=np.complex128, slab=True, planner_effort="FFTW_MEASURE")
x, y = newDistArray(fft, False), newDistArray(fft, True)


def value(i):
    """The element at i; split.go has the same formula."""
    return i * 7919 % 1009 / 1009 - 0.5


a, b, c = (np.arange(s.start, s.stop, dtype=np.int64) for s in x.local_slice())
i = (a[:, None, None] * n + b[:, None]) * n + c
x[...] = value(i) + 1j * value(2 * i + 1)
for t in range(-1, calls):
    comm.Barrier()
    began = time.monotonic()
    fft.forward(x, y, normalize=False)
    ends = comm.gather((began, time.monotonic()))
    if t < 0:
        norm = comm.allreduce(np.sum(np.abs(y) ** 4)) ** 0.25
    if comm.Get_rank() == 0:
        print(norm if t < 0 else max(e for _, e in ends) - min(b for b, _ in ends))
