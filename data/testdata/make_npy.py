"""Writes the .npy and .npz files that the tests of package data read.

    python -m venv v && v/bin/pip install numpy==2.4.6
    v/bin/python data/testdata/make_npy.py

Element i of every array, counted in C order, is the same simple number, so
that the tests can say what they want without reading anything else:
real types hold i - 3, complex ones (i - 3) + (i / 2) j, unsigned ones i,
truth values i % 2. Members of types.npz are named type-order-byteorder.
"""

import pathlib

import numpy as np
from numpy.lib import format as npy

here = pathlib.Path(__file__).parent
shape = (2, 3, 4)


def values(dtype, n):
    i = np.arange(n)
    kind = np.dtype(dtype).kind
    if kind == "c":
        return ((i - 3) + 0.5j * i).astype(dtype)
    if kind == "b":
        return (i % 2).astype(dtype)
    if kind == "u":
        return i.astype(dtype)
    return (i - 3).astype(dtype)


def main():
    types = {}
    for name in "f4 f8 c8 c16 i1 i2 i4 i8 u1 u2 u4 u8 b1".split():
        one = np.dtype(name).itemsize == 1
        for end, word in [("|", "any")] if one else [("<", "little"), (">", "big")]:
            a = values(end + name, 24).reshape(shape)
            types[f"{name}-C-{word}"] = a
            types[f"{name}-F-{word}"] = np.asfortranarray(a)
    np.savez(here / "types.npz", **types)

    a = values("<f8", 24).reshape(shape)
    for version in (2, 3):
        with open(here / f"version{version}.npy", "wb") as f:
            npy.write_array(f, a, version=(version, 0))

    np.save(here / "scalar.npy", np.float64(42))
    np.save(here / "vector.npy", values("<f4", 5))
    np.save(here / "empty.npy", np.zeros((3, 0, 2), "<f4"))
    np.save(here / "nan.npy", np.array([np.nan, np.inf, -np.inf, -0.0, 1e300, 1e-320, 5e-324], "<f8"))
    np.save(here / "record.npy", np.zeros(3, dtype=[("a", "<f4"), ("b", "<i4")]))
    np.save(here / "text.npy", np.array(["a", "bc"]))
    np.save(here / "half.npy", np.zeros(3, "<f2"))

    members = {
        "velocity": values("<f4", 6).reshape(2, 3),
        "sources": np.asfortranarray(values("<f8", 6).reshape(3, 2)),
        "spectrum": values("<c8", 4),
        "names": np.array(["a", "bc"]),
        "count": np.int64(7),
    }
    np.savez(here / "plain.npz", **members)
    np.savez_compressed(here / "compressed.npz", **members)


main()
