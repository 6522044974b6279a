// SPDX-License-Identifier: BSD-3-Clause
//
// Faults: which calls and which requests are to fail.
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

  /// The error that this call is to end with, or 0. Counts the call.
  int take(FakeVerbs::Call call);
  /// The status that this request is to end with, if any.
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

  std::atomic<bool> has_any_{false};  // so that calls which are to succeed don't meet here
  std::mutex mutex_;
  std::vector<FailingCall> calls_;
  std::vector<BrokenRequest> requests_;
};

}  // namespace tessera::rma::test::fake
