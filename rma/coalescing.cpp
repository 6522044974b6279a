// SPDX-License-Identifier: BSD-3-Clause
#include "rma/coalescing.hpp"

#include "rma/engine/job_state.hpp"

namespace tessera::rma {

Coalescing::Coalescing(Job& job) noexcept : link_(job.state().link.get()) {
  if (link_ != nullptr) {
    link_->hold();
  }
}

Coalescing::~Coalescing() {
  if (link_ != nullptr) {
    link_->release();
  }
}

}  // namespace tessera::rma
