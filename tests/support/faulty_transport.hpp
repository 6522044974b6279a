// SPDX-License-Identifier: BSD-3-Clause
//
// A transport on top of another one that fails on purpose: the nth call of a function returns a
// chosen error. If the call has a Completion, the error may also come later through that. It can
// also hold operations back and execute one at each progress().
//
// Threads: a plan is written before the job starts, and read by any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "rma/transport/transport.hpp"

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

/// The `nth` call (from 1) at each rank returns `code`, as do all calls after it up to `last`.
struct Fault {
  Call call = Call::put;
  Code code = Code::internal;
  // put, get, accumulate, atomic: ok() at once, the error through Completion::end
  bool late = false;
  int nth = 1;
  int last = 1;
};

struct FaultPlan {
  std::vector<Fault> faults = {};
  // operations wait for progress(), which executes one per call
  bool hold = false;
  std::atomic<int> max_in_flight{0};  ///< operations held at a time, over all ranks
};

/// The transport "faulty", on top of `inner`.
TransportFactory faulty_transport(TransportFactory inner, std::shared_ptr<FaultPlan> plan);

}  // namespace tessera::rma::test
