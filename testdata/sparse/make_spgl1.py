"""Writes spgl1.json beside this file: x of Python's spgl1 0.0.3 for small problems, by
pip install spgl1. Complex numbers are pairs."""

import json
from pathlib import Path

import numpy as np
import spgl1

rng = np.random.default_rng(5)


def numbers(v):
    v = np.asarray(v).ravel()
    return [[float(z.real), float(z.imag)] for z in v]


cases = []
for kind in ("float64", "complex128"):
    rows, cols = 12, 24

    def rand(*n):
        return rng.standard_normal(n) + (1j * rng.standard_normal(n) if kind == "complex128" else 0)

    a = rand(rows, cols)
    x = np.zeros(cols, a.dtype)
    x[[2, 9, 17]] = [3, -2, 1]
    clean, noise = a @ x, 0.05 * rand(rows)
    for sigma in (0.4, 0):
        b = clean + (noise if sigma else 0)  # basis pursuit of noise takes thousands of steps
        x, r, _, info = spgl1.spg_bpdn(a, b, sigma, opt_tol=1e-11, bp_tol=1e-11, ls_tol=1e-13, dec_tol=1e-9, iter_lim=100000, iscomplex=kind == "complex128")
        print(kind, sigma, info["stat"], np.linalg.norm(r), np.abs(x).sum(), info["niters"])
        cases.append(dict(dtype=kind, rows=rows, cols=cols, sigma=sigma, A=numbers(a), b=numbers(b), x=numbers(x)))
out = Path(__file__).with_name("spgl1.json")
out.write_text("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")
