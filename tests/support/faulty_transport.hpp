// SPDX-License-Identifier: BSD-3-Clause
//
// A transport in front of another one, which fails on purpose: the nth call of a function answers
// with a chosen error, at once or, where a call has a Completion, through that and later. It can
// also hold operations back and carry out one at each progress().
//
// Threads: a plan is written before the job starts, and read by anybody.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "rma/transport.hpp"

namespace tessera::rma::test {

/// The functions of Transport, Segment and Endpoint that can be made to fail.
enum class Call : std::uint8_t {
  allocate,
  attach,
  connect,
  put,
  get,
  accumulate,
  atomic,
  fence,
  free,
  begin_access,
  end_access,
};
inline constexpr std::size_t call_count = 11;

/// The `nth` call (from 1) at each rank answers with `code`, and all calls after it up to `last`.
struct Fault {
  Call call = Call::put;
  Code code = Code::internal;
  bool late = false;  ///< put, get, accumulate, atomic: ok() at once, the error by Completion::end
  int nth = 1;
  int last = 1;
};

struct FaultPlan {
  std::vector<Fault> faults = {};
  bool hold = false;                   ///< operations wait for progress(), which does one a call
  std::atomic<int> most_in_flight{0};  ///< operations held at a time, over all ranks
};

/// The transport "faulty", in front of `inner`.
TransportFactory faulty_transport(TransportFactory inner, std::shared_ptr<FaultPlan> plan);

}  // namespace tessera::rma::test
