/* SPDX-License-Identifier: BSD-3-Clause
 *
 * MPI for main.f90: a communicator of the program's, whose ranks are turned around.
 */
#ifdef TESSERA_TESTS_HAVE_MPI
#include <mpi.h>
#endif

int test_communicator(void);
void test_finalize(void);

#ifdef TESSERA_TESTS_HAVE_MPI

int test_communicator(void) {
  int rank = 0;
  MPI_Comm reversed = MPI_COMM_NULL;
  MPI_Init(0, 0);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
  return MPI_Comm_c2f(reversed);
}

void test_finalize(void) {
  MPI_Finalize();
}

#else

int test_communicator(void) {
  return -1;
}

void test_finalize(void) {}

#endif
