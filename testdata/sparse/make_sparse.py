"""Writes the sparse solvers of PyLops and PyLops-MPI: make_sparse.py PART, or mpirun
-n RANKS make_sparse.py PART mpi for PyLops-MPI; make_sparse.py merge PARTS puts parts
together in this folder.

Results are those after ITERS iterations, with tolerances that never stop a solver:
"x1" is the model after one. "cost" is what the solver has as such after the last.
"""

import functools
import sys
from pathlib import Path

import numpy as np
import pylops
from pylops.optimization.cls_sparsity import FISTA, IRLS, ISTA, OMP, SplitBregman

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "golden"))
import store  # noqa: E402

ITERS = (1, 2, 5, 10)
DTYPES = ("float64", "complex128")


def matrix(tag, dt, rows, cols, noise=0.5):
    a = np.eye(rows, cols) + noise * store.rand(tag, "complex128", (rows, cols)) / np.sqrt(rows)
    return (a if store.is_complex(dt) else a.real).astype(dt)


def operator(a):
    return pylops.MatrixMult(a, dtype=a.dtype)


def runs(f):
    out = {}
    for k in ITERS:
        x, cost = f(k)
        out[f"x{k}"] = x
    return dict(out, cost=np.array(cost, dtype="float64"))


def shrinkage(part, dt):
    rows, cols = 14, 18
    a, y = matrix("A", dt, rows, cols), 3 * store.rand("y", dt, rows)
    q = np.linalg.qr(matrix("Q", dt, cols, cols))[0].astype(dt)
    alpha = float(0.9 / np.linalg.norm(a, 2) ** 2)
    decay = list(np.linspace(2, 1, ITERS[-1]))
    for solver in (ISTA, FISTA):
        for kind in ("soft", "hard", "half"):
            for variant in ("zero", "random", "decay", "SOp", "perc"):
                p = dict(threshkind=kind, eps=0.3, alpha=alpha)
                arrays = dict(A=a, y=y, x0=np.zeros(cols, dt))
                kw = dict(eps=0.3)
                if variant == "random":
                    arrays["x0"] = store.rand("x0", dt, cols)
                if variant == "decay":
                    p["decay"] = decay
                if variant == "SOp":
                    arrays["S"] = q
                    kw["SOp"] = operator(q)
                if variant == "perc":
                    p["perc"] = 30.3
                    kw.update(perc=30.3)

                def go(k):
                    s = solver(operator(a))
                    d = dict(decay=np.array(decay[:k])) if variant == "decay" else {}
                    thresh = kind + ("-percentile" if variant == "perc" else "")
                    x, _, cost = s.solve(y, x0=arrays["x0"].copy(), niter=k, alpha=alpha, threshkind=thresh, tol=0.0, **kw, **d)
                    return x, cost
                part.add(solver.__name__, f"{kind}-{variant}", a.dtype, p, dict(arrays, **runs(go)))


def bregman(part, dt):
    rows, cols = 20, 16
    a, y = matrix("B", dt, rows, cols), store.rand("y", dt, rows)
    r1, r2 = matrix("R1", dt, 15, cols), matrix("R2", dt, 10, cols)
    d2 = store.rand("d2", dt, 10)
    for variant in ("L1", "L1-L2", "inner", "random"):
        p = dict(mu=1.5, tau=0.8, epsL1=[0.4], inner=3 if variant == "inner" else 1, steps=6, epsL2=[])
        arrays = dict(A=a, y=y, R0=r1, x0=np.zeros(cols, dt))
        l2 = {}
        if variant == "L1-L2":
            arrays.update(R1=r2, d1=d2)
            p["epsL2"] = [0.7]
            l2 = dict(RegsL2=[operator(r2)], dataregsL2=[d2], epsRL2s=[0.7])
        if variant == "random":
            arrays["x0"] = store.rand("x0", dt, cols)

        def go(k):
            s = SplitBregman(operator(a))
            x, _, cost = s.solve(y, [operator(r1)], x0=arrays["x0"].copy(), niter_outer=k, niter_inner=p["inner"],
                                 mu=1.5, epsRL1s=[0.4], tau=0.8, tol=-1.0, engine="scipy", iter_lim=p["steps"],
                                 atol=0.0, btol=0.0, conlim=0.0, **l2)
            return x, cost
        part.add("SplitBregman", variant, a.dtype, p, dict(arrays, **runs(go)))


def reweighted(part, dt):
    rows, cols = 20, 12
    a, y = matrix("I", dt, rows, cols), store.rand("y", dt, rows)
    u, z = matrix("U", dt, 10, 16), store.rand("z", dt, 10)
    for kind, thresh in (("data", False), ("data", True), ("model", False), ("datamodel", False)):
        m, b = (u, z) if kind == "model" else (a, y)

        def go(k):
            s = IRLS(operator(m))
            x, _ = s.solve(b, np.zeros(m.shape[1], dt), nouter=k, threshR=thresh, epsR=0.05, epsI=0.1, kind=kind,
                           tolIRLS=0.0, engine="pylops", niter=40, tol=0.0)
            return x, s.cost
        part.add("IRLS", f"{kind}-{thresh}", m.dtype, dict(kind=kind, threshR=thresh, epsR=0.05, epsI=0.1), dict(A=m, y=b, **runs(go)))


def pursuit(part, dt):
    rows, cols = 20, 30
    a = store.rand("O", dt, (rows, cols))
    truth = np.zeros(cols, dt)
    truth[[3, 8, 17, 22]] = [4, -2, 3, 1.5]
    y = a @ truth + 0.1 * store.rand("n", dt, rows)
    for variant, kw in (("MP", dict(niter_inner=0, normalizecols=True, optimal_coeff=True)), ("OMP", dict(niter_inner=40)),
                        ("normalised", dict(niter_inner=40, normalizecols=True))):
        def go(k):
            s = OMP(operator(a))
            x, _, cost = s.solve(y, niter_outer=k, sigma=0.0, engine="scipy", **kw)
            return x, cost
        part.add("OMP", variant, a.dtype, dict(inner=kw["niter_inner"], normalise="normalizecols" in kw), dict(A=a, y=y, **runs(go)))


def serial(part):
    for dt in DTYPES:
        shrinkage(part, dt)
        bregman(part, dt)
        reweighted(part, dt)
        pursuit(part, dt)


def parallel(part, dt):
    """PyLops-MPI of one element type, whose results are those of all ranks in turn."""
    import pylops_mpi
    from mpi_common import broadcast, rank, scatter_blocks, size

    blocks = [matrix(f"A{r}", dt, 9 + r, 6 + r) for r in range(size)]
    rows, cols = [b.shape[0] for b in blocks], [b.shape[1] for b in blocks]
    stack = [matrix(f"V{r}", dt, 9 + r, 7) for r in range(size)]
    srows = [b.shape[0] for b in stack]
    for name, mats, Op, n, x0 in (
            ("BlockDiag", blocks, pylops_mpi.MPIBlockDiag(ops=[operator(blocks[rank])]), rows,
             lambda: scatter_blocks(np.zeros(sum(cols), dt), cols)),
            ("VStack", stack, pylops_mpi.MPIVStack(ops=[operator(stack[rank])]), srows, lambda: broadcast(np.zeros(7, dt)))):
        y = scatter_blocks(3 * store.rand("y", dt, sum(n)), n)
        whole = np.vstack(mats) if name == "VStack" else mats[0]
        alpha = float(0.5 / max(np.linalg.norm(m, 2) ** 2 for m in mats + [whole]))
        for solver in (pylops_mpi.ista, pylops_mpi.fista):
            for kind in ("soft", "hard"):
                xs, cost = {}, None
                for k in ITERS:
                    res = solver(Op, y, x0=x0(), niter=k, eps=0.3, alpha=alpha, threshkind=kind, tol=0.0)
                    xs[f"x{k}"], cost = res[0].asarray(), res[2]
                ys, s = y.asarray(), x0().asarray()
                if rank == 0:
                    arrays = {f"A_rank{r}_0": b for r, b in enumerate(mats)}
                    part.add(solver.__name__.upper(), f"{name}-{kind}", mats[0].dtype, dict(op=name, threshkind=kind, eps=0.3, alpha=alpha),
                             dict(arrays, y=ys, x0=s, cost=np.array(cost, dtype="float64"), **xs))


if __name__ == "__main__":
    if sys.argv[1] == "merge":
        store.merge(sys.argv[2:], HERE)
        sys.exit()
    if len(sys.argv) > 2 and sys.argv[2] == "mpi":
        import mpi_common
        from mpi_common import part, rank, run

        mpi_common.LIMIT = 120  # a loaded machine may need it
        for dt in DTYPES:
            run(functools.wraps(parallel)(functools.partial(parallel, part, dt)))
        if rank != 0:
            sys.exit()
    else:
        part = store.Part("pylops", 0)
        serial(part)
    part.write(sys.argv[1])
    print(f"{len(part.cases)} cases")
