"""Solves random systems with SciPy and writes how well it did.

    python make_scipy.py COUNT FILE [FIRST]

System number i is made from i alone, here and in solve/scipy_test.go, by the same
arithmetic: only SciPy's numbers are in the file. Each line is

    number  norm of A  norm of b  then target, norm of x and steps for each peer

Peers of least squares are lsqr and lsmr, of Hermitian systems minres and, if the
matrix is definite, cg. All run in the element type of the system, to its rounding
(atol, btol, rtol) and up to 100 times the iterations that exact numbers need. minres
takes no complex numbers: it gets the real matrix of twice the size. The target is
the root of |Ax - b|^2 + damp^2 |x|^2, worked out in 64 bits.
"""
import math
import sys
import warnings

import numpy as np
from scipy.sparse.linalg import cg, lsmr, lsqr, minres

MASK = (1 << 64) - 1
TYPES = [np.float32, np.float64, np.complex64, np.complex128]


class Random:
    """SplitMix64."""

    def __init__(self, seed):
        self.s = seed & MASK

    def next(self):
        self.s = (self.s + 0x9E3779B97F4A7C15) & MASK
        z = self.s
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)

    def unit(self):  # from 0 to 1
        return (self.next() >> 11) / (1 << 53)

    def number(self, cplx):  # real and imaginary part from -1 to 1
        re = 2 * self.unit() - 1
        return complex(re, 2 * self.unit() - 1 if cplx else 0)

    def vector(self, n, cplx):
        return [self.number(cplx) for _ in range(n)]

    def below(self, n):
        return self.next() % n


def reflect(rows, v):
    """rows = (I - 2 v v^H / v^H v) rows, for a list of rows."""
    vv = sum(x.real * x.real + x.imag * x.imag for x in v)
    for j in range(len(rows[0])):
        s = 0j
        for i in range(len(v)):
            s += v[i].conjugate() * rows[i][j]
        s *= 2 / vv
        for i in range(len(v)):
            rows[i][j] -= v[i] * s


def adjoint(rows):
    return [[rows[i][j].conjugate() for i in range(len(rows))] for j in range(len(rows[0]))]


def system(number):
    r = Random(number)
    dtype = TYPES[number % 4]
    cplx = number % 4 >= 2
    shape = ["square", "tall", "wide", "hermitian"][number // 4 % 4]
    k = 4 + r.below(17)
    more = 1 + r.below(20)
    m, n = {"square": (k, k), "tall": (k + more, k), "wide": (k, k + more), "hermitian": (k, k)}[shape]
    sort = number // 16 % 4
    reach = 14 * r.unit() if sort != 0 else 3 * r.unit()  # log10 of the condition
    rank = k - 1 - r.below(k - 1) if sort == 3 else k
    damp = math.pow(10, 9 * r.unit() - 6)
    if sort != 1 or shape == "hermitian":
        damp = 0.0
    if sort == 3:
        reach = 3 * r.unit()
    a = [[0j] * n for _ in range(m)]
    for i in range(rank):
        a[i][i] = complex(math.pow(10, -reach * i / max(rank - 1, 1)), 0)
        if shape == "hermitian" and (sort == 2 or sort == 3 and number // 64 % 2 == 1) and r.below(2) == 1:
            a[i][i] = -a[i][i]
    us = [r.vector(m, cplx) for _ in range(3)]
    vs = [r.vector(n, cplx) for _ in range(3)] if shape != "hermitian" else us
    for v in us:
        reflect(a, v)
    a = adjoint(a)
    for v in vs:
        reflect(a, v)
    a = adjoint(a)
    if shape == "hermitian":
        a = [[(a[i][j] + a[j][i].conjugate()) / 2 for j in range(n)] for i in range(m)]
    x = r.vector(n, cplx)
    b = r.vector(m, cplx)
    if r.below(2) == 0:  # in reach of A
        for i in range(m):
            s = 0j
            for j in range(n):
                s += a[i][j] * x[j]
            b[i] = s
    a, b = np.array(a), np.array(b)
    if not cplx:
        a, b = a.real, b.real
    definite = shape == "hermitian" and sort < 2
    return a.astype(dtype), b.astype(dtype), damp, shape == "hermitian", definite, 100 * k


def embed(a, b):
    if not np.iscomplexobj(a):
        return a, b
    return np.block([[a.real, -a.imag], [a.imag, a.real]]), np.concatenate([b.real, b.imag])


def count(steps):
    def one(_):
        steps[0] += 1

    return one


def peers(number):
    a, b, damp, hermitian, definite, limit = system(number)
    eps = np.finfo(a.dtype).eps
    out = []
    if hermitian:
        ea, eb = embed(a, b)
        steps = [0]
        x, _ = minres(ea, eb, rtol=eps, maxiter=limit, callback=count(steps))
        if np.iscomplexobj(a):
            x = x[: len(b)] + 1j * x[len(b) :]
        out.append((x, steps[0]))
        if definite:
            steps = [0]
            x, _ = cg(a, b, rtol=eps, maxiter=limit, callback=count(steps))
            out.append((x, steps[0]))
    else:
        x = lsqr(a, b, damp=damp, atol=eps, btol=eps, conlim=1 / eps, iter_lim=limit)
        out.append((x[0], x[2]))
        x = lsmr(a, b, damp=damp, atol=eps, btol=eps, conlim=1 / eps, maxiter=limit)
        out.append((x[0], x[2]))
    wide = np.complex128 if np.iscomplexobj(a) else np.float64
    a, b = a.astype(wide), b.astype(wide)
    row = [number, np.linalg.norm(a), np.linalg.norm(b)]
    for x, steps in out:
        x = x.astype(wide)
        size = np.linalg.norm(x)
        row += [math.hypot(np.linalg.norm(b - a @ x), damp * size), size, steps]
    return row


def main():
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    with open(sys.argv[2], "w") as f:
        first = int(sys.argv[3]) if len(sys.argv) > 3 else 0
        for number in range(first, first + int(sys.argv[1])):
            row = peers(number)
            f.write("%d %s\n" % (row[0], " ".join("%.9g" % v for v in row[1:])))


if __name__ == "__main__":
    main()
