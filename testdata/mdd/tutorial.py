"""The problem of PyLops-MPI's tutorial on multi-dimensional deconvolution, in 64 bits: model and history of CGLS.

Frequencies are spread over the ranks of mpirun. tutorial.py OUT.npz writes the numbers of this number of ranks.
Rounding grows: 1 and 2 ranks agree to 2e-10 after 30 iterations, whose model is kept, and to 4e-3 after 39.
"""

import sys

import numpy as np
import pylops_mpi
from mpi4py import MPI
from pylops.utils.seismicevents import hyperbolic2d
from pylops.utils.tapers import taper3d
from pylops.utils.wavelets import ricker

NX, NY, NT, NF, DT, NITER, KEPT = 61, 101, 400, 200, 0.004, 50, 30
x, y, t = -300 + 10.0 * np.arange(NX), -500 + 10.0 * np.arange(NY), DT * np.arange(NT)
wav = ricker(t[:41], f0=20)[0]
truth = hyperbolic2d(x, t, 0.2, 1100.0, 1.0, wav)[0]
kernel = np.stack([hyperbolic2d(x - y0, t, (0.2, 0.5, 0.7), (1200.0, 1500.0, 2000.0), (1.0, 0.6, 0.5), wav)[1] for y0 in y])
kernel = kernel * taper3d(NT, (NY, NX), (5, 5), tapertype="hanning")

ns = 2 * NT - 1
truth = np.concatenate((np.zeros((NX, NT - 1)), truth), axis=-1).T
kernel = np.concatenate((np.zeros((NY, NX, NT - 1)), kernel), axis=-1)
kernel = np.fft.rfft(kernel, ns, axis=-1)[..., :NF].transpose(2, 0, 1)

comm = MPI.COMM_WORLD
mine = np.array_split(np.arange(NF), comm.size)[comm.rank]
op = pylops_mpi.waveeqprocessing.MPIMDC(DT * np.sqrt(NT) * kernel[mine], nt=ns, nv=1, nfreq=NF, dt=DT, dr=1.0, twosided=True,
                                        fftengine="scipy", prescaled=True)


def model(v, dtype):
    m = pylops_mpi.DistributedArray(global_shape=ns * NX, partition=pylops_mpi.Partition.BROADCAST, dtype=dtype)
    m[:] = v
    return m


d = op @ model(truth.ravel(), np.float64)
adjoint = (op.H @ d).asarray().real.reshape(ns, NX)
models = []
out = pylops_mpi.cgls(op, d, x0=model(0, np.complex128), niter=NITER, tol=0, callback=lambda m: models.append(m.asarray().real.copy()))
history = np.asarray(out[5]).real
if comm.rank == 0:
    data = d.asarray().real.reshape(ns, NY)
    np.savez_compressed(sys.argv[1], inverse=models[KEPT - 1].reshape(ns, NX).astype(np.float32), history=history, adjoint=adjoint[::9].astype(np.float32), data=data[::9].astype(np.float32))
    print(comm.size, "ranks:", len(history), "norms, the last", history[-1] / history[0])
