// SPDX-License-Identifier: BSD-3-Clause
#include "tests/support/fake_verbs_faults.hpp"

#include <algorithm>

namespace tessera::rma::test::fake {

void Faults::fail(FakeVerbs::Call call, int error, int after, int times) {
  const std::lock_guard guard(mutex_);
  calls_.push_back({call, error, after, times});
  has_any_ = true;
}

void Faults::break_next(ibv_wc_opcode kind, ibv_wc_status status) {
  const std::lock_guard guard(mutex_);
  requests_.push_back({kind, status});
  has_any_ = true;
}

int Faults::take(FakeVerbs::Call call) {
  if (!has_any_) {
    return 0;
  }
  const std::lock_guard guard(mutex_);
  for (FailingCall& failing : calls_) {
    if (failing.call != call || failing.times == 0) {
      continue;
    }
    if (failing.after > 0) {
      --failing.after;
      continue;
    }
    --failing.times;
    return failing.error;
  }
  return 0;
}

std::optional<ibv_wc_status> Faults::take(ibv_wc_opcode kind) {
  if (!has_any_) {
    return std::nullopt;
  }
  const std::lock_guard guard(mutex_);
  const auto found = std::find_if(requests_.begin(), requests_.end(),
                                  [&](const BrokenRequest& broken) { return broken.kind == kind; });
  if (found == requests_.end()) {
    return std::nullopt;
  }
  const ibv_wc_status status = found->status;
  requests_.erase(found);
  return status;
}

}  // namespace tessera::rma::test::fake
