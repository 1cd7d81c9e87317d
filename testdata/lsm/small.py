"""Small cases of serial PyLops' Kirchhoff operator, one for each thing it can do."""

import warnings

import formulas
import numpy as np
from pylops.utils.wavelets import ricker
from pylops.waveeqprocessing import Kirchhoff
from store import Part, passes_dot_test, plain, rand

F = "float64"
part = Part("pylops", 0)

# Stations lie off the grid, and the last samples of the farthest points do not
# fit into nt.
PLANE = dict(
    x0=10.0, dx=5.0, nx=11, z0=2.0, dz=4.0, nz=9, t0=0.0, dt=0.004, nt=64,
    sx=[12.3, 33.1, 57.9], sz=[1.0, 0.5, 3.2],
    rx=[15.2, 30.7, 44.4, 61.5], rz=[6.1, 1.3, 0.2, 4.9],
    vel=280.0,
)
SPACE = dict(
    y0=-6.0, dy=4.0, ny=5, x0=10.0, dx=5.0, nx=6, z0=2.0, dz=3.0, nz=7, t0=0.0, dt=0.004, nt=64,
    sy=[-5.1, 1.3, 8.8], sx=[12.2, 20.4, 33.0], sz=[1.0, 0.7, 1.9],
    ry=[-3.3, 0.4, 5.2, 9.9], rx=[31.7, 11.1, 24.6, 17.5], rz=[0.3, 2.6, 1.1, 5.4],
    vel=180.0,
)
# Stations on points of the grid, where gradients of travel time vanish.
PLANE_NODES = dict(PLANE, sx=[20.0, 35.0, 60.0], sz=[10.0, 2.0, 34.0], rx=[10.0, 25.0, 35.0, 50.0], rz=[2.0, 2.0, 18.0, 6.0])
SPACE_NODES = dict(
    SPACE,
    sy=[-2.0, 2.0, 10.0], sx=[20.0, 25.0, 35.0], sz=[8.0, 2.0, 20.0],
    ry=[-6.0, 2.0, 6.0, -2.0], rx=[10.0, 15.0, 30.0, 20.0], rz=[2.0, 11.0, 5.0, 2.0],
)
EXACT = dict(dt=0.00390625)  # 1/256 s: travel times that are whole samples are so exactly


def stations(p, side):
    return np.array([p[side + n] for n in formulas.names(p)])


def case(variant, geometry, arrays=None, wav=None, wavcenter=8, keep=True, **more):
    """Adds a case, unless told not to keep it: arrays are trav or trav_srcs and trav_recs, amp_srcs and amp_recs, vel."""
    p = dict(geometry, mode="analytic", dynamic=False, wavfilter=False, aperture=None, angleaperture=90.0)
    p.update(more)
    arrays = dict(arrays or {})
    t = formulas.axis(p, "t")
    p["wav"] = ricker(np.arange(9) * p["dt"], f0=30)[0] if wav is None else wav
    p["wavcenter"] = wavcenter
    p = plain(p)
    trav = amp = None
    if p["mode"] == "byot":
        trav = arrays["trav"] if "trav" in arrays else (arrays["trav_srcs"], arrays["trav_recs"])
        amp = (arrays["amp_srcs"], arrays["amp_recs"]) if p["dynamic"] else None
    with warnings.catch_warnings(), np.errstate(invalid="ignore"):
        warnings.simplefilter("ignore")
        op = Kirchhoff(
            formulas.axis(p, "z"), formulas.axis(p, "x"), t, stations(p, "s"), stations(p, "r"),
            arrays.get("vel", p["vel"]), np.array(p["wav"]), p["wavcenter"],
            y=formulas.axis(p, "y") if "ny" in p else None,
            mode=p["mode"], wavfilter=p["wavfilter"], dynamic=p["dynamic"], trav=trav, amp=amp,
            aperture=p["aperture"], angleaperture=p["angleaperture"], engine="numpy", dtype=F,
        )
    dims = formulas.shape(p)
    arrays["x"] = rand("kirchhoff x", F, dims)
    arrays["u"] = rand("kirchhoff u", F, op.dimsd)
    arrays["y"] = op.matvec(arrays["x"].ravel()).reshape(op.dimsd)
    arrays["v"] = op.rmatvec(arrays["u"].ravel()).reshape(dims)
    if p["wavfilter"]:
        arrays["wavfilt"] = op.wav
    if p["dynamic"]:
        for k in ("amp_srcs", "amp_recs", "angle_srcs", "angle_recs", "aperturetap"):
            arrays[k] = getattr(op, k)
        p["aperture_limits"], p["angle_limits"] = plain(list(op.aperture)), plain(list(op.angleaperture))
    if p["mode"] == "analytic":
        arrays["trav_srcs"], arrays["trav_recs"] = op.trav_srcs, op.trav_recs
    ref = formulas.check(variant, p, arrays)
    clear(variant, p, op)
    it = np.trunc(ref.trav / p["dt"])
    if not passes_dot_test(*(arrays[k] for k in "xyuv"), F):
        raise SystemExit(f"lsm: {variant} fails the dot test")
    if keep:
        part.add("Kirchhoff", variant, F, p, arrays, dims, op.dimsd)
    seen = ((it >= 0) & (it < p["nt"] - 1) & (ref.weight != 0)).mean()
    print(f"  {variant}: {100 * seen:.0f} % of points by pairs are seen")
    return arrays


def clear(variant, p, op):
    """Ends the program if rounding could decide whether an angle is inside, or its place in the taper."""
    if not p["dynamic"]:
        return
    amin, amax = op.angleaperture
    a = np.abs(np.concatenate([op.angle_srcs.ravel(), op.angle_recs.ravel()]))
    a = a[(a >= amin - 0.01) & (a <= amax + 0.01)]  # without NaN
    a = a[(a != amax) & (a != 0)]  # exactly on the limit is outside, exactly vertical inside
    step = 20 * (a - amin) / (amax - amin)
    near = np.abs(step - np.round(step)).min(initial=1)
    if near < 1e-8:
        raise SystemExit(f"lsm: {variant}: an angle is {near:.1e} of a step from one of the taper")


def tables(p, speed):
    return {
        "trav_srcs": formulas.distances(p, "s") / speed,
        "trav_recs": formulas.distances(p, "r") / speed,
    }


def same(variant, a, b):
    if not (np.array_equal(a["y"], b["y"]) and np.array_equal(a["v"], b["v"])):
        raise SystemExit(f"lsm: {variant} makes a difference, which README.md denies")


def travel_times():
    kinematic = case("analytic-2d", PLANE)
    case("analytic-3d", SPACE)
    case("analytic-2d-t0", dict(PLANE, t0=0.5, **EXACT))
    speed = (240 + 3 * formulas.axis(PLANE, "z") + formulas.axis(PLANE, "x")[:, None]).reshape(-1, 1)
    t = case("byot-2d", PLANE, tables(PLANE, speed), mode="byot")
    total = (t["trav_srcs"][:, :, None] + t["trav_recs"][:, None, :]).reshape(len(speed), -1)
    case("byot-2d-pairs", PLANE, {"trav": total}, mode="byot")
    speed = (150 + 2 * formulas.axis(SPACE, "z") + formulas.axis(SPACE, "x")[:, None]
             + formulas.axis(SPACE, "y")[:, None, None]).reshape(-1, 1)
    case("byot-3d", SPACE, tables(SPACE, speed), mode="byot")
    # Times in quarters of a sample, past the last one and before the first.
    ii, k = np.arange(99)[:, None], np.arange(12)
    late = {"trav": ((7 * ii + 13 * k) % 264) / 4 * EXACT["dt"]}
    case("byot-2d-late", dict(PLANE, **EXACT), late, mode="byot")
    early = {"trav": (((7 * ii + 13 * k) % 40) / 4 - 5) * EXACT["dt"]}
    case("byot-2d-early", dict(PLANE, **EXACT), early, mode="byot")
    other = case("(aperture without dynamic)", PLANE, aperture=0.5, angleaperture=20.0, keep=False)
    same("aperture without dynamic", kinematic, other)


def wavelets():
    case("wav-even", PLANE, wav=rand("wav", F, 12), wavcenter=5)
    case("wav-early", PLANE, wav=rand("wav", F, 11), wavcenter=3)
    case("wav-late", PLANE, wav=rand("wav", F, 11), wavcenter=9)
    case("wavfilter-2d", PLANE, wavfilter=True)
    case("wavfilter-2d-even", PLANE, wav=rand("wav", F, 12), wavcenter=5, wavfilter=True)
    case("wavfilter-3d", SPACE, wavfilter=True)


def dynamic():
    case("dynamic-2d", PLANE, dynamic=True)
    case("dynamic-2d-wavfilter", PLANE, dynamic=True, wavfilter=True)
    case("dynamic-2d-angle-none", PLANE, dynamic=True, angleaperture=None)
    case("dynamic-2d-angle-35", PLANE, dynamic=True, angleaperture=35.0)
    case("dynamic-2d-angle-20-60", PLANE, dynamic=True, angleaperture=[20.0, 60.0])
    case("dynamic-2d-aperture-1.1", PLANE, dynamic=True, aperture=1.1)
    case("dynamic-2d-aperture-0.3-1.3", PLANE, dynamic=True, aperture=[0.3, 1.3], angleaperture=[30.0, 70.0])
    case("dynamic-2d-nodes", PLANE_NODES, dynamic=True)
    whole = case("dynamic-3d", SPACE, dynamic=True)
    case("dynamic-3d-angle-30-65", SPACE, dynamic=True, angleaperture=[30.0, 65.0])
    case("dynamic-3d-nodes", SPACE_NODES, dynamic=True)
    vel = 240 + 3 * formulas.axis(PLANE, "z") + formulas.axis(PLANE, "x")[:, None]
    a = tables(PLANE, vel.reshape(-1, 1))
    a.update(vel=vel, amp_srcs=1 / (1 + formulas.distances(PLANE, "s") / 50),
             amp_recs=1 / (2 + formulas.distances(PLANE, "r") / 30))
    case("dynamic-2d-byot", dict(PLANE, vel=None), a, mode="byot", dynamic=True)
    same("aperture in 3-D", whole, case("(aperture in 3-D)", SPACE, dynamic=True, aperture=0.1, keep=False))


def make(path):
    print("small cases of PyLops:")
    travel_times()
    wavelets()
    dynamic()
    part.write(path)
