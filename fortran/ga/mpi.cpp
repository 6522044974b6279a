// SPDX-License-Identifier: BSD-3-Clause
//
// The communicators of Global Arrays, for programs that mix it with MPI. The only source of this
// layer that includes <mpi.h>. Without MPI these functions do not exist.
#ifdef TESSERA_HAVE_MPI

#include <mpi.h>

#include "fortran/ga/entry.hpp"
#include "rma/armci/armci.h"

namespace tessera::ga {
namespace {

MPI_Comm communicator_of(const char* function, std::int64_t number) {
  MPI_Comm found = MPI_COMM_NULL;
  enter(function, [&]() -> Status {
    Group* group = nullptr;
    TESSERA_RETURN_IF_ERROR(find_group(number, group));
    TESSERA_RETURN_IF_ERROR(group->check_member());
    found = armci_group_comm(&group->below);
    return {};
  });
  return found;
}

/// Lets ARMCI begin the session, on these processes, and takes it over.
int initialize_on(const char* function, MPI_Comm communicator) {
  enter(function, [&]() -> Status {
    if (ARMCI_Init_mpi_comm(communicator) != 0) {
      return Status::error(Code::invalid_argument, "the communicator can't be used");
    }
    Status begun = Session::begin(-1);
    ARMCI_Finalize();
    return begun;
  });
  return Session::current() == nullptr ? 0 : 1;
}

std::int64_t default_number() {
  return default_group().number;
}

}  // namespace
}  // namespace tessera::ga

namespace ga = tessera::ga;

extern "C" {

int GA_Initialize_comm(MPI_Comm communicator) {
  return ga::initialize_on("GA_Initialize_comm", communicator);
}
int NGA_Initialize_comm(MPI_Comm communicator) {
  return ga::initialize_on("NGA_Initialize_comm", communicator);
}
MPI_Comm GA_MPI_Comm(void) {
  return ga::communicator_of("GA_MPI_Comm", ga::Group::world);
}
MPI_Comm GA_MPI_Comm_pgroup(int group) {
  return ga::communicator_of("GA_MPI_Comm_pgroup", group);
}
MPI_Comm GA_MPI_Comm_pgroup_default(void) {
  return ga::communicator_of("GA_MPI_Comm_pgroup_default", ga::default_number());
}

void ga_mpi_comm_(ga::F* communicator) {
  *communicator = MPI_Comm_c2f(ga::communicator_of("ga_mpi_comm", ga::Group::world));
}
void ga_mpi_comm_pgroup_(ga::F* communicator, const ga::F* group) {
  *communicator = MPI_Comm_c2f(ga::communicator_of("ga_mpi_comm_pgroup", *group));
}
void ga_mpi_comm_pgroup_default_(ga::F* communicator) {
  *communicator =
      MPI_Comm_c2f(ga::communicator_of("ga_mpi_comm_pgroup_default", ga::default_number()));
}

}  // extern "C"

#endif
