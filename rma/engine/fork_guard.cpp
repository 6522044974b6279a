// SPDX-License-Identifier: BSD-3-Clause
#include "rma/engine/fork_guard.hpp"

#include <pthread.h>

#include <algorithm>
#include <mutex>
#include <vector>

#include "rma/engine/job_state.hpp"

namespace tessera::rma::detail {
namespace {

// The jobs of this process; several if ranks are threads.
struct Jobs {
  std::mutex mutex;
  std::vector<JobState*> all;
};

// Never destroyed: jobs may end after the end of main().
Jobs& jobs() {
  static auto* const here = new Jobs;
  return *here;
}

void before_fork() {
  jobs().mutex.lock();
}
void in_parent() {
  jobs().mutex.unlock();
}
void in_child() {
  for (JobState* const job : jobs().all) {
    job->close_in_forked_child();
  }
  jobs().mutex.unlock();
}

}  // namespace

ForkGuard::ForkGuard(JobState& job) : job_(job) {
  static const int is_watching = pthread_atfork(before_fork, in_parent, in_child);
  static_cast<void>(is_watching);  // without memory for the handlers, children are not guarded
  const std::lock_guard guard(jobs().mutex);
  jobs().all.push_back(&job);
}

ForkGuard::~ForkGuard() {
  const std::lock_guard guard(jobs().mutex);
  std::vector<JobState*>& all = jobs().all;
  all.erase(std::remove(all.begin(), all.end(), &job_), all.end());
}

bool ForkGuard::is_in_child() noexcept {
  const std::lock_guard guard(jobs().mutex);
  const std::vector<JobState*>& all = jobs().all;
  return std::any_of(all.begin(), all.end(),
                     [](const JobState* job) { return job->is_in_forked_child(); });
}

}  // namespace tessera::rma::detail
