// SPDX-License-Identifier: BSD-3-Clause
//
// How evenly ranks that want the same are served: how often each of them does a thing in the same
// time.
#pragma once

#include <functional>
#include <string>

#include "bench/session.hpp"

namespace tessera::bench {

/// Collective over Session::crew(). All ranks do `once` again and again, several times for 10 ms;
/// records fewest / most of the ranks' counts as `subject` of `backend`, and says it in a remark.
/// 1 is fair. One rank alone has nobody to be fair to: nothing is recorded.
void measure_fairness(Session& session, const Subject& subject, const std::string& backend,
                      const std::function<void()>& once);

}  // namespace tessera::bench
