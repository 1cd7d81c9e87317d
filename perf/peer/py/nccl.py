"""Times all_reduce of CuPy over NCCL, as perf/peer/gpu does with golops.

    mpirun -n RANKS python3 perf/peer/py/nccl.py --sizes 1,4,16,64
    python3 perf/peer/py/nccl.py --where

Ranks meet through the file that NCCL_MEET names, so that mpi4py is not needed,
and share one GPU. Rank 0 prints bytes and microseconds of one sum, out of place
and waited for. --where prints the file of the NCCL that CuPy uses and its version.
"""

import argparse
import os
import pickle
import socket
import statistics
import time


def rank_and_size():
    for rank, size in (
        ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
        ("PMI_RANK", "PMI_SIZE"),
        ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"),
    ):
        if rank in os.environ and size in os.environ:
            return int(os.environ[rank]), int(os.environ[size])
    return 0, 1


parser = argparse.ArgumentParser()
parser.add_argument("--sizes", default="1,4,16,64", help="in MB, with commas between them")
parser.add_argument("--where", action="store_true")
args = parser.parse_args()
rank, size = rank_and_size()
if size > 1:
    # NCCL refuses ranks of one machine on one GPU.
    os.environ.setdefault("NCCL_HOSTID", f"peer-{socket.gethostname()}-{os.getpid()}")
    os.environ.setdefault("NCCL_SOCKET_IFNAME", "lo")

import cupy  # noqa: E402
from cupy.cuda import nccl  # noqa: E402


def library():
    with open("/proc/self/maps") as maps:
        for line in maps:
            path = line.split()[-1]
            if os.path.basename(path).startswith("libnccl.so"):
                return path
    raise SystemExit("nccl.py: CuPy has loaded no libnccl.so")


def meet():
    """The communicator of all ranks."""
    path = os.environ["NCCL_MEET"]
    if rank == 0:
        uid = nccl.get_unique_id()
        with open(path + ".new", "wb") as f:
            pickle.dump(uid, f)  # a tuple of numbers or, from CuPy 14 on, bytes
        os.rename(path + ".new", path)
    while not os.path.exists(path):
        time.sleep(0.01)
    with open(path, "rb") as f:
        uid = pickle.load(f)
    return nccl.NcclCommunicator(size, uid, rank)


def iterations(nbytes):
    return min(40, max(4, (128 << 20) // nbytes))


def main():
    sizes = [int(s) << 20 for s in args.sizes.split(",")]
    comm = meet()
    stream = cupy.cuda.Stream(non_blocking=True)
    n = max(sizes) // 4
    x, y = cupy.ones(n, cupy.float32), cupy.zeros(n, cupy.float32)
    one = cupy.zeros(1, cupy.float32)
    cupy.cuda.Device().synchronize()

    def sums(times, count):
        for _ in range(times):
            comm.allReduce(x.data.ptr, y.data.ptr, count, nccl.NCCL_FLOAT32, nccl.NCCL_SUM, stream.ptr)
            stream.synchronize()

    def barrier():
        comm.allReduce(one.data.ptr, one.data.ptr, 1, nccl.NCCL_FLOAT32, nccl.NCCL_SUM, stream.ptr)
        stream.synchronize()

    for nbytes in sizes:
        count, loops = nbytes // 4, []
        sums(3, count)
        for _ in range(3):
            barrier()
            start = time.perf_counter()
            sums(iterations(nbytes), count)
            loops.append(1e6 * (time.perf_counter() - start) / iterations(nbytes))
        if rank == 0:
            print(nbytes, statistics.median(loops), flush=True)
    if float(y[n - 1]) != size:
        raise SystemExit(f"nccl.py: a sum of {size} ones is {float(y[n - 1])}")


if args.where:
    nccl.get_unique_id()
    print(library(), nccl.get_version())
else:
    main()
