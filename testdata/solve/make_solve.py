"""Writes the solvers of PyLops and PyLops-MPI: make_solve.py PART, or mpirun -n
RANKS make_solve.py PART for PyLops-MPI; make_solve.py merge PARTS puts parts
together in this folder.

All results are those after ITERS iterations, with tolerances that never stop a
solver: "x1" is the model after one iteration. "cost" is what the solver returns
after the last.
"""

import functools
import sys
from pathlib import Path

import numpy as np
import pylops
from pylops.optimization.basic import cg, cgls, lsqr
from pylops.optimization.leastsquares import (normal_equations_inversion, preconditioned_inversion,
                                              regularized_inversion)
from pylops.optimization.eigs import power_iteration

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "golden"))
import store  # noqa: E402

ITERS = (1, 2, 5, 10)


def tall(tag, dtype, rows, cols, noise=0.5):
    """A matrix of good condition: the identity and some noise."""
    a = np.eye(rows, cols) + noise * store.rand(tag, "complex128", (rows, cols)) / np.sqrt(rows)
    if not store.is_complex(dtype):
        a = a.real
    return a.astype(dtype)


def definite(tag, dtype, n):
    """A Hermitian positive definite matrix."""
    a = tall(tag, "complex128" if store.is_complex(dtype) else "float64", n, n)
    s = np.conj(a.T) @ a + 0.3 * np.eye(n)
    s = s.astype(dtype)
    return (s + np.conj(s.T)) / np.dtype(dtype).type(2)


def operator(a):
    return pylops.MatrixMult(a, dtype=a.dtype)


def start(which, dtype, n):
    return np.zeros(n, dtype) if which == "zero" else store.rand("x0", dtype, n)


def runs(f):
    """The model after each of ITERS, and the rest of the last."""
    out = {}
    for k in ITERS:
        x, rest = f(k)
        out[f"x{k}"] = x
    return out, rest


def add(part, op, variant, params, arrays):
    a = arrays["A"] if "A" in arrays else arrays["A_rank0_0"]
    part.add(op, variant, a.dtype, params, arrays)


def serial(part):
    for dt in store.DTYPES:
        square(part, dt)
        for rows, cols in ((24, 15), (11, 16)):
            least_squares(part, dt, rows, cols)
        wrappers(part, dt)


def square(part, dt):
    a, y = definite("S", dt, 16), store.rand("y", dt, 16)
    for x0 in ("zero", "random"):
        for damp in (0.0, 0.7):
            s = start(x0, dt, 16)
            xs, cost = runs(lambda k: (lambda r: (r[0], r[2]))(
                cg(operator(a), y, x0=s, niter=k, damp=damp, tol=0.0)))
            add(part, "cg", f"x0-{x0}-damp-{damp}", dict(damp=damp), dict(A=a, y=y, x0=s, cost=cost, **xs))
    b = definite("P", dt, 9)
    for k in ITERS:
        np.random.seed(7)
        eig, vec, n = power_iteration(operator(b), niter=k, tol=0.0, dtype=dt)
        np.random.seed(7)
        b0 = np.random.rand(9).astype(dt)
        if store.is_complex(dt):
            b0 = b0 + 1j * np.random.rand(9).astype(dt)
        add(part, "power_iteration", f"{k}", dict(niter=k), dict(A=b, x0=b0.astype(dt), x=vec.astype(dt), eig=np.array([eig])))


def least_squares(part, dt, rows, cols):
    a, y = tall("A", dt, rows, cols), store.rand("y", dt, rows)
    for x0 in ("zero", "random"):
        for damp in (0.0, 0.7, 1.0):
            s = start(x0, dt, cols)
            name, params = f"{rows}x{cols}-x0-{x0}-damp-{damp}", dict(damp=damp, x0=x0)
            xs, (r1, r2, cost) = runs(lambda k: (lambda r: (r[0], r[3:6]))(
                cgls(operator(a), y, x0=s, niter=k, damp=damp, tol=0.0)))
            add(part, "cgls", name, params, dict(A=a, y=y, x0=s, cost=cost, r1norm=np.array([r1]), r2norm=np.array([r2]), **xs))
            xs, cost = runs(lambda k: (lambda r: (r[0], r[10]))(
                lsqr(operator(a), y, x0=s, niter=k, damp=damp, atol=0.0, btol=0.0, conlim=0.0, calc_var=False)))
            add(part, "lsqr", name, params, dict(A=a, y=y, x0=s, cost=cost, **xs))


def wrappers(part, dt):
    rows, cols = 18, 12
    a, y = tall("W", dt, rows, cols), store.rand("y", dt, rows)
    r1, r2 = tall("R1", dt, 10, cols), tall("R2", dt, cols, cols)
    d1, d2 = store.rand("d1", dt, 10), store.rand("d2", dt, cols)
    weights = [0.5, 2.0]
    arrays = dict(A=a, y=y, R0=r1, R1=r2, d0=d1, d1=d2)
    for x0 in ("zero", "random"):
        s = start(x0, dt, cols)
        regs = [operator(r1), operator(r2)]
        xs, _ = runs(lambda k: (regularized_inversion(
            operator(a), y, regs, x0=s, dataregs=[d1, d2], epsRs=weights, engine="pylops", niter=k, tol=0.0)[0], None))
        add(part, "regularized_inversion", f"x0-{x0}", dict(weights=weights), dict(arrays, x0=s, **xs))
        xs, _ = runs(lambda k: (normal_equations_inversion(
            operator(a), y, regs, x0=s, dataregs=[d1, d2], epsI=0.4, epsRs=weights, engine="pylops", niter=k, tol=0.0)[0], None))
        add(part, "normal_equations_inversion", f"x0-{x0}", dict(weights=weights, damp=0.4), dict(arrays, x0=s, **xs))
    p = tall("P", dt, cols, cols, 0.2)
    xs, _ = runs(lambda k: (preconditioned_inversion(
        operator(a), y, operator(p), engine="pylops", niter=k, tol=0.0)[0], None))
    add(part, "preconditioned_inversion", "x0-zero", {}, dict(A=a, y=y, P=p, **xs))


def parallel(part, dt):
    """PyLops-MPI of one element type, whose results are those of all ranks in turn."""
    import pylops_mpi
    from mpi_common import broadcast, rank, scatter_blocks, size

    def mpi(kind, blocks, Op, y, x0, solver, params, **kw):
        xs, rest = {}, None
        for k in ITERS:
            res = solver(Op, y, x0=x0, niter=k, tol=0.0, **kw)
            xs[f"x{k}"], rest = res[0].asarray(), res[1:]
        ys, s = y.asarray(), x0.asarray()
        if rank == 0:
            mats = {f"A_rank{r}_0": b for r, b in enumerate(blocks)}
            tag = "-".join(f"{k}-{v}" for k, v in params.items())
            add(part, kind, tag, params, dict(y=ys, x0=s, cost=np.array(rest[-1]), **mats, **xs))

    sq = [definite(f"S{r}", dt, 5 + r) for r in range(size)]
    n = [b.shape[0] for b in sq]
    Op = pylops_mpi.MPIBlockDiag(ops=[operator(sq[rank])])
    for x0 in ("zero", "random"):
        mpi("cg", sq, Op, scatter_blocks(store.rand("y", dt, sum(n)), n),
            scatter_blocks(start(x0, dt, sum(n)), n), pylops_mpi.cg, dict(op="BlockDiag", x0=x0))
    ls = [tall(f"A{r}", dt, 9 + r, 6 + r) for r in range(size)]
    rows, cols = [b.shape[0] for b in ls], [b.shape[1] for b in ls]
    Op = pylops_mpi.MPIBlockDiag(ops=[operator(ls[rank])])
    vs = [tall(f"V{r}", dt, 9 + r, 7) for r in range(size)]
    vrows = [b.shape[0] for b in vs]
    V = pylops_mpi.MPIVStack(ops=[operator(vs[rank])])
    for x0, damp in (("zero", 0.0), ("zero", 0.7), ("random", 0.0), ("random", 1.0), ("random", 0.7)):
        p = dict(x0=x0, damp=damp)
        mpi("cgls", ls, Op, scatter_blocks(store.rand("y", dt, sum(rows)), rows),
            scatter_blocks(start(x0, dt, sum(cols)), cols), pylops_mpi.cgls, dict(op="BlockDiag", **p), damp=damp)
        mpi("cgls", vs, V, scatter_blocks(store.rand("y", dt, sum(vrows)), vrows),
            broadcast(start(x0, dt, 7)), pylops_mpi.cgls, dict(op="VStack", **p), damp=damp)


if __name__ == "__main__":
    if sys.argv[1] == "merge":
        store.merge(sys.argv[2:], HERE)
        sys.exit()
    if len(sys.argv) > 2 and sys.argv[2] == "mpi":
        import mpi_common
        from mpi_common import part, rank, run

        mpi_common.LIMIT = 120  # a loaded machine may need it
        for dt in store.DTYPES:
            run(functools.wraps(parallel)(functools.partial(parallel, part, dt)))
        if rank != 0:
            sys.exit()
    else:
        part = store.Part("pylops", 0)
        serial(part)
    part.write(sys.argv[1])
    print(f"{len(part.cases)} cases")
