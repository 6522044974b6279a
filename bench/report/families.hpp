// SPDX-License-Identifier: BSD-3-Clause
//
// Families: variants that differ only in their numbers of ranks, and so share a chart of times by
// ranks.
#pragma once

#include <string>
#include <vector>

#include "bench/report/dataset.hpp"

namespace tessera::bench::report {

using Members = std::vector<const Variant*>;

/// The common property of settings with the same number of ranks per node: "1 rank a node".
std::string ranks_per_node_of(const RunFile& run);

/// `variants` of `dataset` by families. A family has each number of ranks once, if possible. With
/// more ranks, ranks are bound to other cores and may be started differently. Such differences
/// split a family only if it would otherwise have several times for one number of ranks.
std::vector<Members> families_of(const Dataset& dataset, const Members& variants);

/// How the setting of a family differs from others with the same numbers of ranks and nodes; empty
/// if there are no others.
std::string other_settings(const Members& members);

}  // namespace tessera::bench::report
