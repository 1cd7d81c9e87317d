// The yardstick of `make compare`: what a C program gets from the same MPI
// library. It measures MPI_Allreduce of floats as golops perf does: a warm-up,
// then loops that double until one takes 50 ms; the mean over ranks of that
// loop's time per call. One line per size: bytes and microseconds.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double loop(float *src, float *dst, int count, long n) {
	MPI_Barrier(MPI_COMM_WORLD);
	double t = MPI_Wtime();
	for (long i = 0; i < n; i++)
		MPI_Allreduce(src, dst, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
	return MPI_Wtime() - t;
}

int main(int argc, char **argv) {
	int rank, size;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 1; i < argc; i++) {
		long bytes = atol(argv[i]), n = 20;
		float *src = aligned_alloc(64, (bytes + 63) / 64 * 64), *dst = aligned_alloc(64, (bytes + 63) / 64 * 64);
		memset(src, 0, bytes);
		memset(dst, 0, bytes);
		loop(src, dst, bytes / 4, 5);
		double t = loop(src, dst, bytes / 4, n), first = t;
		MPI_Bcast(&first, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
		while (first < 0.05) {
			n *= 2;
			first = t = loop(src, dst, bytes / 4, n);
			MPI_Bcast(&first, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
		}
		double us = t / n * 1e6, sum = 0;
		MPI_Reduce(&us, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
		if (rank == 0)
			printf("%ld %.3f\n", bytes, sum / size);
		free(src);
		free(dst);
	}
	MPI_Finalize();
	return 0;
}
