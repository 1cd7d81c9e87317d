"""What the stages of the MPI program share."""

import itertools
import os
import sys
import threading
import traceback

import numpy as np
from mpi4py import MPI
from pylops_mpi import DistributedArray, Partition

from store import DTYPES, Part, passes_dot_test, rand

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()
part = Part("pylops-mpi", size)
turn = itertools.cycle(DTYPES)
LIMIT = 30  # seconds for one stage, far more than it needs


def one():
    """The next element type in turn."""
    return [next(turn)]


def run(stage):
    """Runs a stage on all ranks. An error or a hang of one rank ends them all."""
    global turn
    turn = itertools.cycle(DTYPES)

    def hung():
        print(f"golden: {stage.__name__} on {size} ranks: rank {rank} hangs", file=sys.stderr, flush=True)
        os._exit(1)

    # A thread and not a signal: Python sees none while it waits inside MPI.
    watch = threading.Timer(LIMIT, hung)
    watch.start()
    try:
        stage()
    except Exception:
        print(f"golden: {stage.__name__} on {size} ranks: rank {rank}:", file=sys.stderr)
        traceback.print_exc()
        sys.stderr.flush()
        comm.Abort(1)
    watch.cancel()


def split(n):
    """How PyLops-MPI shares n rows among the ranks."""
    return [n // size + (r < n % size) for r in range(size)]


def scatter_rows(x):
    """x flattened, whole rows on each rank, as the derivatives want it."""
    rest = int(np.prod(x.shape[1:]))
    return DistributedArray.to_dist(x.ravel(), local_shapes=[(n * rest,) for n in split(x.shape[0])])


def scatter_blocks(x, lengths):
    """x, one dimension, in the given lengths."""
    return DistributedArray.to_dist(x, local_shapes=[(n,) for n in lengths])


def broadcast(x):
    return DistributedArray.to_dist(x, partition=Partition.BROADCAST)


def gather_blocks(key, local):
    """The local arrays of all ranks under key_rank0 and so on, on rank 0."""
    return {f"{key}_rank{r}": a for r, a in enumerate(comm.gather(np.array(local)) or [])}


def add(op, variant, dtype, params, arrays, dims=(), dimsd=(), **more):
    """Adds a case, on rank 0 alone."""
    if rank == 0:
        part.add(op, variant, dtype, params, arrays, dims, dimsd, **more)


def add_pair(op, variant, dtype, params, arrays, dims, dimsd, true_adjoint=None):
    """Adds a case with x, y, u and v, and says whether they pass the dot test."""
    if rank != 0:
        return
    x, y, u, v = (np.asarray(arrays[k]) for k in "xyuv")
    more = dict(dottest=passes_dot_test(x, y, u, v, dtype))
    if y.dtype != np.dtype(dtype):
        more["y_dtype"] = y.dtype.name
    if v.dtype != np.dtype(dtype):
        more["v_dtype"] = v.dtype.name
    if not more["dottest"]:
        arrays = dict(arrays, v_true=true_adjoint())
    add(op, variant, dtype, params, arrays, dims, dimsd, **more)


def must_agree(what, got, want):
    """Holds PyLops-MPI to PyLops: a number on which they differ is no golden one."""
    tol = 1e-5 if np.finfo(got.dtype).bits == 32 else 1e-13
    if not np.allclose(got, want, rtol=tol, atol=10 * tol):
        raise ValueError(f"{what} differs from PyLops by {np.abs(got - want).max()}")


def store(op, variant, Op, serial, dtype, params, dims):
    """Applies Op, which keeps the shape, to arrays that are shared by rows, and
    checks it against the serial operator."""
    x, u = rand("x", dtype, dims), rand("u", dtype, dims)
    y = Op.matvec(scatter_rows(x)).asarray().reshape(dims)
    v = Op.rmatvec(scatter_rows(u)).asarray().reshape(dims)
    must_agree(f"{op}/{variant}", y, serial.matvec(x.ravel()).reshape(dims))
    must_agree(f"{op}/{variant}, adjoint", v, serial.rmatvec(u.ravel()).reshape(dims))
    add_pair(op, variant, dtype, params, dict(x=x, y=y, u=u, v=v), dims, dims)
