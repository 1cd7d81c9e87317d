"""Writes the serial part of the golden numbers: make_golden.py PART.

Small shapes come in all four element types; bigger ones take the types in
turn, for every variant costs space.
"""

import sys

import serial
import serial_algebra as algebra
import serial_avo as avo
import serial_basic as basic
import serial_fourier as fourier
import serial_signal as signal
import serial_stencils as stencils

STAGES = [
    stencils.first_derivative,
    stencils.second_derivative,
    stencils.laplacian,
    stencils.gradient,
    stencils.causal_integration,
    stencils.convolve1d,
    stencils.nonstationary_convolve1d,
    stencils.smoothing1d,
    stencils.smoothing2d,
    basic.identity_and_zero,
    basic.diagonal,
    basic.matrix_mult,
    basic.restriction,
    basic.transpose,
    basic.flip_roll_symmetrize,
    basic.pad,
    basic.sums,
    basic.spread,
    basic.regression,
    basic.real_and_imag,
    signal.interp,
    signal.bilinear,
    signal.convolve_nd,
    fourier.fourier,
    signal.dwt,
    signal.sliding,
    signal.radon,
    signal.dct,
    signal.shift,
    signal.fourier_radon,
    signal.chirp_radon,
    avo.avo_modelling,
    avo.poststack,
    avo.prestack,
    algebra.algebra,
    algebra.stacks,
    algebra.dense,
]

if __name__ == "__main__":
    for stage in STAGES:
        serial.start_turn()
        stage()
    cases = serial.part.cases
    serial.part.write(sys.argv[1])
    print(f"{len(cases)} serial cases")
    for c in cases:
        notes = [f"{k} {c[k]}" for k in ("y_dtype", "v_dtype") if k in c]
        if not c.get("dottest", True):
            notes.append("fails the dot test")
        if notes:
            print(f"  {c['op']}/{c['variant']}/{c['dtype']}: {', '.join(notes)}")
