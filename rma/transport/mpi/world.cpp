// SPDX-License-Identifier: BSD-3-Clause
#include "rma/transport/mpi/world.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "rma/transport/mpi/error.hpp"

namespace tessera::rma::mpi {
namespace {

Status check_standard(const Library& library) {
  constexpr int needed = 30;
  constexpr int radix = 10;
  return library.standard >= needed
             ? Status()
             : Status::error(Code::unsupported,
                             fmt::format("this MPI has version {}.{} of the standard, and 3.0 is "
                                         "needed",
                                         library.standard / radix, library.standard % radix))
                   .hint("build Tessera with a newer MPI, or use TESSERA_TRANSPORT=shm,tcp");
}

}  // namespace

Result<std::shared_ptr<World>> World::create(int fortran_communicator) {
  std::shared_ptr<World> world(new World);
  world->library_ = find_library();
  TESSERA_RETURN_IF_ERROR(check_standard(world->library_));
  const MPI_Comm job = MPI_Comm_f2c(fortran_communicator);
  TESSERA_RETURN_IF_ERROR(check("MPI_Comm_dup", MPI_Comm_dup(job, &world->messages_)));
  TESSERA_RETURN_IF_ERROR(check("MPI_Comm_dup", MPI_Comm_dup(job, &world->windows_)));
  for (const MPI_Comm each : {world->messages_, world->windows_}) {
    MPI_Comm_set_errhandler(each, MPI_ERRORS_RETURN);
  }
  int rank = 0;
  MPI_Comm_rank(world->windows_, &rank);
  MPI_Comm_size(world->windows_, &world->size_);
  world->rank_ = WorldRank{rank};
  TESSERA_RETURN_IF_ERROR(world->find_machines());
  return world;
}

Status World::find_machines() {
  MPI_Comm machine = MPI_COMM_NULL;
  TESSERA_RETURN_IF_ERROR(check(
      "MPI_Comm_split_type",
      MPI_Comm_split_type(windows_, MPI_COMM_TYPE_SHARED, rank_.value, MPI_INFO_NULL, &machine)));
  int first = rank_.value;
  MPI_Bcast(&first, 1, MPI_INT, 0, machine);
  MPI_Comm_free(&machine);
  first_on_machine_.resize(static_cast<std::size_t>(size_));
  return check("MPI_Allgather",
               MPI_Allgather(&first, 1, MPI_INT, first_on_machine_.data(), 1, MPI_INT, windows_));
}

bool World::are_on_one_machine(std::span<const WorldRank> ranks) const noexcept {
  const auto machine_of = [&](WorldRank rank) {
    return first_on_machine_[static_cast<std::size_t>(rank.value)];
  };
  return std::all_of(ranks.begin(), ranks.end(),
                     [&](WorldRank each) { return machine_of(each) == machine_of(ranks.front()); });
}

void World::close() noexcept {
  for (MPI_Comm* const each : {&messages_, &windows_}) {
    if (*each != MPI_COMM_NULL) {
      MPI_Comm_free(each);
    }
  }
}

Status World::check_main_thread() const {
  int is_main = 0;
  MPI_Is_thread_main(&is_main);
  if (is_main != 0) {
    return {};
  }
  return Status::error(Code::unsupported,
                       fmt::format("this thread may not call MPI, which was started with {}",
                                   thread_level_name(library_.thread_level)))
      .hint(
          "start MPI with MPI_Init_thread and MPI_THREAD_MULTIPLE, or let Tessera start it, or "
          "make all calls from the thread that started MPI");
}

}  // namespace tessera::rma::mpi
