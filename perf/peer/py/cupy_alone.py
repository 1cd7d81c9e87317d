"""Times products of matrices and Fourier transforms in CuPy on one GPU: each waited for, and 20 of them waited for once.
The same work as perf/peer/gpu has. It prints milliseconds: medians of 30 rounds."""

import time

import cupy as cp


def noise(shape, dtype):
    a = cp.random.random(shape, dtype="float32") - 0.5
    return (a + 1j * (cp.random.random(shape, dtype="float32") - 0.5)).astype(dtype) if dtype == "complex64" else a.astype(dtype)


def median(call, count):
    times = []
    for _ in range(33):
        cp.cuda.runtime.deviceSynchronize()
        began = time.perf_counter()
        for _ in range(count):
            call()
        cp.cuda.runtime.deviceSynchronize()
        times.append((time.perf_counter() - began) / count * 1e3)
    return sorted(times[3:])[15]


for name, a, x, dtype in [
    ("8192^3", (8192, 8192), (8192, 8192), "float32"),
    ("8192^3", (8192, 8192), (8192, 8192), "complex64"),
    ("256 of 256x256 by 64", (256, 256, 256), (256, 256, 64), "complex64"),
]:
    a, x = noise(a, dtype), noise(x, dtype)
    y = cp.matmul(a, x)
    h = a.conj().swapaxes(-1, -2)
    for what, call in [("forward", lambda: cp.matmul(a, x, out=y)), ("adjoint, h ready", lambda: cp.matmul(h, y, out=x))]:
        print(f"| {name} {dtype}, {what} | {median(call, 1):.4g} | {median(call, 20):.4g} |", flush=True)

from cupyx.scipy import fft  # noqa: E402

a = noise((256, 256, 256), "complex64")
with fft.get_fft_plan(a, axes=(0, 1, 2)):
    call = lambda: fft.fftn(a)  # noqa: E731
    print(f"| FFT of 256^3 complex64 | {median(call, 1):.4g} | {median(call, 20):.4g} |", flush=True)
a = noise((513, 16384), "float32")
call = lambda: cp.fft.rfft(a, axis=0)  # noqa: E731
print(f"| real FFT of 513 x 16384 along axis 0 | {median(call, 1):.4g} | {median(call, 20):.4g} |")
