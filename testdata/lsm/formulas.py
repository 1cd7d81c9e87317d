"""PyLops' Kirchhoff operator as README.md writes it down, to check that it is written down right."""

import numpy as np


def axis(p, name):
    return p[name + "0"] + p["d" + name] * np.arange(p["n" + name])


def names(p):
    """The dimensions of the model, slowest first."""
    return ("y", "x", "z") if "ny" in p else ("x", "z")


def shape(p):
    return tuple(p["n" + n] for n in names(p))


def distances(p, side):
    """From each source (side "s") or receiver ("r") to each image point: points by stations."""
    grid = np.meshgrid(*(axis(p, n) for n in names(p)), indexing="ij")
    at = [np.array(p[side + n]) for n in names(p)]
    return np.sqrt(sum((g.reshape(-1, 1) - a) ** 2 for g, a in zip(grid, at)))


def angles(p, trav, steps):
    """Of the gradient of travel time with the vertical, in radians."""
    ndims = len(shape(p))
    g = np.gradient(trav.reshape(*shape(p), -1), *steps, axis=tuple(range(ndims)))
    if ndims == 2:
        a = np.arctan2(g[0], g[1])
    else:
        with np.errstate(invalid="ignore"):  # 0/0 is NaN, which no angle aperture lets through
            a = np.sign(g[1]) * np.arccos(g[2] / np.sqrt(g[0] ** 2 + g[1] ** 2 + g[2] ** 2))
    return a.reshape(trav.shape)


def limits(given, none):
    if given is None:
        return none
    given = np.atleast_1d(np.array(given, float))
    return (0.8 * given[0], given[0]) if len(given) == 1 else tuple(given)


def taper():
    """The 21 weights of an angle aperture."""
    k = np.arange(1, 21)
    return np.concatenate([[1.0], 0.5 + 0.5 * np.cos(np.pi * (k - 1) / 19)])


def wavelet(p):
    w = np.array(p["wav"])
    if not p["wavfilter"]:
        return w
    iw = 2j * np.pi * np.fft.rfftfreq(len(w), p["dt"])
    return np.fft.irfft(np.fft.rfft(w) * (-iw if "ny" in p else np.sqrt(iw)), n=len(w))


def convolve(p, d, adjoint=False):
    w, c, nt = wavelet(p), p["wavcenter"], p["nt"]
    conv = np.zeros((nt, nt))
    for n in range(nt):
        for k in range(len(w)):
            if 0 <= n + c - k < nt:
                conv[n, n + c - k] = w[k]
    return d @ (conv if adjoint else conv.T)


class Kirchhoff:
    def __init__(self, p, arrays):
        self.p = p
        ns, nr = len(p["sx"]), len(p["rx"])
        self.pairs = [(s, r) for s in range(ns) for r in range(nr)]
        steps = [p["d" + n] for n in names(p)]
        if p["mode"] == "analytic":
            ds, dr = distances(p, "s"), distances(p, "r")
            ts, tr = ds / p["vel"], dr / p["vel"]
            eps = 0.01 * (ds.max() + dr.max())
            power = 0.5 if len(steps) == 2 else 1.0
            amps = (ds + eps) ** -power, (dr + eps) ** -power
        elif "trav" in arrays:
            self.trav, self.weight = arrays["trav"], np.ones_like(arrays["trav"])
            return
        else:
            ts, tr = arrays["trav_srcs"], arrays["trav_recs"]
            amps = arrays.get("amp_srcs"), arrays.get("amp_recs")
            steps = [1.0] * len(steps)
        self.trav = np.stack([ts[:, s] + tr[:, r] for s, r in self.pairs], axis=1)
        self.weight = np.ones_like(self.trav)
        if p["dynamic"]:
            self.angles = angles(p, ts, steps), angles(p, tr, steps)
            self.weigh(amps, arrays.get("vel", p["vel"]))

    def weigh(self, amps, vel):
        p = self.p
        vel = np.broadcast_to(vel, shape(p)).ravel()
        iz = np.arange(len(vel)) % p["nz"]
        amin, amax = np.deg2rad(limits(p["angleaperture"], (0.0, 1000.0)))
        _, omax = limits(p["aperture"], (0.0, np.inf))
        for k, (s, r) in enumerate(self.pairs):
            a = self.angles[0][:, s], self.angles[1][:, r]
            w = 2 * np.cos((a[0] - a[1]) / 2) * amps[0][:, s] * amps[1][:, r] / vel
            for b in np.abs(a):
                with np.errstate(invalid="ignore"):
                    inside = b < amax
                i = np.floor(20 * (np.where(inside, b, 0) - amin) / (amax - amin)).astype(int)
                w = np.where(inside, w * taper()[np.clip(i, 0, 20)], 0)
            if "ny" not in p:
                offset = abs((p["sx"][s] - p["x0"]) // p["dx"] - (p["rx"][r] - p["x0"]) // p["dx"])
                w = np.where(offset / (iz + 1) < omax, w, 0)
            self.weight[:, k] = w

    def samples(self, k):
        """The image points that pair k sees, the sample before each time, and both weights."""
        t = self.trav[:, k] / self.p["dt"]
        it = np.trunc(t).astype(int)
        ii = np.flatnonzero((it >= 0) & (it < self.p["nt"] - 1))
        f = (t - it)[ii]
        return ii, it[ii], self.weight[ii, k] * (1 - f), self.weight[ii, k] * f

    def forward(self, x):
        d = np.zeros((len(self.pairs), self.p["nt"]))
        for k in range(len(self.pairs)):
            ii, it, w0, w1 = self.samples(k)
            np.add.at(d[k], it, w0 * x.ravel()[ii])
            np.add.at(d[k], it + 1, w1 * x.ravel()[ii])
        return convolve(self.p, d)

    def adjoint(self, d):
        d = convolve(self.p, d.reshape(len(self.pairs), -1), adjoint=True)
        x = np.zeros(len(self.trav))
        for k in range(len(self.pairs)):
            ii, it, w0, w1 = self.samples(k)
            x[ii] += w0 * d[k, it] + w1 * d[k, it + 1]
        return x


def check(name, p, arrays, tol=1e-12):
    """Ends the program unless y and v, and the tables of PyLops, are what the formulas give."""
    op = Kirchhoff(p, arrays)
    got = {"y": op.forward(arrays["x"]), "v": op.adjoint(arrays["u"]), "wavfilt": wavelet(p)}
    if p["dynamic"]:
        got.update(angle_srcs=op.angles[0], angle_recs=op.angles[1])
    for key, g in got.items():
        want = arrays.get(key)
        if want is None:
            continue
        if not np.array_equal(np.isnan(g.ravel()), np.isnan(want.ravel())):
            raise SystemExit(f"lsm: {name}: {key} has other NaNs than the formulas give")
        diff = np.nan_to_num(g.ravel() - want.ravel())
        if np.linalg.norm(diff) > tol * np.linalg.norm(np.nan_to_num(want)):
            raise SystemExit(f"lsm: {name}: {key} is not what the formulas give")
    return op
