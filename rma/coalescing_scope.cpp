// SPDX-License-Identifier: BSD-3-Clause
#include "rma/coalescing_scope.hpp"

#include "rma/engine/job_state.hpp"

namespace tessera::rma {

CoalescingScope::CoalescingScope(Job& job) noexcept
    : job_(job.state().link() == nullptr ? nullptr : &job.state()) {
  if (job_ != nullptr) {
    job_->link()->hold();
  }
}

// A child made by fork() has copies of its parent's held messages; it must not send them.
CoalescingScope::~CoalescingScope() {
  if (job_ != nullptr && !job_->is_in_forked_child()) {
    job_->link()->release();
  }
}

}  // namespace tessera::rma
