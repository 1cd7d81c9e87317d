"""Writes a part of testdata/lsm, or merges parts into its files: scripts/golden-lsm runs it.

    make_lsm.py small PART                      small cases of PyLops' Kirchhoff operator
    mpirun -n RANKS make_lsm.py tutorial PART   the tutorial of PyLops-MPI
    make_lsm.py merge PART...
"""

import sys
from pathlib import Path

here = Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent / "golden"))  # for store.py

if __name__ == "__main__":
    what, *paths = sys.argv[1:]
    if what == "small":
        import small

        small.make(paths[0])
    elif what == "tutorial":
        import tutorial

        tutorial.make(paths[0])
    elif what == "merge":
        from store import merge

        merge(paths, here)
    else:
        sys.exit(__doc__)
