"""What the splitting methods of pyproximal, and those of PyLops-MPI, make of small
problems: models and histories of costs, for solve/splitting_test.go.

    python make_splitting.py FILE
    mpirun -n 2 python make_splitting.py FILE mpi

The second adds the cases of PyLops-MPI to the file of the first. Numbers of the
problems are multiples of 1/64, and so are all steps: pyproximal rounds them to 32 bits.
"""
import json
import sys

import numpy as np

NITER = 15
TAU, MU = 0.25, 0.125  # of proxes


def problem(cplx):
    rng = np.random.default_rng(25)

    def draw(*shape):
        v = rng.integers(-64, 65, shape) / 64
        return v + 1j * rng.integers(-64, 65, shape) / 64 if cplx else v

    return {"A": draw(12, 8) / 2, "b": 2 * draw(12), "K1": draw(6, 8) / 2, "K2": draw(6, 8) / 2, "c": 2 * draw(8), "x0": draw(8), "z": draw(8) / 4}


def listed(v):
    v = np.asarray(v)
    out = {"shape": list(v.shape), "re": v.real.ravel().tolist()}
    if np.iscomplexobj(v):
        out["im"] = v.imag.ravel().tolist()
    return out


def serial(cplx):
    import pylops
    import pyproximal as pp
    from pyproximal.optimization import cls_primal as cp
    from pyproximal.optimization import cls_primaldual as cd

    p = problem(cplx)
    dtype = "complex128" if cplx else "float64"
    A = pylops.MatrixMult(p["A"], dtype=dtype)
    K1, K2 = pylops.MatrixMult(p["K1"], dtype=dtype), pylops.MatrixMult(p["K2"], dtype=dtype)
    K = pylops.VStack([K1, K2], dtype=dtype)
    x0, b, c = p["x0"], p["b"], p["c"]
    f = lambda: pp.L2(Op=A, b=b)
    near = lambda: pp.L2(b=c)
    l1 = lambda s: pp.L1(sigma=s)
    # L1.proxdual of pyproximal is wrong for complex numbers; L21 of one part is the same norm
    dual = lambda s: pp.L21(ndim=1, sigma=s) if cplx else pp.L1(sigma=s)
    cases = []

    def case(name, solver, **kwargs):
        out = solver.solve(niter=NITER, tol=0.0, **kwargs)
        cases.append({"name": name, "x": listed(out[0]), "cost": [float(v) for v in solver.cost]})

    pg = cp.ProximalGradient
    for acceleration in [None, "vandenberghe", "fista"]:
        case("ProximalGradient %s" % acceleration, pg(), proxf=f(), proxg=l1(0.5), x0=x0, tau=0.0625, epsg=0.75, acceleration=acceleration)
    case("ProximalGradient eta", pg(), proxf=f(), proxg=l1(0.5), x0=x0, tau=0.0625, epsg=0.75, eta=0.75)
    if not cplx:  # np.dot does not conjugate
        case("ProximalGradient backtracking", pg(), proxf=f(), proxg=l1(0.5), x0=x0, tau=2.0, backtracking=True, beta=0.5, acceleration="fista")
    case("ProximalPoint", cp.ProximalPoint(), prox=l1(0.5), x0=x0, tau=0.125)
    for acceleration in [None, "fista"]:
        case("GeneralizedProximalGradient %s" % acceleration, cp.GeneralizedProximalGradient(), proxfs=[f(), near()], proxgs=[l1(0.5), l1(0.25)],
             x0=x0, tau=0.03125, epsg=np.array([1.0, 0.5]), weights=np.array([0.25, 0.75]), acceleration=acceleration)
    for gfirst in [False, True]:
        case("HQS %s" % gfirst, cp.HQS(), proxf=near(), proxg=l1(0.5), x0=x0, tau=TAU, gfirst=gfirst)
        case("ADMM %s" % gfirst, cp.ADMM(), proxf=near(), proxg=l1(0.5), x0=x0, tau=TAU, gfirst=gfirst)
        case("PrimalDual %s" % gfirst, cd.PrimalDual(), proxf=near(), proxg=dual(0.5), A=K, x0=x0, tau=TAU, mu=MU, gfirst=gfirst)
        case("ADMML2 %s" % gfirst, cp.ADMML2(), proxg=l1(0.5), Op=A, b=b, A=K, x0=x0, tau=TAU, gfirst=gfirst, iter_lim=40, atol=1e-15, btol=1e-15)
    case("ADMML2 three steps", cp.ADMML2(), proxg=l1(0.5), Op=A, b=b, A=K, x0=x0, tau=TAU, iter_lim=3, atol=1e-15, btol=1e-15)
    case("LinearizedADMM", cp.LinearizedADMM(), proxf=near(), proxg=l1(0.5), A=K, x0=x0, tau=TAU, mu=0.03125)
    case("PrimalDual theta and z", cd.PrimalDual(), proxf=near(), proxg=dual(0.5), A=K, x0=x0, tau=TAU, mu=MU, theta=0.5, z=p["z"])
    case("PrimalDual L21", cd.PrimalDual(), proxf=near(), proxg=pp.L21(ndim=2, sigma=0.5), A=K, x0=x0, tau=TAU, mu=MU)
    case("AdaptivePrimalDual", cd.AdaptivePrimalDual(), proxf=near(), proxg=dual(0.5), A=K, x0=x0, tau=TAU, mu=MU)
    cases[-1]["cost"] = []  # pyproximal has none
    case("TwIST", cp.TwIST(), proxg=l1(0.5), A=pylops.MatrixMult(p["A"] / 8, dtype=dtype), b=b, x0=x0, eigs=(1.0, 0.25))
    return {"complex": cplx, "arrays": {k: listed(v) for k, v in p.items()}, "cases": cases}


def mpi(cplx):
    import pylops
    import pylops_mpi as pm
    from mpi4py import MPI
    from pylops_mpi.proximal import ADMML2, PrimalDual, ProximalGradient
    from pylops_mpi.proximal import MPIL2, MPIL21, MPIProxOperator
    import pyproximal as pp

    comm = MPI.COMM_WORLD
    rank, size = comm.Get_rank(), comm.Get_size()
    p = problem(cplx)
    dtype = np.complex128 if cplx else np.float64

    def rows(m):  # a matrix split by rows
        n = len(m) // size
        return pm.MPIVStack(ops=[pylops.MatrixMult(m[rank * n : (rank + 1) * n], dtype=dtype)])

    whole = lambda v: pm.DistributedArray.to_dist(v.astype(dtype), partition=pm.Partition.BROADCAST)
    split = lambda v: pm.DistributedArray.to_dist(v.astype(dtype))
    A, b, x0, c = rows(p["A"]), split(p["b"]), whole(p["x0"]), whole(p["c"])
    K = rows(p["K1"])
    out = []

    def case(name, x):
        out.append({"name": name, "x": listed(x.asarray()), "cost": []})

    l1 = lambda: MPIProxOperator(pp.L1(sigma=0.5))
    for acceleration in [None, "vandenberghe", "fista"]:
        case("mpi ProximalGradient %s" % acceleration, ProximalGradient(MPIL2(Op=A, b=b, x0=x0), l1(), x0, tau=0.0625, epsg=0.75, niter=NITER, acceleration=acceleration))
    for gfirst in [False, True]:
        case("mpi ADMML2 %s" % gfirst, ADMML2(l1(), A, b, K, x0, tau=TAU, niter=NITER, gfirst=gfirst, kwargs_solver={"niter": 40, "tol": 0})[0])
        if not cplx:
            case("mpi PrimalDual %s" % gfirst, PrimalDual(MPIL2(b=c), l1(), K, x0, split(np.zeros(6)), tau=TAU, mu=MU, niter=NITER, gfirst=gfirst))
    return out if rank == 0 else None


def main():
    if len(sys.argv) > 2:
        found = [mpi(False), mpi(True)]
        if found[0] is None:
            return
        every = json.load(open(sys.argv[1]))
        for part, more in zip(every, found):
            part["cases"] = [c for c in part["cases"] if not c["name"].startswith("mpi")] + more
    else:
        every = [serial(False), serial(True)]
    with open(sys.argv[1], "w") as f:
        json.dump(every, f, indent=None, separators=(",", ":"))
        f.write("\n")


main()
