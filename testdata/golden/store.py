"""Collects golden cases in parts, and merges parts into .npz files and a manifest.

A part is what one program wrote: the serial one, or the MPI one on some number
of ranks. The merge gives equal arrays one key, so that results which do not
depend on the number of ranks are stored once.
"""

import io
import json
import pickle
import sys
import zipfile
import zlib
from pathlib import Path

import numpy as np

DTYPES = ("float32", "float64", "complex64", "complex128")


def is_complex(dtype):
    return np.dtype(dtype).kind == "c"


def real_of(dtype):
    """The real type of the same precision."""
    return np.zeros(0, dtype).real.dtype.name


def rand(tag, dtype, shape):
    """Normal numbers that depend on tag, dtype and shape alone."""
    shape = tuple(np.atleast_1d(shape).tolist())
    seed = zlib.crc32(f"{tag}|{np.dtype(dtype).name}|{shape}".encode())
    rng = np.random.Generator(np.random.PCG64(seed))
    a = rng.standard_normal(shape)
    if is_complex(dtype):
        a = a + 1j * rng.standard_normal(shape)
    return a.astype(dtype)


def plain(v):
    """v in JSON types: a complex number becomes [re, im]."""
    if isinstance(v, dict):
        return {k: plain(w) for k, w in v.items()}
    if isinstance(v, (list, tuple)):
        return [plain(w) for w in v]
    if isinstance(v, np.ndarray):
        return plain(v.tolist())
    if isinstance(v, np.generic):
        return plain(v.item())
    if isinstance(v, complex):
        return [v.real, v.imag]
    return v


def passes_dot_test(x, y, u, v, dtype):
    """Whether (y, u) = (x, v), the real parts alone where a side is real."""
    tol = 1e-4 if np.dtype(real_of(dtype)).itemsize == 4 else 1e-10
    a, b = np.vdot(y, u), np.vdot(x, v)
    if not (is_complex(dtype) and is_complex(y.dtype) and is_complex(v.dtype)):
        a, b = a.real, b.real
    size = np.linalg.norm(y) * np.linalg.norm(u) + np.linalg.norm(x) * np.linalg.norm(v)
    return bool(abs(a - b) <= tol * max(size, 1e-30))


class Part:
    """The cases of one program, in order."""

    def __init__(self, source, ranks):
        self.source, self.ranks = source, ranks
        self.cases = []

    def add(self, op, variant, dtype, params, arrays, dims=(), dimsd=(), **more):
        """Adds a case called op/variant/dtype. The arrays are a dict of key to array."""
        self.cases.append(
            dict(
                op=op,
                variant=variant,
                source=self.source,
                ranks=self.ranks,
                dtype=np.dtype(dtype).name,
                params=plain(params),
                dims=plain(dims),
                dimsd=plain(dimsd),
                arrays={k: np.array(a, order="C") for k, a in arrays.items()},
                **more,
            )
        )

    def write(self, path):
        with open(path, "wb") as f:
            pickle.dump(self.cases, f)


def case_name(c):
    name = f"{c['op']}/{c['variant']}/{c['dtype']}"
    return name if c["source"] == "pylops" else f"mpi{c['ranks']}/{name}"


def file_of(c):
    """The file that the case names, or else that of its operator."""
    if "file" in c:
        return c["file"]
    op = c["op"].split(".")[0]
    return f"{op}.npz" if c["source"] == "pylops" else f"mpi-{op.removeprefix('MPI')}.npz"


def npy(a):
    b = io.BytesIO()
    np.lib.format.write_array(b, a, version=(1, 0), allow_pickle=False)
    return b.getvalue()


def merge(parts, out):
    """Writes the files and the manifest for parts, in place of all that were there."""
    files, manifest, names = {}, [], set()
    for p in parts:
        with open(p, "rb") as f:
            cases = pickle.load(f)
        for c in cases:
            name = case_name(c)
            if name in names:
                sys.exit(f"golden: two cases are called {name}")
            names.add(name)
            members, keys = files.setdefault(file_of(c), ({}, {}))
            arrays = {}
            for k, a in c["arrays"].items():
                data = npy(a)
                if data not in keys:
                    keys[data] = f"{len(keys)}{k}"
                    members[keys[data]] = data
                arrays[k] = keys[data]
            entry = {"name": name}
            entry.update((k, v) for k, v in c.items() if k not in ("variant", "arrays"))
            if entry.get("dottest"):
                del entry["dottest"]  # which is what goes without saying
            entry["file"] = file_of(c)
            entry["arrays"] = arrays
            manifest.append(entry)
    for old in out.glob("*.npz"):
        old.unlink()
    for name, (members, _) in sorted(files.items()):
        with zipfile.ZipFile(out / name, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
            for key, data in members.items():
                # A fixed time, for the same bytes on every run.
                info = zipfile.ZipInfo(key + ".npy", (1980, 1, 1, 0, 0, 0))
                info.compress_type = zipfile.ZIP_DEFLATED
                info.external_attr = 0o644 << 16
                z.writestr(info, data)
    lines = ",\n".join(json.dumps(c, separators=(",", ":")) for c in manifest)
    (out / "manifest.json").write_text("[\n" + lines + "\n]\n")
    print(f"{len(manifest)} cases in {len(files)} files, "
          f"{sum(f.stat().st_size for f in out.iterdir()) // 1024} KiB in all")


if __name__ == "__main__":
    merge(sys.argv[1:], Path(__file__).parent)
