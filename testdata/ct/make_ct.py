"""Makes ct.json: projections and back-projections of ASTRA and scikit-image.

Cases of kind "linear" are Joseph's method, which golops has too. The other kinds
are other models of the same rays, of a smooth image: near, but not the same. ASTRA
has Joseph's method for parallel rays only.
"""

import json
from pathlib import Path

import astra
import numpy as np
import skimage
from skimage.transform import radon

HERE = Path(__file__).parent


def short(a):
    return [float(f"{v:.8g}") for v in np.asarray(a, np.float64).ravel()]


def blobs(rows, cols):
    """A smooth image inside of the circle that touches its sides."""
    y, x = np.mgrid[:rows, :cols]
    y, x = (y - (rows - 1) / 2) / rows, (x - (cols - 1) / 2) / cols
    out = np.zeros((rows, cols))
    for cy, cx, s, a in ((0.1, -0.05, 0.11, 1.0), (-0.12, 0.1, 0.07, 0.6), (0.05, 0.15, 0.06, -0.3)):
        out += a * np.exp(-((y - cy) ** 2 + (x - cx) ** 2) / (2 * s * s))
    return (out * (np.hypot(x, y) < 0.49)).astype(np.float32)


def case(name, kind, rows, cols, angles, detectors, spacing=1.0, source=0.0, detector=0.0, image=None):
    rng = np.random.default_rng(sum(map(ord, name)))
    angles = np.asarray(angles, np.float64)
    x = rng.standard_normal((rows, cols)).astype(np.float32) if image is None else image
    u = rng.standard_normal((len(angles), detectors)).astype(np.float32)
    c = dict(name=name, kind=kind, rows=rows, cols=cols, detectors=detectors, spacing=spacing, source=source, detector=detector,
             angles=[float(a) for a in angles])
    if image is None:
        c["x"] = short(x)
    if kind == "radon":
        y = radon(x, np.degrees(angles), circle=True).T
    else:
        vol = astra.create_vol_geom(rows, cols)
        if source:
            proj = astra.create_proj_geom("fanflat", spacing, detectors, angles, source, detector)
            kind += "_fanflat" if kind in ("line", "strip") else ""
        else:
            proj = astra.create_proj_geom("parallel", spacing, detectors, angles)
        pid = astra.create_projector(kind, proj, vol)
        w = astra.matrix.get(astra.projector.matrix(pid)).astype(np.float64)
        y = w @ x.ravel()
        if kind == "linear":
            c["u"], c["v"] = short(u), short(w.T @ u.ravel())
    c["y"] = short(y)
    return c


turn = np.linspace(0, np.pi, 7, endpoint=False) + 0.1
smooth = blobs(49, 49)
few = np.radians([0, 20, 45, 70, 90, 130])
cases = [
    case("square", "linear", 12, 12, turn, 17),
    case("tall", "linear", 14, 9, turn, 15, spacing=1.3),
    case("wide", "linear", 5, 16, turn, 31, spacing=0.4),
    case("axes", "linear", 8, 8, [0, np.pi / 2, np.pi, -np.pi / 2], 8),
    case("full turn", "linear", 10, 11, np.linspace(0, 2 * np.pi, 9) + 0.05, 12),
    case("astra line", "line", 49, 49, few, 49, image=smooth),
    case("astra strip", "strip", 49, 49, few, 49, image=smooth),
    case("astra line of a fan", "line", 49, 49, few, 61, spacing=1.2, source=90.0, detector=30.0, image=smooth),
    case("scikit-image radon", "radon", 49, 49, few, 49, image=smooth),
]
out = dict(astra=astra.__version__, skimage=skimage.__version__, smooth=short(smooth), cases=cases)
(HERE / "ct.json").write_text(json.dumps(out) + "\n")
