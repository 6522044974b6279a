// SPDX-License-Identifier: BSD-3-Clause
#include "rma/bootstrap/detect.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include "rma/bootstrap.hpp"
#include "rma/bootstrap/fork_control.hpp"
#include "rma/engine/mpi_network.hpp"

namespace tessera::rma {
namespace {

std::optional<std::int64_t> to_number(const char* text) {
  std::int64_t value = 0;
  if (text == nullptr || std::from_chars(text, text + std::strlen(text), value).ec != std::errc{}) {
    return std::nullopt;
  }
  return value;
}

// The first of these variables that is set to a number.
std::int64_t number_in_variables(std::initializer_list<const char*> names, std::int64_t otherwise) {
  for (const char* name : names) {
    if (const auto number = to_number(std::getenv(name))) {
      return *number;
    }
  }
  return otherwise;
}

const char* after_colon(const char* text) {
  const char* const colon = text == nullptr ? nullptr : std::strchr(text, ':');
  return colon == nullptr ? nullptr : colon + 1;
}

// Detects the launcher of processes that find each other by MPI.
LauncherInfo detect_mpi_launcher() {
  const std::int64_t rank =
      number_in_variables({"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"}, -1);
  const std::int64_t ranks =
      number_in_variables({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS"}, 0);
  if (ranks > 0) {
    return {"mpirun", ranks, rank};
  }
  if (std::getenv("PMIX_RANK") != nullptr) {
    return {"mpirun", 0, rank};
  }
  // Slurm sets its variables in an interactive allocation too; only in a step is there a process
  // id.
  if (std::getenv("SLURM_PROCID") != nullptr && std::getenv("SLURM_STEP_ID") != nullptr) {
    return {"srun", number_in_variables({"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"}, 0),
            number_in_variables({"SLURM_PROCID"}, -1)};
  }
  return {};
}

}  // namespace

bool detail::is_descendant_of_rank() {
  const char* const launch = std::getenv(launch_variable);
  const auto rank_process = to_number(after_colon(after_colon(after_colon(launch))));
  return rank_process && *rank_process != getpid();
}

LauncherInfo detect_launcher() {
  const char* const launch = std::getenv(detail::launch_variable);
  if (launch == nullptr) {
    return detect_mpi_launcher();
  }
  if (detail::is_descendant_of_rank()) {
    return {};  // MPI's variables do not count either: its launcher may have started tessera-run
  }
  // "descriptor@launcher:rank:ranks"
  const char* const rank = after_colon(launch);
  return {"tessera-run", to_number(after_colon(rank)).value_or(0), to_number(rank).value_or(-1)};
}

// MPI_THREAD_MULTIPLE slows down a program's own MPI calls: not used if MPI only starts the job.
MpiThreads mpi_threads_of(const Settings& settings) {
  const bool is_skipped =
      detail::are_default_transports(settings) && detail::find_mpi_network().network.empty();
  return names_transport(settings.transport, "mpi") && !is_skipped ? MpiThreads::several
                                                                   : MpiThreads::none;
}

Result<std::shared_ptr<Bootstrap>> choose_bootstrap(const Settings& settings) {
  const MpiThreads threads = mpi_threads_of(settings);
  if (settings.bootstrap == "alone") {
    return alone_bootstrap();
  }
  if (settings.bootstrap == "fork") {
    return fork_bootstrap();
  }
  if (settings.bootstrap == "mpi" || detail::mpi_is_running()) {
    return mpi_world_bootstrap(threads);
  }
  const std::string_view launcher = detect_launcher().launcher;
  if (launcher == "tessera-run") {
    return fork_bootstrap();
  }
  if (launcher.empty()) {
    return alone_bootstrap();
  }
  return mpi_world_bootstrap(threads);
}

}  // namespace tessera::rma
