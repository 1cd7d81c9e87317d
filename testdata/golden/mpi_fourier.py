"""Stages of the MPI program for Fourier transforms."""

import warnings

import pylops
import pylops_mpi

from mpi_common import add_pair, must_agree, scatter_rows
from serial import axes_tag, tag
from serial_fourier import complex_of
from store import DTYPES, is_complex, rand

warnings.filterwarnings("ignore", message="numpy backend")


def fourier():
    """Transforms of arrays that are split by rows. What comes back is split by rows too."""

    def put(make, serial, op, dims, axes, norm, before=False, after=False):
        p = dict(axes=axes, norm=norm, ifftshift_before=before, fftshift_after=after)
        for dt in DTYPES:
            real = not is_complex(dt)
            Op = make(dims, real=real, dtype=dt, **p)
            S = serial(dims, real=real, dtype=dt, engine="numpy", **p)
            x, u = rand("x", dt, dims), rand("u", complex_of(dt), S.dimsd)
            y = Op.matvec(scatter_rows(x)).asarray().reshape(S.dimsd)
            v = Op.rmatvec(scatter_rows(u)).asarray().reshape(dims)
            if real:  # it returns complex numbers
                v = v.real.astype(dt)
            must_agree(op, y, S.matvec(x.ravel()).reshape(S.dimsd))
            must_agree(f"{op}, adjoint", v, S.rmatvec(u.ravel()).reshape(dims))
            var = tag(axes_tag(dims), "axes" + axes_tag(axes), norm.replace("/", "over"), f"shift{int(before)}{int(after)}",
                      "real" if real else "complex")
            add_pair(op, var, dt, dict(p, nffts=None, real=real), dict(x=x, y=y, u=u, v=v), dims, S.dimsd)

    two, many = pylops_mpi.signalprocessing.MPIFFT2D, pylops_mpi.signalprocessing.MPIFFTND
    serial = pylops.signalprocessing.FFTND
    put(two, serial, "MPIFFT2D", (7, 5), (0, 1), "none")
    put(two, serial, "MPIFFT2D", (6, 4, 5), (0, 2), "1/n", before=True, after=True)
    put(many, serial, "MPIFFTND", (7, 4, 5), (0, 1, 2), "none")
    put(many, serial, "MPIFFTND", (5, 6, 4), (1, 2), "1/n", after=True)


STAGES = [fourier]
