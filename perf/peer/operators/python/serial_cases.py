"""The operators of PyLops, as a user calls them."""

import numpy as np
import pylops
from pylops.signalprocessing import Convolve1D

from common import matrix, values


def both(Op, case):
    """Forward and adjoint."""
    x = values(Op.shape[1], 0, 1, case["type"])
    u = values(Op.shape[0], 0, 2, case["type"])
    return [(lambda: Op.matvec(x), np.asarray), (lambda: Op.rmatvec(u), np.asarray)]


def diagonal(dims, case):
    return pylops.Diagonal(values(np.prod(dims), 0, 4, case["type"]).reshape(dims), dtype=case["type"])


def diagonal_along(dims, case):
    d = values(dims[case["axis"]], 0, 4, case["type"])
    return pylops.Diagonal(d, dims=dims, axis=case["axis"], dtype=case["type"])


def restriction(dims, case):
    return pylops.Restriction(dims, np.arange(0, dims[case["axis"]], 3), axis=case["axis"], dtype=case["type"])


def spread(dims, case):
    nx0, nt, nx = dims
    x0, t0, x = np.ogrid[:nx0, :nt, :nx]
    return pylops.Spread((nx0, nt), (nx, nt), table=(t0 + x0 * x) % nt, dtype=case["type"])


def matrix_otherdims(dims, case):
    A = matrix(dict(case, shape=dims[:2]))
    return pylops.MatrixMult(A, otherdims=(dims[2],), dtype=case["type"])


OPERATORS = {
    "FirstDerivative": lambda dims, c: pylops.FirstDerivative(
        dims, axis=c["axis"], kind=c["kind"], order=c["order"] or 3, dtype=c["type"]),
    "SecondDerivative": lambda dims, c: pylops.SecondDerivative(dims, axis=c["axis"], kind=c["kind"], dtype=c["type"]),
    # In place it would return its argument, and copy nothing.
    "Identity": lambda dims, c: pylops.Identity(int(np.prod(dims)), inplace=False, dtype=c["type"]),
    "Zero": lambda dims, c: pylops.Zero(int(np.prod(dims)), dtype=c["type"]),
    "Diagonal": diagonal,
    "Diagonal along": diagonal_along,
    "Restriction": restriction,
    "Transpose": lambda dims, c: pylops.Transpose(dims, (1, 0), dtype=c["type"]),
    "Flip": lambda dims, c: pylops.Flip(dims, axis=c["axis"], dtype=c["type"]),
    "Roll": lambda dims, c: pylops.Roll(dims, axis=c["axis"], shift=7, dtype=c["type"]),
    "Pad": lambda dims, c: pylops.Pad(dims, ((10, 30), (20, 0)), dtype=c["type"]),
    "Sum": lambda dims, c: pylops.Sum(dims, axis=c["axis"], dtype=c["type"]),
    "Symmetrize": lambda dims, c: pylops.Symmetrize(dims, axis=c["axis"], dtype=c["type"]),
    "CausalIntegration": lambda dims, c: pylops.CausalIntegration(dims, axis=c["axis"], kind=c["kind"], dtype=c["type"]),
    "Smoothing1D": lambda dims, c: pylops.Smoothing1D(c["length"], dims, axis=c["axis"], dtype=c["type"]),
    "Smoothing2D": lambda dims, c: pylops.Smoothing2D((c["length"], c["length"]), dims, dtype=c["type"]),
    "Convolve1D": lambda dims, c: Convolve1D(
        dims, values(c["length"], 0, 4, c["type"]), offset=c["length"] // 2, axis=c["axis"], dtype=c["type"]),
    "Spread": spread,
    "Regression": lambda dims, c: pylops.Regression(values(dims[0], 0, 4, c["type"]), c["order"], dtype=c["type"]),
    "LinearRegression": lambda dims, c: pylops.LinearRegression(values(dims[0], 0, 4, c["type"]), dtype=c["type"]),
    "MatrixMult": lambda dims, c: pylops.MatrixMult(matrix(c), dtype=c["type"]),
    "MatrixMult otherdims": matrix_otherdims,
}

CASES = {name: lambda c, make=make: both(make(tuple(c["shape"]), c), c) for name, make in OPERATORS.items()}
