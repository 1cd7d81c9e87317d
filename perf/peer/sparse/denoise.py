"""A turn of pyproximal: TV denoising of an image by PrimalDual.

    denoise.py RUNS SIZE ITERATIONS

The last line is JSON: seconds of each run, and the norm of the result.
"""

import json
import sys
import time

import numpy as np
import pylops
import pyproximal

runs, n, iterations = (int(a) for a in sys.argv[1:])
i, j = np.meshgrid(np.arange(n), np.arange(n), indexing="ij")
image = ((i // 64 + j // 64) % 2).astype(float)
noisy = image + 0.3 * np.sin(12.9898 * i + 78.233 * j)
grad = pylops.Gradient((n, n), edge=False, kind="forward", dtype="float64")
step = 0.99 / np.sqrt(8)
seconds = []
for _ in range(runs):
    l2, l21 = pyproximal.L2(b=noisy.ravel()), pyproximal.L21(ndim=2, sigma=0.2)
    start = time.perf_counter()
    x = pyproximal.optimization.primaldual.PrimalDual(
        l2, l21, grad, x0=np.zeros(n * n), tau=step, mu=step, theta=1.0, gfirst=False, niter=iterations)
    seconds.append(time.perf_counter() - start)
print(json.dumps({"seconds": seconds, "norm": float(np.linalg.norm(x))}))
