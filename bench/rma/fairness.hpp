// SPDX-License-Identifier: BSD-3-Clause
//
// How evenly ranks are served that want the same: how often each repeats an operation in the same
// time.
#pragma once

#include <functional>
#include <string>

#include "bench/session.hpp"

namespace tessera::bench {

/// Collective over the session's ranks. All ranks repeat `once` for 10 ms, several times. Records
/// fewest / most of the ranks' counts as `subject` of `backend`, and prints it in a remark. 1 is
/// fair. Records nothing for a single rank.
void measure_fairness(Session& session, const Subject& subject, const std::string& backend,
                      const std::function<void()>& once);

}  // namespace tessera::bench
