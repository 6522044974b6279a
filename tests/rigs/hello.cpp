// SPDX-License-Identifier: BSD-3-Clause
//
// Checks that the ranks of an MPI job run on N hosts.
//
//     mpirun -n 6 rig_hello 3
//
// Each rank prints its host; the exit code is 1 if the number of host names differs from N.
#include <mpi.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

using Name = std::array<char, MPI_MAX_PROCESSOR_NAME>;

int main(int argc, char** argv) {
  const std::size_t wanted = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1;
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  Name mine = {};
  int length = 0;
  MPI_Get_processor_name(mine.data(), &length);
  std::vector<Name> all(static_cast<std::size_t>(size));
  MPI_Allgather(mine.data(), MPI_MAX_PROCESSOR_NAME, MPI_CHAR, all.data(), MPI_MAX_PROCESSOR_NAME,
                MPI_CHAR, MPI_COMM_WORLD);
  std::set<std::string> hosts;
  for (const Name& name : all) {
    hosts.insert(name.data());
  }
  std::printf("rank %d of %d is on %s, one of %zu hosts\n", rank, size, mine.data(), hosts.size());
  MPI_Finalize();
  return hosts.size() == wanted ? EXIT_SUCCESS : EXIT_FAILURE;
}
