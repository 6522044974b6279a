// SPDX-License-Identifier: BSD-3-Clause
//
// What the public functions of rma/ do their work in: memory that runs out becomes an error, and an
// error names the rank whose call failed.
#pragma once

#include <type_traits>
#include <utility>

#include "rma/engine/job_state.hpp"
#include "rma/within_memory.hpp"

namespace tessera::rma::detail {

/// What body() returns, a Status or a Result, as JobState::name_rank() gives it. Errors: also
/// no_memory.
template <class Body>
std::invoke_result_t<Body> named(const JobState& job, Body&& body,
                                 const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  std::invoke_result_t<Body> outcome =
      within_memory(std::forward<Body>(body), "this process has no memory left", file, line);
  if (outcome.ok()) [[likely]] {
    return outcome;
  }
  return job.name_rank(std::move(outcome));
}

}  // namespace tessera::rma::detail
