"""Times projections and back-projections of scikit-image and ASTRA on the CPU, one
thread. Each line of the input asks for one measurement; each line of the output has the
seconds of all peers, and a projection of ASTRA's to compare with. Sizes are arguments."""

import json
import sys
import time

import astra
import numpy as np
from skimage.transform import iradon, radon

n, views = int(sys.argv[1]), int(sys.argv[2])
angles = np.arange(views) * np.pi / views
y, x = np.mgrid[:n, :n] - (n - 1) / 2
image = np.where(np.hypot(x, y) < 0.45 * n, 1 + np.cos(x / 9) * np.sin(y / 7), 0).astype(np.float32)
vol, proj = astra.create_vol_geom(n, n), astra.create_proj_geom("parallel", 1.0, n, angles)


def astra_peer(kind):
    projector = astra.create_projector(kind, proj, vol)
    v, s, b = astra.data2d.create("-vol", vol, image), astra.data2d.create("-sino", proj, 0), astra.data2d.create("-vol", vol, 0)
    fp, bp = astra.astra_dict("FP"), astra.astra_dict("BP")
    fp.update(ProjectorId=projector, VolumeDataId=v, ProjectionDataId=s)
    bp.update(ProjectorId=projector, ReconstructionDataId=b, ProjectionDataId=s)
    forward, back = astra.algorithm.create(fp), astra.algorithm.create(bp)
    return (lambda: astra.algorithm.run(forward)), (lambda: astra.algorithm.run(back)), s


peers, sinogram = {}, None
for kind in ("linear", "line", "strip"):
    forward, back, s = astra_peer(kind)
    peers["ASTRA " + kind] = forward, back
    forward()
    if kind == "linear":
        sinogram = astra.data2d.get(s)
degrees = np.degrees(angles)
sino = radon(image, degrees, circle=True)
peers["scikit-image"] = (lambda: radon(image, degrees, circle=True)), (lambda: iradon(sino, degrees, filter_name=None, circle=True))


def seconds(f):
    start = time.perf_counter()
    f()
    return time.perf_counter() - start


for line in sys.stdin:
    times = {name: [seconds(f) for f in both] for name, both in peers.items()}
    print(json.dumps(dict(times=times, check=[float(v) for v in sinogram.ravel()[:: max(1, sinogram.size // 100)]])), flush=True)
