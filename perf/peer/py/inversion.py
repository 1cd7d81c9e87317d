"""Times CGLS iterations with PyLops-MPI: of least-squares migration with its engine numba, of multi-dimensional
deconvolution, or of a regularised post-stack inversion; or FISTA iterations, for reflectivity.

    mpirun --bind-to none -n RANKS build/golden-venv/bin/python perf/peer/py/inversion.py PROBLEM [--rounds N] [--dtype float32]

scripts/golden-lsm venv makes the environment. The ranks divide the sources, or the
frequencies, and the cores: a single rank runs numba's loops on all of them. Prints one line of
JSON. Times are medians over rounds of the slowest rank; compiling is not in
them, compile_s says how long it took.
"""

import argparse
import json
import os
import statistics
import time
import warnings

from mpi4py import MPI

comm = MPI.COMM_WORLD


def arguments():
    p = argparse.ArgumentParser()
    p.add_argument("problem", choices=("lsm", "mdc", "poststack", "reflectivity"))
    p.add_argument("--rounds", type=int, default=3, help="how often each is timed")
    p.add_argument("--iterations", type=int, default=20, help="of CGLS in a round")
    p.add_argument("--dtype", choices=("float64", "float32"), default="float64", help="of model and data")
    p.add_argument("--threads", type=int, default=0, help="a rank; 0 divides the cores among ranks")
    p.add_argument("--nx", type=int, default=201)
    p.add_argument("--nz", type=int, default=150)
    p.add_argument("--nr", type=int, default=51)
    p.add_argument("--ns", type=int, default=16, help="in total")
    a = p.parse_args()
    if a.ns % comm.size:
        p.error(f"--ns {a.ns} must be a multiple of the {comm.size} ranks")
    if a.rounds < 1 or a.iterations < 1:
        p.error("--rounds and --iterations must be 1 or more")
    a.threads = a.threads or max(1, (os.cpu_count() or 1) // comm.size)
    if len(os.sched_getaffinity(0)) < a.threads:
        p.error(f"{a.threads} threads on {len(os.sched_getaffinity(0))} cores: start mpirun with --bind-to none")
    return a


args = arguments()
# PyLops reads the first when it is loaded, and runs loops in parallel unless it is 1.
for name in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[name] = str(args.threads)
warnings.filterwarnings("ignore")

import numba  # noqa: E402
import numpy as np  # noqa: E402
import pylops  # noqa: E402
import pylops_mpi  # noqa: E402
from pylops.avo.poststack import PoststackLinearModelling  # noqa: E402
from pylops.utils.wavelets import ricker  # noqa: E402
from pylops.waveeqprocessing import kirchhoff  # noqa: E402
from pylops.waveeqprocessing.lsm import LSM  # noqa: E402
from pylops_mpi.optimization.cls_basic import CGLS  # noqa: E402


def mdc():
    """128 frequencies of 128 x 128, 16 virtual sources, 257 samples; problems.go has the same."""
    nf, n, nv, nt = 128, 128, 16, 257
    share = nf // comm.size

    def values(count, first, seed):
        return ((np.arange(first, first + count, dtype=np.int64) * 7919 + seed * 104729) % 1009) / 1009 - 0.5

    size, first = share * n * n, comm.rank * share * n * n
    G = (values(size, first, 4) + 1j * values(size, first, 5)).reshape(share, n, n)
    G = G.astype("complex64" if args.dtype == "float32" else "complex128")
    op = pylops_mpi.waveeqprocessing.MPIMDC(G, nt=nt, nv=nv, nfreq=nf, twosided=True, saveGt=True, prescaled=True)
    return op, replicated(values(nt * n * nv, 0, 1).astype(args.dtype))


def lsm():
    """The operator and the reflectivity, which are those of PyLops-MPI's tutorial on a larger grid."""
    nx, nz, d, nt, dt, v0 = args.nx, args.nz, 4, 651, 0.004, 1000
    x, z, t = np.arange(nx) * d, np.arange(nz) * d, np.arange(nt) * dt
    edge = (10 * d, (nx - 10) * d)
    rx = np.linspace(*edge, args.nr)
    sx = np.split(np.linspace(*edge, args.ns), comm.size)[comm.rank]
    wav, _, center = ricker(t[:41], f0=20)
    op = LSM(
        z, x, t, np.vstack((sx, 10 * np.ones_like(sx))), np.vstack((rx, 20 * np.ones_like(rx))),
        v0, wav.astype(args.dtype), center, mode="analytic", engine="numba", dtype=args.dtype,
    ).Demop
    refl = np.zeros((nx, nz), args.dtype)
    refl[:, nz // 2], refl[:, 5 * nz // 6] = -1, 0.5
    return pylops_mpi.MPIVStack(ops=[op]), replicated(refl)


def volume():
    """The shape, the logarithm of an impedance of dipping layers and a smooth background; poststack.go has the same."""
    ny, nx, nz = 256, 128, 64
    dims = (ny // comm.size, nx, nz)
    y, x, z = np.meshgrid(*map(np.arange, dims), indexing="ij")
    depth = 8 * z + 2 * (y + comm.rank * dims[0]) + x
    return (ny, nx, nz), dims, np.log(2000 + 300 * (depth // 100)), np.log(1850.0 + 3 * depth)


def scattered(a):
    m = pylops_mpi.DistributedArray(global_shape=a.size * comm.size, dtype=args.dtype)
    m[:] = a.ravel().astype(args.dtype)
    return m


def poststack():
    """The third inversion of PyLops-MPI's tutorial."""
    whole, dims, m, back = volume()
    wav = ricker(0.004 * np.arange(21), 15)[0].astype(args.dtype)
    one = PoststackLinearModelling(wav, nt0=dims[2], spatdims=dims[:2])
    turn = pylops.Transpose(dims, (2, 0, 1), dtype=args.dtype)
    A = pylops_mpi.MPIBlockDiag(ops=[turn.H @ one @ turn])
    L = pylops_mpi.MPILaplacian(whole, axes=(0, 1, 2), weights=(1, 1, 1), sampling=(1, 1, 1), dtype=args.dtype)
    d = A @ scattered(m)
    data = pylops_mpi.StackedDistributedArray([d, d.zeros_like()])
    return pylops_mpi.MPIStackedVStack([A, 10.0 * L]), scattered(m), data, scattered(back)


def reflectivity():
    """That of PyLops-MPI's tutorial on the same volume."""
    whole, dims, m, _ = volume()
    wav, _, centre = ricker(0.004 * np.arange(21), 15)
    D = pylops_mpi.MPIBlockDiag(ops=[pylops.FirstDerivative(dims, axis=-1, dtype=args.dtype)])
    C = pylops_mpi.MPIBlockDiag(ops=[pylops.signalprocessing.Convolve1D(
        dims, wav.astype(args.dtype), offset=centre, axis=-1, dtype=args.dtype)])
    r = D @ scattered(m)
    d = C @ r
    return C, r, d, d.zeros_like()


def replicated(a):
    m = pylops_mpi.DistributedArray(global_shape=a.size, partition=pylops_mpi.Partition.BROADCAST, dtype=args.dtype)
    m[:] = a.ravel()
    return m


def timed(f):
    """Seconds of the slowest rank, and what f returned."""
    comm.Barrier()
    start = time.perf_counter()
    out = f()
    return comm.allreduce(time.perf_counter() - start, op=MPI.MAX), out


def main():
    op, refl, *rest = {"lsm": lsm, "mdc": mdc, "poststack": poststack, "reflectivity": reflectivity}[args.problem]()
    compile_s, data = timed(lambda: op.matvec(refl))
    compile_s += timed(lambda: op.rmatvec(data))[0]
    data, start = rest or (data, replicated(np.zeros(op.shape[1], args.dtype)))
    forward, adjoint, steps = [], [], []
    for _ in range(args.rounds):
        forward.append(timed(lambda: op.matvec(refl))[0])
        adjoint.append(timed(lambda: op.rmatvec(data))[0])
        if args.problem == "reflectivity":
            seconds, (model, _, cost) = timed(lambda: pylops_mpi.fista(
                op, data, x0=start.copy(), niter=args.iterations, eps=2e-2, alpha=0.02, tol=0))
        else:
            solver = CGLS(op)
            model = solver.setup(data, start.copy(), niter=args.iterations, tol=0)
            seconds, model = timed(lambda: solver.run(model))
            cost = solver.cost
        steps.append(seconds / args.iterations)
    if comm.rank == 0:
        median = statistics.median
        print(json.dumps({
            "peer": "pylops-mpi", "ranks": comm.size, "threads": args.threads, "dtype": args.dtype,
            "iterations": args.iterations, "rounds": args.rounds,
            "iteration_s": median(steps), "forward_us": 1e6 * median(forward), "adjoint_us": 1e6 * median(adjoint),
            "all_iteration_s": steps, "all_forward_us": [1e6 * s for s in forward],
            "all_adjoint_us": [1e6 * s for s in adjoint], "compile_s": compile_s,
            "parallel": kirchhoff.parallel, "layer": numba.threading_layer() if kirchhoff.parallel and args.problem == "lsm" else None,
            "data_norm": float(cost[0]), "residual": float(cost[-1]),
            "model_norm": float(np.linalg.norm(model.local_array)), "model_dtype": model.dtype.name,
            "versions": {"pylops": pylops.__version__, "pylops-mpi": pylops_mpi.__version__,
                         "numba": numba.__version__, "numpy": np.__version__},
        }))


main()
