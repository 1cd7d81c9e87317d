"""Writes golden.json: values, proxes and dual proxes of pyproximal, and optima of a convex solver.

    make_prox.py FILE

Names are those of package prox. Where pyproximal has no prox by the definition, the
case takes parameters with which both are the same; docs/pylops.md says why.
"""

import json
import sys
import zlib

import cvxpy
import numpy as np
import pylops
import pyproximal

TAU = 0.6


def rand(tag, shape, cplx=False):
    rng = np.random.Generator(np.random.PCG64(zlib.crc32(tag.encode())))
    a = 2 * rng.standard_normal(shape)
    return a + 2j * rng.standard_normal(shape) if cplx else a


def numbers(a):
    a = np.asarray(a).ravel()
    if np.iscomplexobj(a):
        return {"re": a.real.tolist(), "im": a.imag.tolist()}
    return {"re": a.astype(float).tolist()}


cases = []


def case(name, shape, f, params=None, arrays=None, tau=TAU, theirs=TAU, value=True, dual=True, tol=1e-12, cplx=False, factor=1.0):
    """One case. tau is our step and theirs that of pyproximal, factor our value over theirs."""
    x = rand(name + str(shape), shape, cplx)
    p = f.prox(x.ravel().copy(), theirs)
    c = {"name": name, "by": "pyproximal", "dims": list(shape), "tau": tau, "tol": tol, "params": params or {}, "x": numbers(x), "prox": numbers(p)}
    c["arrays"] = {k: numbers(v) for k, v in (arrays or {}).items()}
    if value:
        v = f(p.ravel())
        c["value"] = (0.0 if v else "Inf") if isinstance(v, (bool, np.bool_)) else factor * float(v)
    if dual:
        c["dual"] = numbers(f.proxdual(x.ravel().copy(), theirs))
    cases.append(c)


def elementwise(cplx):
    s = (3, 7)
    tag = {"cplx": cplx}
    # pyproximal's threshold of L0 is τσ, not √(2τσ), and its value leaves sigma out.
    case("L0", s, pyproximal.L0(sigma=0.8), {"sigma": 0.8}, theirs=np.sqrt(2 * TAU * 0.8) / 0.8, dual=False, factor=0.8, **tag)
    case("L1", s, pyproximal.L1(sigma=0.8), {"sigma": 0.8}, dual=not cplx, **tag)
    case("L2", s, pyproximal.L2(sigma=0.8), {"sigma": 0.8}, **tag)
    b = rand("b", s, cplx)
    case("L2", s, pyproximal.L2(sigma=0.8, b=b.ravel()), {"sigma": 0.8}, {"b": b}, **tag)
    case("Euclidean", s, pyproximal.Euclidean(sigma=1.4), {"sigma": 1.4}, **tag)
    case("EuclideanBall", s, pyproximal.EuclideanBall(b.ravel(), 2.0), {"radius": 2.0}, {"center": b}, value=False, **tag)
    case("L1Ball", s, pyproximal.L1Ball(21, 4.5, maxiter=200, xtol=1e-13), {"radius": 4.5}, tol=1e-9, value=False, **tag)
    case("L0Ball", s, pyproximal.L0Ball(5), {"radius": 5}, dual=False, **tag)
    case("L21", (3, 2, 4), pyproximal.L21(3, sigma=0.9), {"sigma": 0.9}, **tag)


elementwise(False)
elementwise(True)
s = (3, 7)
case("Log", s, pyproximal.Log(sigma=0.9, gamma=1.3), {"sigma": 0.9, "gamma": 1.3}, dual=False)
case("Box", s, pyproximal.Box(-0.5, 1.5), {"lower": -0.5, "upper": 1.5})
w = rand("w", s)
case("HalfSpace", s, pyproximal.HalfSpace(w.ravel(), -20.0), {"b": -20.0}, {"w": w}, value=False)
case("Simplex", s, pyproximal.Simplex(21, 3.0, maxiter=200, xtol=1e-13, engine="numpy"), {"radius": 3.0}, tol=1e-9, value=False, dual=False)
case("Nuclear", (5, 4), pyproximal.Nuclear((5, 4), sigma=1.2), {"sigma": 1.2}, tol=1e-11)
case("NuclearBall", (4, 6), pyproximal.NuclearBall((4, 6), 5.0, maxiter=200, xtol=1e-13), {"radius": 5.0}, tol=1e-9, value=False)
v, b = rand("v", s), rand("pre", s)
l1 = pyproximal.L1(sigma=0.8)
case("Scale", s, l1.postcomposition(1.7), {"sigma": 1.7, "inner": 0.8})
case("Precompose", s, l1.precomposition(-1.5, b.ravel()), {"a": -1.5, "inner": 0.8}, {"b": b})
case("AddLinear", s, l1.affine_addition(v.ravel()), {"inner": 0.8}, {"v": v})
case("Translate", s, pyproximal.L1(sigma=0.8, g=b.ravel()), {"inner": 0.8}, {"b": b})
d = rand("d", s)
case("L2Diagonal", s, pyproximal.L2(Op=pylops.Diagonal(d.ravel()), b=b.ravel(), sigma=0.8, niter=500, solver="cg", warm=False, kwargs_solver={"tol": 0}), {"sigma": 0.8}, {"d": d, "b": b}, tol=1e-9)
der = pylops.FirstDerivative(s, axis=0)
case("L2Operator", s, pyproximal.L2(Op=der, b=b.ravel(), sigma=0.8, niter=500, solver="cg", warm=False, kwargs_solver={"tol": 0}), {"sigma": 0.8}, {"b": b}, tol=1e-9)
case("Quadratic", s, pyproximal.Quadratic(Op=pylops.MatrixMult(np.diag(d.ravel() ** 2)), b=b.ravel(), c=1.5), {"c": 1.5}, {"d": d, "b": b}, tol=1e-9)
case("AffineSet", s, pyproximal.AffineSet(pylops.MatrixMult(np.diag(d.ravel())), b.ravel(), 500), {}, {"d": d, "b": b}, tol=1e-4, value=False, dual=False)
case("Orthogonal", s, pyproximal.Orthogonal(l1, 2 * pylops.Identity(21), partial=True, b=b.ravel(), alpha=4.0), {"inner": 0.8}, {"b": b})
for dims in [(23,), (6, 7), (4, 3, 5)]:
    # Its iteration nears the optimum slowly, and its rtol must not stop it.
    case("TV", dims, pyproximal.TV(dims, sigma=0.8, niter=20000, rtol=0), {"sigma": 0.8}, tol=1e-4, dual=False)


def optimum(name, x, z, cost, constraints=(), params=None):
    """A prox by a convex solver: the z that makes cost + |z - x|²/2τ least."""
    cvxpy.Problem(cvxpy.Minimize(cost + cvxpy.sum_squares(z - x) / (2 * TAU)), list(constraints)).solve(
        solver=cvxpy.CLARABEL, tol_gap_abs=1e-13, tol_gap_rel=1e-13, tol_feas=1e-13)
    cases.append({"name": name, "by": "cvxpy", "dims": list(x.shape), "tau": TAU, "tol": 2e-6, "params": params, "arrays": {}, "x": numbers(x), "prox": numbers(z.value)})


x = rand("cvx", (5, 6))
z = cvxpy.Variable((5, 6))
optimum("L1", x, z, 0.8 * cvxpy.sum(cvxpy.abs(z)), params={"sigma": 0.8})
optimum("L1Ball", x, z, 0, [cvxpy.sum(cvxpy.abs(z)) <= 4.5], params={"radius": 4.5})
optimum("Simplex", x, z, 0, [z >= 0, cvxpy.sum(z) == 3], params={"radius": 3})
optimum("Huber", x, z, cvxpy.sum(cvxpy.huber(z, 0.7)) / 1.4, params={"alpha": 0.7})
optimum("Nuclear", x, z, 1.2 * cvxpy.normNuc(z), params={"sigma": 1.2})
down = cvxpy.vstack([z[1:] - z[:-1], np.zeros((1, 6))])
across = cvxpy.hstack([z[:, 1:] - z[:, :-1], np.zeros((5, 1))])
optimum("TV", x, z, 0.8 * cvxpy.sum(cvxpy.norm(cvxpy.vstack([cvxpy.vec(down, order="C"), cvxpy.vec(across, order="C")]), 2, axis=0)), params={"sigma": 0.8})
line = rand("line", (24,))
z1 = cvxpy.Variable(24)
optimum("TV", line, z1, 0.8 * cvxpy.tv(z1), params={"sigma": 0.8})

with open(sys.argv[1], "w") as f:
    f.write("[\n" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases) + "\n]\n")
