"""Cases of the algebra of operators, on small matrices."""

import numpy as np
import pylops

from serial import part, store
from store import DTYPES, is_complex, rand


def algebra():
    for dt in DTYPES:
        A, B = rand("A", dt, (5, 4)), rand("B", dt, (5, 4))
        C, S = rand("C", dt, (4, 6)), rand("S", dt, (5, 5))
        MA, MB, MC, MS = (pylops.MatrixMult(M, dtype=dt) for M in (A, B, C, S))
        alpha = 2 - 0.5j if is_complex(dt) else 2.0

        def put(what, expr, Op, params=None, **extra):
            store(f"algebra.{what}", "matrix", Op, dt, dict(expr=expr, **(params or {})), extra)

        put("H", "A.H", MA.H, A=A)
        put("T", "A.T", MA.T, A=A)
        put("conj", "A.conj()", MA.conj(), A=A)
        put("neg", "-A", -MA, A=A)
        put("add", "A + B", MA + MB, A=A, B=B)
        put("sub", "A - B", MA - MB, A=A, B=B)
        put("scale", "alpha * A", alpha * MA, dict(alpha=alpha), A=A)
        put("scaleH", "(alpha * A).H", (alpha * MA).H, dict(alpha=alpha), A=A)
        put("mul", "A * C", MA * MC, A=A, C=C)
        put("pow", "S ** n", MS**2, dict(n=2), A=S)
        put("pow3", "S ** n", MS**3, dict(n=3), A=S)
        put("normal", "A.H * A", MA.H * MA, A=A)


def stacks():
    for dt in DTYPES:
        def mats(*shapes):
            return [rand(f"A{i}", dt, s) for i, s in enumerate(shapes)]

        def ops(As):
            return [pylops.MatrixMult(A, dtype=dt) for A in As]

        As = mats((3, 4), (2, 4), (5, 4))
        store("VStack", "3", pylops.VStack(ops(As), dtype=dt), dt, dict(n=3), {f"A{i}": A for i, A in enumerate(As)})
        As = mats((4, 3), (4, 2), (4, 5))
        store("HStack", "3", pylops.HStack(ops(As), dtype=dt), dt, dict(n=3), {f"A{i}": A for i, A in enumerate(As)})
        As = mats((3, 4), (2, 5), (4, 1))
        store("BlockDiag", "3", pylops.BlockDiag(ops(As), dtype=dt), dt, dict(n=3), {f"A{i}": A for i, A in enumerate(As)})
        rows, cols = (3, 2), (4, 1, 2)
        As = [[rand(f"A{i}{j}", dt, (r, c)) for j, c in enumerate(cols)] for i, r in enumerate(rows)]
        extra = {f"A{i}_{j}": A for i, row in enumerate(As) for j, A in enumerate(row)}
        store("Block", "2x3", pylops.Block([ops(row) for row in As], dtype=dt), dt, dict(rows=2, cols=3), extra)


def dense():
    """todense, trace and cond, of a matrix and of a derivative."""
    for dt in DTYPES:
        A, S = rand("A", dt, (5, 4)), rand("S", dt, (5, 5))
        MA, MS = pylops.MatrixMult(A, dtype=dt), pylops.MatrixMult(S, dtype=dt)
        matrix = dict(op="MatrixMult")
        p = dict(sampling=1.0, kind="centered", edge=True, order=5)
        D = pylops.FirstDerivative(6, dtype=dt, **p)
        p["op"] = "FirstDerivative"
        part.add("algebra.todense", "matrix", dt, matrix, dict(A=A, dense=MA.todense()), (4,), (5,))
        part.add("algebra.todense", "derivative", dt, p, dict(dense=D.todense()), (6,), (6,))
        part.add("algebra.trace", "matrix", dt, matrix, dict(A=S, trace=MS.trace()), (5,), (5,))
        part.add("algebra.trace", "derivative", dt, p, dict(trace=D.trace(method="explicit")), (6,), (6,))
    # PyLops takes the ratio of eigenvalues, which is the condition number of a
    # Hermitian matrix; of an oblong one it takes the singular values.
    for dt in ("float64", "complex128"):
        S = rand("S", dt, (5, 5))
        P = S.conj().T @ S + np.eye(5)
        A = rand("A", dt, (7, 5))
        for var, M in (("definite", P), ("oblong", A)):
            c = pylops.MatrixMult(M, dtype=dt).cond(v0=np.ones(5, dt), tol=1e-14)
            # What the iteration leaves beyond ten digits may change with the machine.
            c = np.float64(f"{np.real(c):.10e}")
            part.add("algebra.cond", var, dt, dict(op="MatrixMult"), dict(A=M, cond=c), (M.shape[1],), (M.shape[0],))
