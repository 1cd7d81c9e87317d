"""The tutorials poststack and reflectivity of PyLops-MPI on a model from a formula.

    mpirun -n RANKS tutorials.py PART

The model of the tutorials is a file that the package lacks. Here layers dip and lie on one another by a
formula, four planes for each rank. Everything else is as in the tutorials, but that eigenvalues are given:
power_iteration begins with random numbers.
"""

import sys
import warnings
from pathlib import Path

import numpy as np
import pylops_mpi
from mpi4py import MPI
from pylops.avo.poststack import PoststackLinearModelling
from pylops.basicoperators import FirstDerivative, Transpose
from pylops.signalprocessing import Convolve1D
from pylops.utils.wavelets import ricker
from pyproximal.proximal import L1

here = Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent / "golden"))  # for store.py
from store import Part, merge, plain  # noqa: E402

warnings.filterwarnings("ignore")
comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
NY, nx, nz = 4, 10, 60  # planes of a rank, and the rest
ny = NY * size
mine = (NY, nx, nz)


def scattered(a):
    m = pylops_mpi.DistributedArray(global_shape=ny * nx * nz)
    m[:] = a.ravel()
    return m


def volume(a):
    return a.asarray().reshape(ny, nx, nz).copy()


def models():
    y, x, z = np.meshgrid(*map(np.arange, mine), indexing="ij")
    depth = 3 * z + 2 * x + (y + rank * NY)
    return np.log(2000 + 300 * (depth // 35)), np.log(1850.0 + 8.5 * depth)


def poststack():
    m, back = map(scattered, models())
    wav = ricker(0.004 * np.arange(21), 15)[0]
    one = PoststackLinearModelling(wav, nt0=nz, spatdims=(NY, nx))
    turn = Transpose(mine, (2, 0, 1))
    A = pylops_mpi.MPIBlockDiag(ops=[turn.H @ one @ turn])
    d = A @ m
    out = dict(model=volume(m), background=volume(back), data=volume(d))
    x, *_, cost = pylops_mpi.cgls(A, d, x0=back.copy(), niter=100, tol=0)
    out["iterative"], out["iterative_cost"] = volume(x), cost

    eps = 1e2
    L = pylops_mpi.MPILaplacian((ny, nx, nz), axes=(0, 1, 2), weights=(1, 1, 1), sampling=(1, 1, 1))
    x, _, cost = pylops_mpi.cg(A.H @ A + eps * L.H @ L, A.H @ d, x0=back.copy(), niter=100, tol=0)
    out["normal"], out["normal_cost"] = volume(x), cost
    both = pylops_mpi.MPIStackedVStack([A, np.sqrt(eps) * L])
    data = pylops_mpi.StackedDistributedArray([d, d.zeros_like()])
    x, *_, cost = pylops_mpi.cgls(both, data, x0=back.copy(), niter=100, tol=0)
    out["regularized"], out["regularized_cost"] = volume(x), cost

    G = pylops_mpi.MPIGradient(dims=(ny, nx, nz), sampling=1.0, edge=False, kind="forward")
    prox = pylops_mpi.proximal.MPIProxOperator
    costs = []

    def history(x):
        costs.append([0.5 * (A @ x - d).norm() ** 2, prox(L1(sigma=1e-2))(G @ x)])

    x = pylops_mpi.proximal.optimization.primal.ADMML2(
        prox(L1(sigma=1e-2)), A, d, G, x0=back.copy(), tau=0.99 / 12, niter=40, callback=history, kwargs_solver=dict(niter=20, tol=0))[0]
    out["admm"], out["admm_cost"], costs = volume(x), np.array(costs), []
    # 60 steps, not 20 that end by a tolerance: the prox is then exact, whatever it begins with.
    l2 = pylops_mpi.proximal.MPIL2(Op=A, b=d, x0=back.copy(), niter=60, warm=True, kwargs_solver=dict(tol=0))
    x = pylops_mpi.proximal.optimization.primaldual.PrimalDual(
        l2, prox(L1(sigma=1e-2)), G, x0=back.copy(), y0=G @ back.zeros_like(), tau=1.0, mu=0.99 / 12, niter=40, callback=history)
    out["primaldual"], out["primaldual_cost"] = volume(x), np.array(costs)
    return dict(eps=eps, iterations=100, sigma=1e-2, wav=wav, admm_iterations=40, inner=20, inner_primaldual=60), out


def reflectivity():
    m = scattered(models()[0])
    wav, _, centre = ricker(0.004 * np.arange(21), 15)
    D = pylops_mpi.MPIBlockDiag(ops=[FirstDerivative(mine, axis=-1)])
    C = pylops_mpi.MPIBlockDiag(ops=[Convolve1D(mine, wav, offset=centre, axis=-1)])
    r = D @ m
    d = C @ r
    zero = d.zeros_like()
    alpha, niter = 0.02, 200
    x, _, cost = pylops_mpi.fista(C, d, x0=zero.copy(), niter=niter, eps=2e-2, tol=0, alpha=alpha)
    out = dict(model=volume(r), data=volume(d), fista=volume(x), fista_cost=cost)
    costs = []
    prox = pylops_mpi.proximal.MPIProxOperator(L1(sigma=1e-2))

    def history(x):
        costs.append([0.5 * (C @ x - d).norm() ** 2, prox(x)])

    l2 = pylops_mpi.proximal.MPIL2(Op=C, b=d, x0=zero.copy())
    x = pylops_mpi.proximal.optimization.primal.ProximalGradient(
        l2, prox, x0=zero.copy(), tau=alpha, niter=niter, acceleration="fista", callback=history)
    out["proximal"], out["proximal_cost"] = volume(x), np.array(costs)
    return dict(alpha=alpha, iterations=niter, eps=2e-2, sigma=1e-2, wav=wav, centre=int(centre)), out


def make(path):
    part = Part("pylops-mpi", size)
    for name, f in (("poststack", poststack), ("reflectivity", reflectivity)):
        params, arrays = f()
        part.add(name, "tutorial", "float64", plain(params), arrays, (ny, nx, nz), (ny, nx, nz))
    if rank == 0:
        part.write(path)


if __name__ == "__main__":
    what, *paths = sys.argv[1:]
    merge(paths, here) if what == "merge" else make(what)
