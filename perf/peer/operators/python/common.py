"""What the cases share."""

import numpy as np


def values(n, first, seed, dtype):
    """Elements of array number seed; job.go has the same formula."""
    i = np.arange(first, first + n, dtype=np.int64)
    return ((i * 7919 + seed * 104729) % 1009 / 1009 - 0.5).astype(dtype)


def matrix(case, number=0):
    """Matrix of a stack, or the only one; the last two of three numbers, or both, are its shape."""
    rows, cols = case["shape"][-2:]
    return values(rows * cols, number * rows * cols, 4, case["type"]).reshape(rows, cols)


def filters(case):
    """The filters of a non-stationary convolution and their places."""
    ih = np.arange(case["step"] // 2, case["shape"][case["axis"]], case["step"])
    hs = values(len(ih) * case["length"], 0, 4, case["type"]).reshape(len(ih), case["length"])
    return hs, ih
