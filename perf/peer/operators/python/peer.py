"""One rank of the peer's side: python -m mpi4py peer.py, under mpirun.

Each rank waits for requests on a connection of its own, not inside of MPI,
which would keep a core busy while the other side is measured.
"""

import json
import os
import socket
import time

import numpy as np
from mpi4py import MPI

import mpi_cases
import serial_cases
from common import values

comm = MPI.COMM_WORLD


def mark(a):
    """Tells results apart, as mark does in contender.go."""
    a = np.ravel(a).astype(np.float64)
    return dict(n=a.size, norm=float(np.sqrt(np.sum(a * a))), dot=float(np.sum(a * values(a.size, 0, 3, "float64"))))


def timed(f, n):
    """The seconds that n calls take on the slowest rank."""
    comm.Barrier()
    began = time.perf_counter()
    for _ in range(n):
        f()
    return comm.allreduce(time.perf_counter() - began, op=MPI.MAX)


def enough(f, seconds):
    """How many calls take so many seconds, by doubling."""
    n = 1
    while timed(f, n) < seconds:
        n *= 2
    return n


def turn(steps, calls):
    """Measures all steps twice, as turn does in child.go: the first time does not count."""
    for _ in range(2):
        seconds = [timed(f, n) / n for (f, _), n in zip(steps, calls)]
    return seconds


def build(case):
    """The steps of a case: what to measure, and how to see what came out whole."""
    cases = serial_cases if case["peer"] == "PyLops" else mpi_cases
    return cases.CASES[case["op"]](case)


def main():
    host, port = os.environ["GOLOPS_PEER_ADDR"].rsplit(":", 1)
    with socket.create_connection((host, int(port))) as conn:
        lines = conn.makefile("r")
        conn.sendall(b"%d\n" % comm.Get_rank())
        steps, calls = [], []
        for line in lines:
            request = json.loads(line)
            if "case" in request:
                steps = []  # the arrays of the last case are not needed any more
                steps = build(request["case"])
                marks = [mark(whole(f())) for f, whole in steps]
                calls = [enough(f, request["atLeast"]) for f, _ in steps]
                reply = dict(marks=marks)
            else:
                reply = dict(seconds=turn(steps, calls))
            if comm.Get_rank() == 0:
                conn.sendall(json.dumps(reply).encode() + b"\n")


if __name__ == "__main__":
    main()
