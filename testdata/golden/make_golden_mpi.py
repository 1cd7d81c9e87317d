"""Writes the part of PyLops-MPI: mpirun -n RANKS make_golden_mpi.py PART.

One, two and three ranks take part in all stages. Four are for what needs a
square number of ranks: the product of matrices, and halos in two directions.
"""

import sys

import mpi_arrays
import mpi_arrays_more
import mpi_fourier
import mpi_ops
from mpi_common import part, rank, run, size

if __name__ == "__main__":
    stages = mpi_ops.STAGES + mpi_arrays.STAGES + mpi_arrays_more.STAGES + mpi_fourier.STAGES
    if size == 1:
        stages = stages + [mpi_ops.matrix_mult]
    elif size == 4:
        stages = [mpi_ops.halo, mpi_ops.matrix_mult, mpi_arrays.splits]
    for stage in stages:
        run(stage)
    if rank == 0:
        part.write(sys.argv[1])
        print(f"{len(part.cases)} cases of PyLops-MPI on {size} ranks")
        for c in part.cases:
            notes = [f"{k} {c[k]}" for k in ("y_dtype", "v_dtype") if k in c]
            if not c.get("dottest", True):
                notes.append("fails the dot test")
            if notes:
                print(f"  {c['op']}/{c['variant']}/{c['dtype']}: {', '.join(notes)}")
