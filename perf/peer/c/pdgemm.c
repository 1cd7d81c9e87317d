// Times ScaLAPACK's pdgemm: Y = A·X, all n × n in float64, on the ranks of MPI.
// Arguments: n, rows and columns of the grid, extent of a block, calls.
// It prints the norm of Y, then the seconds of each call, from the first rank that begins to the last that ends.
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

void Cblacs_get(int, int, int *);
void Cblacs_gridinit(int *, char *, int, int);
void Cblacs_gridinfo(int, int *, int *, int *, int *);
int numroc_(int *, int *, int *, int *, int *);
void descinit_(int *, int *, int *, int *, int *, int *, int *, int *, int *, int *);
void pdgemm_(char *, char *, int *, int *, int *, double *, double *, int *, int *, int *, double *, int *, int *, int *,
             double *, double *, int *, int *, int *);

// value is element i of array number seed; golops.go has the same formula.
static double value(long i, long seed) { return (double)((i * 7919 + seed * 104729) % 1009) / 1009 - 0.5; }

// seconds is a clock that all processes of this machine share.
static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv) {
    if (argc != 6) {
        fprintf(stderr, "usage: pdgemm n rows columns block calls\n");
        return 2;
    }
    int n = atoi(argv[1]), rows = atoi(argv[2]), columns = atoi(argv[3]), block = atoi(argv[4]), calls = atoi(argv[5]);
    MPI_Init(&argc, &argv);
    int grid, row, column, zero = 0, one = 1, info, desc[9];
    Cblacs_get(-1, 0, &grid);
    Cblacs_gridinit(&grid, "Row", rows, columns);
    Cblacs_gridinfo(grid, &rows, &columns, &row, &column);
    int m = numroc_(&n, &block, &row, &zero, &rows), w = numroc_(&n, &block, &column, &zero, &columns), lead = m > 1 ? m : 1;
    descinit_(desc, &n, &n, &block, &block, &zero, &zero, &grid, &lead, &info);
    size_t size = (size_t)m * w;
    double *a = malloc(8 * size + 8), *x = malloc(8 * size + 8), *y = malloc(8 * size + 8), alpha = 1, beta = 0;
    for (int c = 0; c < w; c++)
        for (int r = 0; r < m; r++) {
            long i = ((long)(r / block) * rows + row) * block + r % block, j = ((long)(c / block) * columns + column) * block + c % block;
            a[(size_t)c * m + r] = value(i * n + j, 4);
            x[(size_t)c * m + r] = value(i * n + j, 1);
        }
    for (int t = -1; t < calls; t++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double s[2] = {-seconds(), 0}, ends[2], norm = 0, all; // with more ranks than cores some begin late
        pdgemm_("N", "N", &n, &n, &n, &alpha, a, &one, &one, desc, x, &one, &one, desc, &beta, y, &one, &one, desc);
        s[1] = seconds();
        if (t < 0) {
            for (size_t k = 0; k < size; k++) norm += y[k] * y[k];
            MPI_Reduce(&norm, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
            if (row + column == 0) printf("%.12g\n", sqrt(all));
            continue;
        }
        MPI_Reduce(s, ends, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        if (row + column == 0) printf("%.9f\n", ends[0] + ends[1]);
    }
    MPI_Finalize();
    return 0;
}
