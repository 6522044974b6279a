// SPDX-License-Identifier: BSD-3-Clause
//
// Families: variants that differ in their numbers of ranks alone, and so stand on one chart of
// times by ranks.
#pragma once

#include <string>
#include <vector>

#include "bench/report/dataset.hpp"

namespace tessera::bench::report {

using Members = std::vector<const Variant*>;

/// What settings with as many ranks a node share: "1 rank a node".
std::string density_of(const RunFile& run);

/// `variants` of `dataset` by families, in which each number of ranks is there once if it can be.
/// More ranks are bound to more cores, and may have been started in another way: that tells
/// families apart only where one would have several times for one number of ranks without it.
std::vector<Members> families_of(const Dataset& dataset, const Members& variants);

/// By what the setting of a family differs from others of the same numbers of ranks and nodes;
/// empty where there are none.
std::string rest_of_setting(const Members& members);

}  // namespace tessera::bench::report
