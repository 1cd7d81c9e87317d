"""Times FISTA of PyLops-MPI on one block of a matrix per rank: mpirun -n RANKS fista.py ROUNDS ROWS COLS ITERATIONS.
It prints the seconds of each round and the norm of the model, as JSON."""

import json
import sys
import time

import numpy as np
import pylops
import pylops_mpi
from mpi4py import MPI

rounds, rows, cols, iterations = map(int, sys.argv[1:5])
world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()


def wave(n, step):
    return np.sin(step * np.arange(n, dtype="float64")).astype("float32")


a = wave(rows * cols, 0.7 + 0.1 * rank).reshape(rows, cols) + 4 * np.eye(rows, cols, dtype="float32")
op = pylops_mpi.MPIBlockDiag(ops=[pylops.MatrixMult(a, dtype="float32")])
y = pylops_mpi.DistributedArray(global_shape=size * rows, dtype="float32")
y[:] = wave(rows, 1.3)
x0 = pylops_mpi.DistributedArray(global_shape=size * cols, dtype="float32")
times = []
for _ in range(rounds + 1):
    x0[:] = 0
    world.Barrier()
    began = time.perf_counter()
    x = pylops_mpi.fista(op, y, x0=x0, niter=iterations, eps=0.1, alpha=1e-5, tol=0.0)[0]
    world.Barrier()
    times.append(time.perf_counter() - began)
norm = float(x.norm())
if rank == 0:
    print(json.dumps(dict(seconds=times[1:], norm=norm)))
