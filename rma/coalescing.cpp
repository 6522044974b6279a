// SPDX-License-Identifier: BSD-3-Clause
#include "rma/coalescing.hpp"

#include "rma/engine/job_state.hpp"

namespace tessera::rma {

Coalescing::Coalescing(Job& job) noexcept
    : job_(job.state().link == nullptr ? nullptr : &job.state()) {
  if (job_ != nullptr) {
    job_->link->hold();
  }
}

// A child made by fork() has copies of its parent's held messages; it must not send them.
Coalescing::~Coalescing() {
  if (job_ != nullptr && !job_->is_left_to_parent()) {
    job_->link->release();
  }
}

}  // namespace tessera::rma
