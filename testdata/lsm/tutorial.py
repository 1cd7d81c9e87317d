"""The tutorial of PyLops-MPI on least-squares migration: its data, adjoint image and inverses.

Sources are spread over the ranks of mpirun, ten for each.
"""

import warnings

import formulas
import numpy as np
import pylops_mpi
from mpi4py import MPI
from pylops.utils.wavelets import ricker
from pylops.waveeqprocessing.lsm import LSM
from store import Part, plain

comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
NS, KEPT, NITER, DAMP = 10, 260, 100, 10.0  # sources a rank, samples of a trace in the file, iterations, damping
STORED = (10, 30, 100)  # iterations whose model is in the file

nx, nz, dx, dz, nt, dt, nr, v0 = 81, 60, 4, 4, 651, 0.004, 11, 1000
x, z, t = np.arange(nx) * dx, np.arange(nz) * dz, np.arange(nt) * dt
rx = np.linspace(10 * dx, (nx - 10) * dx, nr)
rz = 20 * np.ones(nr)
nstot = NS * size
sx = np.linspace(dx * 10, (nx - 10) * dx, nstot)
sz = 10 * np.ones(nstot)
wav, _, wavc = ricker(t[:41], f0=20)
refl = np.zeros((nx, nz))
refl[:, 30] = -1
refl[:, 50] = 0.5


def model(a):
    m = pylops_mpi.DistributedArray(global_shape=nx * nz, partition=pylops_mpi.Partition.BROADCAST)
    m[:] = np.ravel(a)
    return m


def operator(seed=0):
    """The operator; with a seed, each travel time is off by about a rounding error."""
    mine = slice(rank * NS, (rank + 1) * NS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        op = LSM(z, x, t, np.vstack((sx[mine], sz[mine])), np.vstack((rx, rz)), v0, wav, wavc,
                 mode="analytic", engine="numba").Demop
    if seed:
        rng = np.random.Generator(np.random.PCG64([seed, rank]))
        op.trav_srcs = op.trav_srcs * (1 + 1e-16 * rng.standard_normal(op.trav_srcs.shape))
    return pylops_mpi.MPIVStack(ops=[op])


def invert(op, d, damp):
    """The model after each iteration, and the norms of the residual from iteration 0 on."""
    models = []
    out = pylops_mpi.cgls(op, d, x0=model(0), niter=NITER, damp=damp, tol=0,
                          callback=lambda m: models.append(m.asarray().reshape(nx, nz).copy()))
    return models, out[5]


def spread(models, d, damp):
    """How far rounding moves a model: the largest relative distance of three disturbed runs, by iteration."""
    far = np.zeros(NITER)
    for seed in (1, 2, 3):
        other, _ = invert(operator(seed), d, damp)
        far = np.maximum(far, [np.linalg.norm(a - b) / np.linalg.norm(a) for a, b in zip(models, other)])
    return far


def sums(d):
    """Sum, norm, ramp and alternating sum of each source's data."""
    flat = d.reshape(len(d), -1)
    k = np.arange(flat.shape[1])
    return np.stack([flat.sum(1), np.linalg.norm(flat, axis=1), flat @ ((k + 1) / len(k)), flat @ (1.0 - 2.0 * (k % 2))], 1)


def make(path):
    op = operator()
    data = op @ model(refl)
    adjoint = (op.H @ data).asarray().reshape(nx, nz)
    models, residuals = invert(op, data, 0.0)
    damped, residuals_damped = invert(op, data, DAMP)
    far, far_damped = spread(models, data, 0.0), spread(damped, data, DAMP)
    d = data.asarray().reshape(nstot, nr, nt)
    if rank != 0:
        return
    late = np.abs(d[:, :, KEPT:]).max() / np.abs(d).max()
    if late > 1e-14:
        raise SystemExit(f"lsm: data end at sample {KEPT} but for {late:.1e}")
    kept = [0, nstot // 2, nstot - 1]
    params = dict(
        x0=0.0, dx=dx, nx=nx, z0=0.0, dz=dz, nz=nz, t0=0.0, dt=dt, nt=nt, vel=float(v0),
        sx=sx, sz=sz, rx=rx, rz=rz, sources_per_rank=NS,
        wav=wav, wavcenter=wavc, wav_f0=20.0, mode="analytic", dynamic=False, wavfilter=False,
        niter=NITER, damp=DAMP, data_sources=kept, data_samples=KEPT, data_late=late,
        spread=[far[i - 1] for i in STORED], spread_damped=far_damped[-1],
        spread_iterations=list(STORED), spread_all=far, spread_damped_all=far_damped,
    )
    arrays = dict(refl=refl, data=d[kept, :, :KEPT], sums=sums(d), adjoint=adjoint,
                  residuals=residuals, residuals_damped=residuals_damped,
                  model_norms=np.linalg.norm(models, axis=(1, 2)), model_damped=damped[-1])
    arrays.update({f"model{i}": models[i - 1] for i in STORED})
    formulas.check("tutorial", plain(params), dict(x=refl, y=d, u=d, v=adjoint))
    part = Part("pylops-mpi", size)
    part.add("LSM", "tutorial", "float64", plain(params), arrays, (nx, nz), (nstot, nr, nt))
    part.write(path)
    print(f"tutorial on {size} ranks: residual {residuals[0]:.4g} to {residuals[-1]:.4g}, damped "
          f"{residuals_damped[-1]:.4g}; spread of the model at iterations {STORED}: "
          f"{', '.join(f'{s:.1e}' for s in params['spread'])}, damped {far_damped[-1]:.1e}")
