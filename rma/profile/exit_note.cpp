// SPDX-License-Identifier: BSD-3-Clause
#include "rma/profile/exit_note.hpp"

#include <cstdlib>
#include <utility>

#include "rma/engine/job_state.hpp"
#include "rma/within_memory.hpp"

namespace tessera::rma::detail {

// The note lives until the process exits, as does this library (-z nodelete).
std::shared_ptr<ExitNote> ExitNote::leave(const std::shared_ptr<JobState>& job) {
  const std::shared_ptr<ExitNote> note(new ExitNote(job));
  auto kept = std::make_unique<std::shared_ptr<ExitNote>>(note);
  if (on_exit(&ExitNote::at_exit, kept.get()) != 0) {
    return nullptr;
  }
  static_cast<void>(kept.release());
  return note;
}

void ExitNote::at_exit(int status, void* note) {
  const std::unique_ptr<std::shared_ptr<ExitNote>> kept(
      static_cast<std::shared_ptr<ExitNote>*>(note));
  if (!(*kept)->withdraw()) {
    return;
  }
  const std::shared_ptr<JobState> job = (*kept)->job_.lock();
  if (job == nullptr || job->is_left_to_parent() || job->stopped.load()) {
    return;
  }
  within_memory([&]() -> Status {
    job->finish_profile_at_exit(status == EXIT_SUCCESS);
    return {};
  }).ignore("a process that exits has no caller to report to");
}

}  // namespace tessera::rma::detail
