// SPDX-License-Identifier: BSD-3-Clause
//
// Faults: the calls and requests that must fail.
//
// Threads: all functions from any thread.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <vector>

#include "tests/support/fake_verbs.hpp"

namespace tessera::rma::test::fake {

class Faults {
 public:
  void fail(FakeVerbs::Call call, int error, int after, int times);
  void break_next(ibv_wc_opcode kind, ibv_wc_status status);

  /// The error with which this call must end, or 0. Counts the call.
  int take(FakeVerbs::Call call);
  /// The status with which this request must end, if any.
  std::optional<ibv_wc_status> take(ibv_wc_opcode kind);

 private:
  struct FailingCall {
    FakeVerbs::Call call;
    int error;
    int after;
    int times;
  };
  struct BrokenRequest {
    ibv_wc_opcode kind;
    ibv_wc_status status;
  };

  std::atomic<bool> has_any_{false};  // so that calls without faults need no lock
  std::mutex mutex_;
  std::vector<FailingCall> calls_;
  std::vector<BrokenRequest> requests_;
};

}  // namespace tessera::rma::test::fake
