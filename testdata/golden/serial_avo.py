"""Cases of the operators of amplitude versus offset."""

import numpy as np
from pylops import avo

from serial import axes_tag, one, store, tag
from store import DTYPES, rand

ANGLES = (0.0, 12.5, 30.0, 41.0)


def ratios(nt, dt, varies):
    return np.linspace(0.4, 0.6, nt).astype(dt) if varies else np.array([0.45]).astype(dt)


def avo_modelling():
    def put(nt, spat, dtypes, kind, varies):
        for dt in dtypes:
            v = ratios(nt, "float64", varies)
            Op = avo.avo.AVOLinearModelling(np.array(ANGLES), v if varies else 0.45, nt, spat, kind, dtype=dt)
            var = tag(kind, f"nt{nt}", axes_tag(spat or ()), "profile" if varies else "one")
            store("AVOLinearModelling", var, Op, dt, dict(linearization=kind, theta=ANGLES, vsvp=v))

    for kind in ("akirich", "fatti", "ps"):
        put(7, None, DTYPES, kind, True)
        put(5, (3,), one(), kind, False)
    put(4, (2, 3), one(), "akirich", True)


def poststack():
    for nt, spat, nwav, varies, kind in (
        (11, None, 5, False, "centered"),
        (11, None, 4, False, "forward"),
        (7, 5, 3, False, "centered"),
        (7, 5, 3, True, "forward"),
        (9, (2, 3), 5, True, "centered"),
    ):
        for dt in DTYPES[:2] if spat is None else one():
            wav = rand("wav", dt, (nt, nwav) if varies else (nwav,))
            Op = avo.poststack.PoststackLinearModelling(wav, nt, spat, kind=kind)
            var = tag(f"nt{nt}", axes_tag(() if spat is None else spat), f"nwav{nwav}", "changing" if varies else "one", kind)
            dims = (nt,) + (() if spat is None else tuple(np.atleast_1d(spat).tolist()))
            store("PoststackLinearModelling", var, Op, dt, dict(kind=kind), dict(wav=wav), dims=dims, dimsd=dims)


def prestack():
    for nt, spat, kind, lin, varies in (
        (11, None, "centered", "akirich", False),
        (7, 5, "forward", "fatti", True),
        (6, (2, 3), "centered", "ps", False),
    ):
        for dt in DTYPES[:2] if spat is None else DTYPES[1:2]:  # PyLops has no complex ones
            wav, theta = rand("wav", dt, 5), np.array(ANGLES, dtype=dt)
            v = ratios(nt, dt, varies)
            Op = avo.prestack.PrestackLinearModelling(wav, theta, v if varies else float(v[0]), nt, spat, lin, kind=kind)
            s = () if spat is None else tuple(np.atleast_1d(spat).tolist())
            var = tag(f"nt{nt}", axes_tag(s), lin, "profile" if varies else "one", kind)
            params = dict(kind=kind, linearization=lin, theta=theta, vsvp=v)
            store("PrestackLinearModelling", var, Op, dt, params, dict(wav=wav), dims=(nt, 3) + s, dimsd=(nt, len(theta)) + s)
