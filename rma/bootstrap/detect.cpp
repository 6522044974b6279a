// SPDX-License-Identifier: BSD-3-Clause
#include "rma/bootstrap/detect.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "rma/bootstrap.hpp"
#include "rma/bootstrap/fork_control.hpp"

namespace tessera::rma {
namespace {

std::int64_t number_in_variable(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr) {
    return 0;
  }
  std::int64_t value = 0;
  std::from_chars(text, text + std::strlen(text), value);
  return value;
}

}  // namespace

LauncherTrace detect_launcher() {
  if (std::getenv(detail::launch_variable) != nullptr) {
    return {"tessera-run", 0};
  }
  constexpr std::array mpirun_sizes{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS"};
  for (const char* name : mpirun_sizes) {
    if (const std::int64_t ranks = number_in_variable(name); ranks > 0) {
      return {"mpirun", ranks};
    }
  }
  if (std::getenv("PMIX_RANK") != nullptr) {
    return {"mpirun", 0};
  }
  // Slurm sets its variables in an interactive allocation too; only a step has a process id.
  if (std::getenv("SLURM_PROCID") != nullptr && std::getenv("SLURM_STEP_ID") != nullptr) {
    const std::int64_t step = number_in_variable("SLURM_STEP_NUM_TASKS");
    return {"srun", step > 0 ? step : number_in_variable("SLURM_NTASKS")};
  }
  return {};
}

Result<std::shared_ptr<Bootstrap>> choose_bootstrap(const Settings& settings) {
  if (settings.bootstrap == "alone") {
    return alone_bootstrap();
  }
  if (settings.bootstrap == "fork") {
    return fork_bootstrap();
  }
  if (settings.bootstrap == "mpi" || detail::mpi_is_running()) {
    return mpi_world_bootstrap();
  }
  const LauncherTrace trace = detect_launcher();
  if (trace.launcher == "tessera-run") {
    return fork_bootstrap();
  }
  if (trace.launcher.empty()) {
    return alone_bootstrap();
  }
  return mpi_world_bootstrap();
}

}  // namespace tessera::rma
