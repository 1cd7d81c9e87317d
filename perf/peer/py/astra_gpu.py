"""Times ASTRA's projector and back-projector on a GPU: 1024 × 1024 pixels, 720 views,
float32, data on the GPU all the time. It needs astra-toolbox and an array library with
DLPack on the GPU, CuPy or PyTorch. The wheel of astra-toolbox wants the libraries of
CUDA 12 beside it: nvidia-cuda-runtime-cu12, and any library that has cuFFT's five
functions, which are not called here."""

import sys
import time

import astra
import astra.experimental
import numpy as np

try:
    import cupy as xp

    zeros, wait = lambda shape: xp.zeros(shape, xp.float32), lambda: xp.cuda.Device().synchronize()
except ImportError:
    import torch

    zeros, wait = lambda shape: torch.zeros(shape, dtype=torch.float32, device="cuda"), torch.cuda.synchronize

n, views = (int(sys.argv[1]), int(sys.argv[2])) if len(sys.argv) > 2 else (1024, 720)
# One slice of a volume: the 3-D code takes arrays on the GPU, the 2-D code copies.
vol = astra.create_vol_geom(n, n, 1)
proj = astra.create_proj_geom("parallel3d", 1.0, 1.0, 1, n, np.arange(views) * np.pi / views)
projector = astra.create_projector("cuda3d", proj, vol)
x, y = zeros((1, n, n)), zeros((1, views, n))
x += 1


def best(f):
    times = []
    for _ in range(30):
        wait()
        start = time.perf_counter()
        f()
        wait()
        times.append(time.perf_counter() - start)
    return 1e3 * min(times), 1e3 * sorted(times)[len(times) // 2]


forward = best(lambda: astra.experimental.direct_FP3D(projector, x, y))
back = best(lambda: astra.experimental.direct_BP3D(projector, x, y))
print(f"ASTRA {astra.__version__}, {n} × {n}, {views} views: projection {forward[0]:.3f} ms (median {forward[1]:.3f}), back-projection {back[0]:.3f} ms (median {back[1]:.3f})")
