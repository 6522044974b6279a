// SPDX-License-Identifier: BSD-3-Clause
//
// The sections of the page, each as HTML.
#pragma once

#include <string>

#include "bench/report/dataset.hpp"
#include "bench/report/experiments.hpp"

namespace tessera::bench::report {

/// What stands against quoting these numbers, and data that was wrong; empty when nothing does.
std::string objections_box(const Dataset& dataset);
/// The files, and the machines, settings and versions that they come from.
std::string machines(const Dataset& dataset);
std::string targets(const Dataset& dataset);
/// What changed from the baseline; says so when there is nothing to compare.
std::string changes(const Dataset& dataset);
std::string paper(const Dataset& dataset, const Paper& paper);
/// The curves of every operation that was measured in more than one size.
std::string operations(const Dataset& dataset);
/// Operations of one size, and what is no time.
std::string single_results(const Dataset& dataset);

}  // namespace tessera::bench::report
