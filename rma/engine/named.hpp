// SPDX-License-Identifier: BSD-3-Clause
//
// Wraps the bodies of rma/'s public functions. Memory that runs out becomes an error, and an error
// names the rank whose call failed.
#pragma once

#include <type_traits>
#include <utility>

#include "rma/base/catch_bad_alloc.hpp"
#include "rma/engine/job_state.hpp"

namespace tessera::rma::detail {

/// Returns what body() returns, a Status or a Result, completed by JobState::name_rank(). Errors:
/// those of body(), and no_memory.
template <class Body>
std::invoke_result_t<Body> named(const JobState& job, Body&& body,
                                 const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  std::invoke_result_t<Body> outcome =
      catch_bad_alloc(std::forward<Body>(body), "this process has no memory left", file, line);
  if (outcome.ok()) [[likely]] {
    return outcome;
  }
  return job.name_rank(std::move(outcome));
}

}  // namespace tessera::rma::detail
