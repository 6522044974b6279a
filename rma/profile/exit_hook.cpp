// SPDX-License-Identifier: BSD-3-Clause
#include "rma/profile/exit_hook.hpp"

#include <cstdlib>
#include <utility>

#include "rma/catch_bad_alloc.hpp"
#include "rma/engine/job_state.hpp"
#include "rma/profile/session.hpp"

namespace tessera::rma::detail {

// The note lives until the process exits, as does this library (-z nodelete).
std::shared_ptr<ExitHook> ExitHook::leave(const std::shared_ptr<JobState>& job,
                                          ProfileSession& profile) {
  const std::shared_ptr<ExitHook> note(new ExitHook(job, profile));
  auto kept = std::make_unique<std::shared_ptr<ExitHook>>(note);
  if (on_exit(&ExitHook::at_exit, kept.get()) != 0) {
    return nullptr;
  }
  static_cast<void>(kept.release());
  return note;
}

void ExitHook::at_exit(int status, void* note) {
  const std::unique_ptr<std::shared_ptr<ExitHook>> kept(
      static_cast<std::shared_ptr<ExitHook>*>(note));
  if (!(*kept)->withdraw()) {
    return;
  }
  const std::shared_ptr<JobState> job = (*kept)->job_.lock();
  if (job == nullptr || job->is_in_forked_child() || job->is_stopped()) {
    return;
  }
  catch_bad_alloc([&]() -> Status {
    (*kept)->profile_.finish_at_exit(*job, status == EXIT_SUCCESS);
    return {};
  }).ignore("a process that exits has no caller to report to");
}

}  // namespace tessera::rma::detail
