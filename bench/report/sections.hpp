// SPDX-License-Identifier: BSD-3-Clause
//
// The sections of the page, each as HTML.
#pragma once

#include <string>

#include "bench/report/dataset.hpp"
#include "bench/report/experiments.hpp"

namespace tessera::bench::report {

/// The reasons not to quote these numbers, and wrong data; empty if there are none.
std::string objections_box(const Dataset& dataset);
/// The files, and their machines, settings and versions.
std::string machines(const Dataset& dataset);
std::string targets(const Dataset& dataset);
/// The changes since the baseline; says so if no comparison is possible.
std::string changes(const Dataset& dataset);
std::string paper(const Dataset& dataset, const Paper& paper);
/// The curves of every operation that was measured in more than one size.
std::string operations(const Dataset& dataset);
/// Operations of one size, and results that are not times.
std::string single_results(const Dataset& dataset);

}  // namespace tessera::bench::report
