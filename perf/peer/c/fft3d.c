// Times FFTW-MPI: the transform of n × n × n complex128, split by the first axis over the ranks of MPI.
// Arguments: n, 1 to leave the result transposed, calls, a file that keeps plans for the next run.
// It prints the 4-norm of the result, then the seconds of each call, from the first rank that begins to the last that ends.
#include <fftw3-mpi.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

// value is the element at i; split.go has the same formula.
static double value(long i) { return (double)(i * 7919 % 1009) / 1009 - 0.5; }

// seconds is a clock that all processes of this machine share.
static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv) {
    if (argc != 5) {
        fprintf(stderr, "usage: fft3d n transposed calls plans\n");
        return 2;
    }
    ptrdiff_t n = atoi(argv[1]), rows, first, outRows, outFirst;
    int calls = atoi(argv[3]), rank;
    unsigned flags = FFTW_MEASURE | (atoi(argv[2]) ? FFTW_MPI_TRANSPOSED_OUT : 0);
    MPI_Init(&argc, &argv);
    fftw_mpi_init();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) fftw_import_wisdom_from_filename(argv[4]);
    fftw_mpi_broadcast_wisdom(MPI_COMM_WORLD);
    ptrdiff_t room = fftw_mpi_local_size_3d_transposed(n, n, n, MPI_COMM_WORLD, &rows, &first, &outRows, &outFirst);
    fftw_complex *x = fftw_alloc_complex(room), *y = fftw_alloc_complex(room);
    fftw_plan plan = fftw_mpi_plan_dft_3d(n, n, n, x, y, MPI_COMM_WORLD, FFTW_FORWARD, flags);
    fftw_mpi_gather_wisdom(MPI_COMM_WORLD);
    if (rank == 0) fftw_export_wisdom_to_filename(argv[4]);
    for (ptrdiff_t i = 0; i < rows * n * n; i++) x[i][0] = value(i + first * n * n), x[i][1] = value(2 * (i + first * n * n) + 1);
    for (int t = -1; t < calls; t++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double s[2] = {-seconds(), 0}, ends[2], sum = 0, all;
        fftw_execute(plan);
        s[1] = seconds();
        if (t < 0) {
            for (ptrdiff_t i = 0; i < outRows * n * n; i++) {
                double a = y[i][0] * y[i][0] + y[i][1] * y[i][1];
                sum += a * a;
            }
            MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
            if (rank == 0) printf("%.12g\n", sqrt(sqrt(all)));
            continue;
        }
        MPI_Reduce(s, ends, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        if (rank == 0) printf("%.9f\n", ends[0] + ends[1]);
    }
    MPI_Finalize();
    return 0;
}
