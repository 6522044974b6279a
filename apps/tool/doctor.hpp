// SPDX-License-Identifier: BSD-3-Clause
//
// What on this machine, and in this environment, stands in the way of a job, or makes it slow.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "rma/result.hpp"
#include "rma/tuning.hpp"

namespace tessera::tool {

enum class Health {
  good,
  note,  ///< jobs run, but something is slower or smaller than it could be
  bad,   ///< jobs don't start
};

struct Finding {
  Health health = Health::good;
  std::string subject;
  std::string text;
  std::string fix = {};  ///< what to do; empty where there is nothing
};

/// Looks at limits, processors, memory and devices, and starts a job of this process alone.
/// `settings`: what such a job starts with; `warnings`: what is wrong with names of settings.
/// Takes some 100 ms.
std::vector<Finding> examine(const rma::Result<rma::Settings>& settings,
                             std::span<const std::string> warnings);

}  // namespace tessera::tool
