// SPDX-License-Identifier: BSD-3-Clause
#include "rma/profile/exit_hook.hpp"

#include <cstdlib>
#include <utility>

#include "rma/base/catch_bad_alloc.hpp"
#include "rma/engine/job_state.hpp"
#include "rma/profile/session.hpp"

namespace tessera::rma::detail {

// The hook lives until the process exits, as does this library (-z nodelete).
std::shared_ptr<ExitHook> ExitHook::install(const std::shared_ptr<JobState>& job,
                                            ProfileSession& profile) {
  const std::shared_ptr<ExitHook> hook(new ExitHook(job, profile));
  auto owned = std::make_unique<std::shared_ptr<ExitHook>>(hook);
  if (on_exit(&ExitHook::at_exit, owned.get()) != 0) {
    return nullptr;
  }
  static_cast<void>(owned.release());
  return hook;
}

void ExitHook::at_exit(int status, void* hook) {
  const std::unique_ptr<std::shared_ptr<ExitHook>> owned(
      static_cast<std::shared_ptr<ExitHook>*>(hook));
  if (!(*owned)->claim()) {
    return;
  }
  const std::shared_ptr<JobState> job = (*owned)->job_.lock();
  if (job == nullptr || job->is_in_forked_child() || job->is_stopped()) {
    return;
  }
  catch_bad_alloc([&]() -> Status {
    (*owned)->profile_.finish_at_exit(*job, status == EXIT_SUCCESS);
    return {};
  }).ignore("a process that exits has no caller to report to");
}

}  // namespace tessera::rma::detail
