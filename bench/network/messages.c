/* Measures the messages of programs of several ranks: the latency of a small message between ranks 0 and the last, and the bytes that
   each rank sends per second while all exchange pieces of 16 MiB. Prints both as mtc plan --network reads them. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { trips = 2000, rounds = 20, pieceBytes = 16 << 20 };

static double measureLatency(int rank, int count) {
  char byte = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  double begin = MPI_Wtime();
  for (int i = 0; i < trips; ++i) {
    int other = rank == 0 ? count - 1 : 0;
    if (rank == 0)
      MPI_Send(&byte, 1, MPI_BYTE, other, 0, MPI_COMM_WORLD);
    if (rank == 0 || rank == count - 1)
      MPI_Recv(&byte, 1, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == count - 1)
      MPI_Send(&byte, 1, MPI_BYTE, other, 0, MPI_COMM_WORLD);
  }
  return (MPI_Wtime() - begin) / (2.0 * trips);
}

static double measureBandwidth(int rank, int count) {
  MPI_Request *requests = malloc(2 * (size_t)count * sizeof(MPI_Request));
  char *sent = calloc((size_t)count, pieceBytes), *received = calloc((size_t)count, pieceBytes);
  double fastest = 0;
  for (int round = 0; round < rounds; ++round) {
    int started = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    for (int i = 1; i < count; ++i) {
      int to = (rank + i) % count, from = (rank + count - i) % count;
      MPI_Irecv(received + (size_t)from * pieceBytes, pieceBytes, MPI_BYTE, from, 1, MPI_COMM_WORLD, &requests[started++]);
      MPI_Isend(sent + (size_t)to * pieceBytes, pieceBytes, MPI_BYTE, to, 1, MPI_COMM_WORLD, &requests[started++]);
    }
    MPI_Waitall(started, requests, MPI_STATUSES_IGNORE);
    double seconds = MPI_Wtime() - begin, slowest = 0;
    MPI_Allreduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    double bandwidth = (count - 1) * (double)pieceBytes / slowest;
    fastest = bandwidth > fastest ? bandwidth : fastest;
  }
  free(requests);
  free(sent);
  free(received);
  return fastest;
}

int main(int argc, char **argv) {
  int rank = 0, count = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &count);
  if (count < 2) {
    fprintf(stderr, "messages: expected at least 2 processes; start it with mpirun -n 2\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  double seconds = measureLatency(rank, count), bytesPerSecond = measureBandwidth(rank, count);
  if (rank == 0)
    printf("%.3gus,%.3gGB/s\n", seconds * 1e6, bytesPerSecond / 1e9);
  MPI_Finalize();
  return 0;
}
