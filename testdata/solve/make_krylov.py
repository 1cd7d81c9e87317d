"""Solves square systems of make_scipy.py with bicgstab and gmres of SciPy, and works
out their singular values and eigenvalues with NumPy.

    python make_krylov.py COUNT FILE

Each line is: what, number of the system, and numbers:

    bicgstab  the norms of b - A x after each step, from the start
    gmres     the same of GMRES with restarts after 5 steps
    singular  all singular values, the largest first
    eigen     all eigenvalues of (A + A^H)/2, the largest first

Systems are square, without damping, of full rank and of 64 bits.
"""
import sys
import warnings

import numpy as np
from make_scipy import system
from scipy.sparse.linalg import bicgstab, gmres

STEPS = 12


def systems(count):
    for number in range(1, 1 << 30, 2):  # 64 bits
        if number // 4 % 4 == 0 and number // 16 % 4 == 0:
            yield number
            count -= 1
        if count == 0:
            return


def main():
    warnings.simplefilter("ignore")
    with open(sys.argv[2], "w") as f:
        for number in systems(int(sys.argv[1])):
            a, b, *_ = system(number)

            def write(what, values):
                f.write("%s %d %s\n" % (what, number, " ".join("%.17g" % v for v in values)))

            norm = lambda x: np.linalg.norm(b - a @ x)
            history = [np.linalg.norm(b)]
            bicgstab(a, b, rtol=1e-9, maxiter=STEPS, callback=lambda x: history.append(norm(x)))
            write("bicgstab", history)
            history = [np.linalg.norm(b)]
            gmres(a, b, rtol=1e-9, restart=5, maxiter=3, callback=lambda r: history.append(r * np.linalg.norm(b)), callback_type="pr_norm")
            write("gmres", history[: STEPS + 1])
            write("singular", np.linalg.svd(a, compute_uv=False))
            write("eigen", np.linalg.eigvalsh((a + a.conj().T) / 2)[::-1])


main()
