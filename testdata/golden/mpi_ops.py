"""Cases of the operators of PyLops-MPI."""

import math

import numpy as np
import pylops
import pylops_mpi
from pylops_mpi import DistributedArray, StackedDistributedArray
from pylops_mpi.basicoperators.Halo import halo_block_split
from pylops_mpi.basicoperators.MatrixMult import local_block_split

from mpi_common import (add, add_pair, broadcast, comm, gather_blocks, must_agree, one, rank, scatter_blocks,
                        scatter_rows, size, split, store)
from serial import axes_tag, tag
from store import DTYPES, rand


def first_derivative():
    def put(dims, dtypes, **kw):
        p = dict(sampling=1.0, kind="centered", edge=False, order=3)
        p.update(kw)
        var = tag(p["kind"], p["order"], f"edge{int(p['edge'])}", axes_tag(dims), p["sampling"])
        for dt in dtypes:
            Op = pylops_mpi.MPIFirstDerivative(dims, dtype=dt, **p)
            store("MPIFirstDerivative", var, Op, pylops.FirstDerivative(dims, axis=0, dtype=dt, **p), dt, p, dims)

    kinds = [dict(kind="forward"), dict(kind="backward")]
    kinds += [dict(order=o, edge=e) for o in (3, 5) for e in (False, True)]
    for k in kinds:
        # Order 5 needs four rows on every rank for the adjoint.
        put((13,), one() + one(), sampling=0.7, **k)
        put((13, 3), one(), sampling=0.7, **k)
        put((13, 2, 2), one(), **k)


def second_derivative():
    def put(dims, dtypes, **kw):
        p = dict(sampling=1.0, kind="centered", edge=False)
        p.update(kw)
        var = tag(p["kind"], f"edge{int(p['edge'])}", axes_tag(dims), p["sampling"])
        for dt in dtypes:
            Op = pylops_mpi.MPISecondDerivative(dims, dtype=dt, **p)
            store("MPISecondDerivative", var, Op, pylops.SecondDerivative(dims, axis=0, dtype=dt, **p), dt, p, dims)

    for k in (dict(kind="forward"), dict(kind="backward"), dict(), dict(edge=True)):
        put((11,), one() + one(), sampling=0.7, **k)
        put((11, 3), one(), sampling=0.7, **k)
        put((11, 2, 2), one(), **k)


def laplacian():
    def put(dims, axes, weights, sampling, **kw):
        p = dict(axes=axes, weights=weights, sampling=sampling, edge=False, kind="centered")
        p.update(kw)
        var = tag(p["kind"], f"edge{int(p['edge'])}", axes_tag(dims), "axes" + axes_tag(axes))
        for dt in one():
            Op = pylops_mpi.MPILaplacian(dims, dtype=dt, **p)
            store("MPILaplacian", var, Op, pylops.Laplacian(dims, dtype=dt, **p), dt, p, dims)

    for k in (dict(kind="forward"), dict(kind="backward"), dict(), dict(edge=True)):
        put((11, 4), (0, 1), (0.5, 2.0), (0.7, 1.5), **k)
        put((11, 4, 3), (0, 1, 2), (0.5, 2.0, -1.0), (0.7, 1.5, 0.9), **k)
    put((11, 4), (-2, -1), (1.0, 1.0), (1.0, 1.0))
    put((11, 4, 3), (-2, -1), (0.5, 2.0), (0.7, 1.5))
    put((11, 4, 3), (2, 0), (0.5, 2.0), (0.7, 1.5))


def gradient():
    def put(dims, sampling, **kw):
        p = dict(sampling=sampling, edge=False, kind="centered")
        p.update(kw)
        var = tag(p["kind"], f"edge{int(p['edge'])}", axes_tag(dims))
        for dt in one():
            Op = pylops_mpi.MPIGradient(dims, dtype=dt, **p)
            x = rand("x", dt, dims)
            u = [rand(f"u{i}", dt, dims) for i in range(len(dims))]
            y = Op.matvec(scatter_rows(x))
            y = [y[i].asarray().reshape(dims) for i in range(len(dims))]
            v = Op.rmatvec(StackedDistributedArray([scatter_rows(w) for w in u])).asarray().reshape(dims)
            serial = pylops.Gradient(dims, dtype=dt, **p)
            must_agree(f"MPIGradient/{var}", np.stack(y), serial.matvec(x.ravel()).reshape(len(dims), *dims))
            must_agree(f"MPIGradient/{var}, adjoint", v, serial.rmatvec(np.stack(u).ravel()).reshape(dims))
            arrays = dict(x=x, v=v)
            for i in range(len(dims)):
                arrays[f"y{i}"], arrays[f"u{i}"] = y[i], u[i]
            add("MPIGradient", var, dt, p, arrays, dims, (len(dims), *dims))

    for k in (dict(kind="forward"), dict(kind="backward"), dict(), dict(edge=True)):
        put((11,), 0.7, **k)
        put((11, 4), (0.7, 1.5), **k)
        put((11, 3, 2), (0.7, 1.5, 0.9), **k)


def halo():
    def put(dims, width, grid):
        if math.prod(grid) != size:
            return
        for dt in one():
            Op = pylops_mpi.MPIHalo(dims, width, proc_grid_shape=grid, dtype=dt)
            x = rand("x", dt, dims)
            mine = halo_block_split(dims, comm, grid)
            block = x[mine]
            y = Op.matvec(scatter_blocks_of(block)).local_array.reshape(Op.local_extent)
            # Cells of neighbours, corners too; beyond the edges of x zeros.
            far = 4
            at = tuple(slice(far + s.start - b, far + s.start + n + a)
                       for s, n, b, a in zip(mine, Op.local_dims, Op.halo[::2], Op.halo[1::2]))
            must_agree("MPIHalo", y, np.pad(x, far)[at])
            # Where each rank begins in x, what it holds and what it adds on each side.
            p = dict(halo=width, proc_grid_shape=grid, local_start=comm.allgather([s.start for s in mine]),
                     local_dims=comm.allgather(Op.local_dims), local_halo=comm.allgather(Op.halo))
            arrays = dict(x=x, **gather_blocks("y", y))
            var = tag(axes_tag(dims), f"halo{axes_tag(width)}" + ("" if isinstance(width, int) else "t"), "grid" + axes_tag(grid))
            add("MPIHalo", var, dt, p, arrays, dims, np.ravel(Op.dimsd))

    for grid in ((1,), (2,), (3,)):
        for width in (1, 2, (1,), (2, 1)):
            # The two sides of a neighbour must be equally wide, so (2, 1) is for one rank.
            if width != (2, 1) or size == 1:
                put((11,), width, grid)
    for grid in ((1, 1), (2, 1), (1, 2), (3, 1), (1, 3), (2, 2), (4, 1)):
        for width in (1, (1, 1), (1, 0), (0, 1), (1, 1, 0, 0)):
            put((8, 5), width, grid)
        if max(grid) < 3:
            put((8, 5), 2, grid)
    for grid in ((1, 1, 1), (2, 1, 1), (1, 1, 2), (1, 3, 1), (2, 1, 2), (1, 2, 2)):
        put((4, 5, 4), 1, grid)


def scatter_blocks_of(block):
    """A distributed array whose local part is block, flattened."""
    sizes = comm.allgather(block.size)
    x = DistributedArray(global_shape=sum(sizes), local_shapes=[(n,) for n in sizes], dtype=block.dtype)
    x[:] = block.ravel()
    return x


def matrices(name, dtype, shapes):
    """One matrix for each of the shapes, a list for each rank, the same on all ranks."""
    return [[rand(f"{name}{r}{i}", dtype, s) for i, s in enumerate(row)] for r, row in enumerate(shapes)]


def keys(name, mats):
    return {f"{name}_rank{r}_{i}": A for r, row in enumerate(mats) for i, A in enumerate(row)}


def multiply(mats, dtype):
    return [pylops.MatrixMult(A, dtype=dtype) for A in mats[rank]]


def flat(mats, dtype):
    """The operators of all ranks, for a serial stack."""
    return [pylops.MatrixMult(A, dtype=dtype) for row in mats for A in row]


def agree(what, serial, x, y, u, v):
    must_agree(what, y, serial.matvec(x))
    must_agree(what + ", adjoint", v, serial.rmatvec(u))


def sums(mats, axis):
    return [sum(A.shape[axis] for A in row) for row in mats]


def stacks():
    for dt in DTYPES:
        # Uneven blocks, and two of them on every other rank.
        square = [[(r + 2, r + 1)] + [(2, 3)] * (r % 2) for r in range(size)]
        A = matrices("A", dt, square)
        rows, cols = sums(A, 0), sums(A, 1)
        Op = pylops_mpi.MPIBlockDiag(multiply(A, dt), dtype=dt)
        x, u = rand("x", dt, sum(cols)), rand("u", dt, sum(rows))
        y = Op.matvec(scatter_blocks(x, cols)).asarray()
        v = Op.rmatvec(scatter_blocks(u, rows)).asarray()
        agree("MPIBlockDiag", pylops.BlockDiag(flat(A, dt)), x, y, u, v)
        p = dict(blocks=[len(row) for row in A], rows=rows, cols=cols)
        add_pair("MPIBlockDiag", "uneven", dt, p, dict(keys("A", A), x=x, y=y, u=u, v=v), x.shape, u.shape)

        A = matrices("A", dt, [[(r + 2, 4)] + [(2, 4)] * (r % 2) for r in range(size)])
        rows = sums(A, 0)
        Op = pylops_mpi.MPIVStack(multiply(A, dt), dtype=dt)
        x, u = rand("x", dt, 4), rand("u", dt, sum(rows))
        y = Op.matvec(broadcast(x)).asarray()
        v = Op.rmatvec(scatter_blocks(u, rows)).asarray()
        agree("MPIVStack", pylops.VStack(flat(A, dt)), x, y, u, v)
        p = dict(blocks=[len(row) for row in A], rows=rows, cols=4)
        add_pair("MPIVStack", "uneven", dt, p, dict(keys("A", A), x=x, y=y, u=u, v=v), x.shape, u.shape)

        A = matrices("A", dt, [[(4, r + 2)] + [(4, 2)] * (r % 2) for r in range(size)])
        cols = sums(A, 1)
        Op = pylops_mpi.MPIHStack(multiply(A, dt), dtype=dt)
        x, u = rand("x", dt, sum(cols)), rand("u", dt, 4)
        y = Op.matvec(scatter_blocks(x, cols)).asarray()
        v = Op.rmatvec(broadcast(u)).asarray()
        agree("MPIHStack", pylops.HStack(flat(A, dt)), x, y, u, v)
        p = dict(blocks=[len(row) for row in A], rows=4, cols=cols)
        add_pair("MPIHStack", "uneven", dt, p, dict(keys("A", A), x=x, y=y, u=u, v=v), x.shape, u.shape)


def stacked():
    for dt in DTYPES:
        A = matrices("A", dt, [[(r + 2, r + 1)] for r in range(size)])
        B = matrices("B", dt, [[(3, r + 1)] for r in range(size)])
        cols, rowsA, rowsB = sums(A, 1), sums(A, 0), sums(B, 0)
        OpA = pylops_mpi.MPIBlockDiag(multiply(A, dt), dtype=dt)
        OpB = pylops_mpi.MPIBlockDiag(multiply(B, dt), dtype=dt)

        Op = pylops_mpi.MPIStackedVStack([OpA, OpB], dtype=dt)
        x, u0, u1 = rand("x", dt, sum(cols)), rand("u0", dt, sum(rowsA)), rand("u1", dt, sum(rowsB))
        y = Op.matvec(scatter_blocks(x, cols))
        u = StackedDistributedArray([scatter_blocks(u0, rowsA), scatter_blocks(u1, rowsB)])
        v = Op.rmatvec(u).asarray()
        p = dict(cols=cols, rows0=rowsA, rows1=rowsB)
        y0, y1 = y[0].asarray(), y[1].asarray()
        serial = pylops.VStack([pylops.BlockDiag(flat(A, dt)), pylops.BlockDiag(flat(B, dt))])
        agree("MPIStackedVStack", serial, x, np.hstack([y0, y1]), np.hstack([u0, u1]), v)
        arrays = dict(keys("A", A), **keys("B", B), x=x, y0=y0, y1=y1, u0=u0, u1=u1, v=v)
        add("MPIStackedVStack", "blockdiags", dt, p, arrays, x.shape, (u0.size + u1.size,))

        D = pylops_mpi.MPIFirstDerivative((13,), sampling=0.7, edge=True, dtype=dt)
        Op = pylops_mpi.MPIStackedBlockDiag([OpA, D], dtype=dt)
        x0, x1, u1 = rand("x0", dt, sum(cols)), rand("x1", dt, 13), rand("u1", dt, 13)
        y = Op.matvec(StackedDistributedArray([scatter_blocks(x0, cols), scatter_rows(x1)]))
        v = Op.rmatvec(StackedDistributedArray([scatter_blocks(u0, rowsA), scatter_rows(u1)]))
        p = dict(cols=cols, rows0=rowsA, sampling=0.7, edge=True, kind="centered", order=3)
        y0, y1, v0, v1 = y[0].asarray(), y[1].asarray(), v[0].asarray(), v[1].asarray()
        serial = pylops.BlockDiag(flat(A, dt) + [pylops.FirstDerivative(13, sampling=0.7, edge=True, dtype=dt)])
        agree("MPIStackedBlockDiag", serial, np.hstack([x0, x1]), np.hstack([y0, y1]), np.hstack([u0, u1]), np.hstack([v0, v1]))
        arrays = dict(keys("A", A), x0=x0, x1=x1, y0=y0, y1=y1, u0=u0, u1=u1, v0=v0, v1=v1)
        add("MPIStackedBlockDiag", "blockdiag-derivative", dt, p, arrays, (x0.size + 13,), (u0.size + 13,))


def matrix_mult():
    """Whole matrices: how the ranks share them is the business of each kind."""
    root = math.isqrt(size)
    row, col = divmod(rank, root)
    N, K, M = 5, 7, 3

    def columns(i):
        b = math.ceil(M / root)
        return slice(i * b, min(M, (i + 1) * b))

    for dt in DTYPES:
        A, X, U = rand("A", dt, (N, K)), rand("x", dt, (K, M)), rand("u", dt, (N, M))
        for kind in ("block", "summa"):
            if kind == "summa":
                def mine(Z):
                    return Z[local_block_split(Z.shape, rank, comm)]

                local = mine(A)
            else:
                def mine(Z):
                    return Z[:, columns(row)]

                b = math.ceil(N / root)
                local = A[col * b:min(N, (col + 1) * b)]
            for save in (False, True):
                Op = pylops_mpi.MPIMatrixMult(local, M, saveAt=save, kind=kind, dtype=dt)

                def whole(z, shape):
                    blocks = comm.allgather(z.local_array)
                    out = np.zeros(shape, z.dtype)
                    for r, b in enumerate(blocks):
                        at = local_block_split(shape, r, comm) if kind == "summa" else (slice(None), columns(r // root))
                        out[at] = b.reshape(out[at].shape)
                    return out

                Y = whole(Op.matvec(scatter_blocks_of(mine(X))), (N, M))
                V = whole(Op.rmatvec(scatter_blocks_of(mine(U))), (K, M))
                must_agree("MPIMatrixMult", Y, A @ X)
                must_agree("MPIMatrixMult, adjoint", V, A.conj().T @ U)
                p = dict(kind=kind, saveAt=save, M=M)
                add_pair("MPIMatrixMult", tag(kind, f"save{int(save)}"), dt, p, dict(A=A, x=X, y=Y, u=U, v=V), X.shape, U.shape)


def fredholm1():
    """Slices of the kernel over ranks, model and data whole on each."""
    nsl, nx, ny = 7, 4, 3  # PyLops-MPI wants two slices on every rank
    at = slice(sum(split(nsl)[:rank]), sum(split(nsl)[:rank + 1]))
    for nz in (1, 2):
        for dt in DTYPES:
            G, X, U = rand("G", dt, (nsl, nx, ny)), rand("x", dt, (nsl, ny, nz)), rand("u", dt, (nsl, nx, nz))
            Op = pylops_mpi.signalprocessing.MPIFredholm1(G[at], nz=nz, saveGt=False, dtype=dt)
            Y = Op.matvec(broadcast(X.ravel())).asarray().reshape(U.shape)
            V = Op.rmatvec(broadcast(U.ravel())).asarray().reshape(X.shape)
            serial = pylops.signalprocessing.Fredholm1(G, nz=nz, dtype=dt)
            must_agree("MPIFredholm1", Y, serial.matvec(X.ravel()).reshape(U.shape))
            must_agree("MPIFredholm1, adjoint", V, serial.rmatvec(U.ravel()).reshape(X.shape))
            add_pair("MPIFredholm1", f"nz{nz}", dt, dict(nz=nz), dict(G=G, x=X, y=Y, u=U, v=V), X.shape, U.shape)


def mdc():
    """Frequencies of the kernel over ranks, model and data whole on each."""
    nf, ns, nr = 7, 4, 3
    at = slice(sum(split(nf)[:rank]), sum(split(nf)[:rank + 1]))
    for nt, nv, twosided, conj, prescaled in ((15, 2, True, False, False), (14, 1, False, True, False), (13, 2, False, False, True)):
        for dt, ct in (("float32", "complex64"), ("float64", "complex128")):
            G, X, U = rand("G", ct, (nf, ns, nr)), rand("x", dt, (nt, nr, nv)), rand("u", dt, (nt, ns, nv))
            kw = dict(nt=nt, nv=nv, dt=0.5, dr=2.5, twosided=twosided, saveGt=False, conj=conj, prescaled=prescaled)
            Op = pylops_mpi.waveeqprocessing.MPIMDC(G[at], nfreq=nf, **kw)
            Y = Op.matvec(broadcast(X.ravel())).asarray().real.astype(dt).reshape(U.shape)
            V = Op.rmatvec(broadcast(U.ravel())).asarray().real.astype(dt).reshape(X.shape)
            serial = pylops.waveeqprocessing.MDC(G, **kw)
            must_agree("MPIMDC", Y, serial.matvec(X.ravel()).reshape(U.shape))
            must_agree("MPIMDC, adjoint", V, serial.rmatvec(U.ravel()).reshape(X.shape))
            p = dict(dt=0.5, dr=2.5, twosided=twosided, conj=conj, prescaled=prescaled)
            add_pair("MPIMDC", f"nt{nt}", dt, p, dict(G=G, x=X, y=Y, u=U, v=V), X.shape, U.shape)


def nonstationary_convolve1d():
    def put(dims, nh, ih, axis, dtypes):
        ih = np.array(ih)
        for dt in dtypes:
            hs, x, u = rand("hs", dt, (len(ih), nh)), rand("x", dt, dims), rand("u", dt, dims)
            Op = pylops_mpi.signalprocessing.MPINonStationaryConvolve1D(dims, hs, ih, axis=axis, dtype=dt)
            n = split(dims[axis])
            begin = sum(n[:rank])
            mine = tuple(slice(begin, begin + n[rank]) if a == axis else slice(None) for a in range(len(dims)))

            def apply(f, z):
                block = f(scatter_blocks_of(z[mine])).local_array.reshape(z[mine].shape)
                return np.concatenate(comm.allgather(block), axis=axis)

            y, v = apply(Op.matvec, x), apply(Op.rmatvec, u)
            serial = pylops.signalprocessing.NonStationaryConvolve1D(dims, hs, ih, axis=axis, dtype=dt)
            must_agree(f"MPINonStationaryConvolve1D, {nh} samples", y, serial.matvec(x.ravel()).reshape(dims))
            must_agree(f"MPINonStationaryConvolve1D, {nh} samples, adjoint", v, serial.rmatvec(u.ravel()).reshape(dims))

            def true_adjoint():
                eye = np.eye(int(np.prod(dims)), dtype=dt)
                dense = np.stack([serial.matvec(e) for e in eye], axis=1)
                return (dense.conj().T @ u.ravel()).reshape(dims).astype(dt)

            var = tag(axes_tag(dims), f"nh{nh}", "ih" + axes_tag(ih), f"axis{axis}")
            arrays = dict(hs=hs, ih=ih.astype(np.int64), x=x, y=y, u=u, v=v)
            add_pair("MPINonStationaryConvolve1D", var, dt, dict(ih=ih, axis=axis), arrays, dims, dims, true_adjoint)

    put((18,), 3, (1, 4, 7, 10, 13, 16), 0, DTYPES)
    put((18,), 5, (1, 4, 7, 10, 13, 16), 0, one())
    put((18, 2), 3, (1, 4, 7, 10, 13, 16), 0, one())
    put((2, 18), 3, (1, 4, 7, 10, 13, 16), 1, one())


STAGES = [first_derivative, second_derivative, laplacian, gradient, halo, stacks, stacked, fredholm1, mdc, nonstationary_convolve1d]
