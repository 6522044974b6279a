// SPDX-License-Identifier: BSD-3-Clause
#include "rma/armci/communicator.hpp"

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#ifdef TESSERA_HAVE_MPI

#include <fmt/format.h>
#include <mpi.h>

#include "rma/armci/armci.h"
#include "rma/armci/call.hpp"
#include "rma/armci/parmci.h"
#include "rma/bootstrap.hpp"
#include "rma/tuning.hpp"

namespace tessera::rma::armci {
namespace {

bool is_running() {
  int started = 0;
  int ended = 0;
  MPI_Initialized(&started);
  MPI_Finalized(&ended);
  return started != 0 && ended == 0;
}

Status mpi_error(const char* function, int code) {
  return Status::error(Code::unreachable, fmt::format("{} failed with code {}", function, code));
}

// Whether this folder started MPI and still has to end it.
bool has_started_mpi = false;

// If the process exits during a job, MPI is not ended: the other ranks then detect the loss.
void end_mpi_at_exit() {
  if (Session::current() == nullptr) {
    end_mpi();
  }
}

// Set by ARMCI_Init_mpi_comm before the session begins: the processes of the job.
MPI_Comm world_of_job = MPI_COMM_NULL;

}  // namespace

class Communicator {
 public:
  explicit Communicator(MPI_Comm comm) : comm_(comm) {}
  ~Communicator() {
    if (is_running()) {
      MPI_Comm_free(&comm_);
    }
  }
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  [[nodiscard]] MPI_Comm get() const noexcept { return comm_; }

 private:
  MPI_Comm comm_;
};

Result<std::shared_ptr<Communicator>> world_communicator(const Job& job) {
  if (job.bootstrap().name() != "mpi") {
    return std::shared_ptr<Communicator>();
  }
  MPI_Comm own = MPI_COMM_NULL;
  const MPI_Comm all = world_of_job == MPI_COMM_NULL ? MPI_COMM_WORLD : world_of_job;
  if (const int code = MPI_Comm_dup(all, &own); code != MPI_SUCCESS) {
    return mpi_error("MPI_Comm_dup", code);
  }
  return std::make_shared<Communicator>(own);
}

Result<std::shared_ptr<Communicator>> team_communicator(const std::shared_ptr<Communicator>& world,
                                                        const Team& team) {
  if (world == nullptr) {
    return std::shared_ptr<Communicator>();
  }
  std::vector<int> ranks;
  ranks.reserve(static_cast<std::size_t>(team.size()));
  for (const WorldRank each : team.members()) {
    ranks.push_back(each.value);
  }
  constexpr int tag = 0;
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group some = MPI_GROUP_NULL;
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Comm_group(world->get(), &all);
  MPI_Group_incl(all, static_cast<int>(ranks.size()), ranks.data(), &some);
  const int code = MPI_Comm_create_group(world->get(), some, tag, &made);
  MPI_Group_free(&some);
  MPI_Group_free(&all);
  if (code != MPI_SUCCESS) {
    return mpi_error("MPI_Comm_create_group", code);
  }
  return std::make_shared<Communicator>(made);
}

Status start_mpi_if_launched(int* argc, char*** argv) {
  const LauncherInfo launch = detect_launcher();
  const bool is_started_by_mpi = launch.launcher == "mpirun" || launch.launcher == "srun";
  int was_started = 0;
  MPI_Initialized(&was_started);
  if (!is_started_by_mpi || was_started != 0) {
    return {};
  }
  // The session reports errors in the settings.
  std::vector<std::string> warnings;
  const Result<Settings> settings = Settings::from_environment(&warnings);
  TESSERA_RETURN_IF_ERROR(
      start_mpi(settings.ok() ? mpi_threads_of(*settings) : MpiThreads::none, argc, argv));
  has_started_mpi = true;
  return {};
}

void end_mpi_with_process() {
  if (has_started_mpi && Session::current() == nullptr) {
    has_started_mpi = std::atexit(end_mpi_at_exit) != 0;
  }
}

void end_mpi() {
  if (is_running() && !is_child_of_rank()) {
    MPI_Finalize();
  }
}

namespace {

int begin_on(const char* function, MPI_Comm comm) {
  if (comm == MPI_COMM_NULL) {
    return fail(function, Status::error(Code::invalid_argument, "the communicator is null"));
  }
  if (Session::current() == nullptr) {
    auto bootstrap = mpi_bootstrap(MPI_Comm_c2f(comm));
    if (!bootstrap.ok()) {
      return fail(function, std::move(bootstrap).status());
    }
    world_of_job = comm;
    return finish(function, Session::begin(Holder::armci, std::move(bootstrap).take()));
  }
  return finish(function, Session::begin(Holder::armci));
}

}  // namespace
}  // namespace tessera::rma::armci

namespace armci = tessera::rma::armci;

extern "C" {

int PARMCI_Init_mpi_comm(MPI_Comm comm) {
  return armci::begin_on("ARMCI_Init_mpi_comm", comm);
}
extern decltype(ARMCI_Init_mpi_comm) ARMCI_Init_mpi_comm
    [[gnu::weak, gnu::alias("PARMCI_Init_mpi_comm")]];

int PARMCI_Init_thread_comm(int, MPI_Comm comm) {
  return armci::begin_on("ARMCI_Init_thread_comm", comm);
}
extern decltype(ARMCI_Init_thread_comm) ARMCI_Init_thread_comm
    [[gnu::weak, gnu::alias("PARMCI_Init_thread_comm")]];

MPI_Comm armci_group_comm(ARMCI_Group* group) {
  return armci::call_for(
      "armci_group_comm", MPI_COMM_NULL,
      [&](armci::Session& session) -> tessera::rma::Result<MPI_Comm> {
        TESSERA_ASSIGN_OR_RETURN(armci::Group* const found, session.groups.find(group));
        return found->communicator == nullptr ? MPI_COMM_NULL : found->communicator->get();
      });
}

}  // extern "C"

#else

namespace tessera::rma::armci {

class Communicator {};

Result<std::shared_ptr<Communicator>> world_communicator(const Job&) {
  return std::shared_ptr<Communicator>();
}
Result<std::shared_ptr<Communicator>> team_communicator(const std::shared_ptr<Communicator>&,
                                                        const Team&) {
  return std::shared_ptr<Communicator>();
}
Status start_mpi_if_launched(int*, char***) {
  return {};
}
void end_mpi_with_process() {}
void end_mpi() {}

}  // namespace tessera::rma::armci

#endif
