"""Writes the SEG-Y files that the tests of package data read, with segyio.

    python -m venv v && v/bin/pip install numpy==2.4.6 segyio==1.9.14
    v/bin/python data/testdata/make_segy.py

Each file has 6 traces of 25 samples at 4 ms. Sample k of trace i is
(i + 1) * (k - 12) / 8, times 8 in the files of integers. Coordinates are
in centimetres, with scalar -100.
"""

import pathlib

import numpy as np
import segyio

here = pathlib.Path(__file__).parent
traces, samples = 6, 25


def write(path, code, dtype, times, text_headers=0):
    spec = segyio.spec()
    spec.format = code
    spec.samples = np.arange(samples) * 4.0
    spec.tracecount = traces
    spec.ext_headers = text_headers
    with segyio.create(path, spec) as f:
        f.text[0] = segyio.tools.create_text_header({1: "MADE BY SEGYIO", 2: "SHOT LINE 7"})
        for n in range(text_headers):
            f.text[n + 1] = segyio.tools.create_text_header({1: f"EXTENDED {n + 1}"})
        f.bin.update(hdt=4000, rev=0x0100, trflag=1, mfeet=1)
        k = np.arange(samples)
        for i in range(traces):
            f.header[i] = {
                segyio.TraceField.TRACE_SEQUENCE_LINE: i + 1,
                segyio.TraceField.FieldRecord: 100 + i // 3,
                segyio.TraceField.SourceGroupScalar: -100,
                segyio.TraceField.ElevationScalar: 10,
                segyio.TraceField.SourceX: 12345 * (i + 1),
                segyio.TraceField.SourceY: -50 * i,
                segyio.TraceField.GroupX: 100000 + 1250 * i,
                segyio.TraceField.SourceDepth: 6,
                segyio.TraceField.DelayRecordingTime: -8,
                segyio.TraceField.TRACE_SAMPLE_COUNT: samples,
                segyio.TraceField.TRACE_SAMPLE_INTERVAL: 4000,
            }
            f.trace[i] = ((i + 1) * (k - 12) / 8 * times).astype(dtype)


write(here / "ibm.segy", 1, np.float32, 1)
write(here / "ieee.segy", 5, np.float32, 1, text_headers=2)
write(here / "int32.segy", 2, np.int32, 8)
write(here / "int16.segy", 3, np.int16, 8)
write(here / "int8.segy", 8, np.int8, 8)
