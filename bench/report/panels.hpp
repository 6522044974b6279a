// SPDX-License-Identifier: BSD-3-Clause
//
// Panels: what the experiments of the papers (docs/literature.md) are made of. A panel takes from
// the files what it shows and gives figures as HTML, one a setting, or nothing where no file has
// it. It knows what to call what is missing then.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/report/dataset.hpp"
#include "bench/report/sweep.hpp"

namespace tessera::bench::report {

struct Panel {
  std::string what;  ///< it shows, as part of a sentence: "bandwidth of net get"
  std::function<std::string(const Dataset&)> draw;
  /// Whether the files have it; empty where that is whether anything is drawn.
  std::function<bool(const Dataset&)> is_measured = {};

  std::string operator()(const Dataset& dataset) const { return draw(dataset); }
};

/// In which runs a result is looked for.
enum class Runs { any, on_one_node, between_nodes };

/// All candidates of one operation over its sizes.
Panel curves_of(const std::string& bench, const std::string& op, Show show, Runs runs = Runs::any);

/// An operation of one size, and what it is called on the chart.
struct Bar {
  std::string op;
  std::string name;
};
/// Several operations side by side, all candidates of each but the yardsticks.
Panel bars_of(const std::string& title, const std::string& bench, const std::vector<Bar>& bars);

/// A line of small_operations(): a suite, and its operations for each column.
struct SmallRow {
  std::string name;
  std::string bench;
  std::vector<std::string> ops;
  Runs runs = Runs::any;
};
/// A table of what operations of 8 bytes take.
Panel small_operations(const std::vector<std::string>& columns, const std::vector<SmallRow>& rows);

/// How much of a transfer computations hide, as they grow: net.overlap_steps.
Panel hidden_by_steps();
/// How much of a transfer a long computation hides: net.overlap.
Panel hidden_at_most();
/// What a transfer leaves of the processor: verbs.overlap.
Panel left_by_transfers();

/// By how many MB agents grow with the number of processes: scale.memory.
Panel growth_of_agents();

/// By how much one call for all is faster than one for each: net.fence.
Panel gain_of_fence_all();

/// Times on several numbers of ranks, where files have them: MG, products of sparse matrices. With
/// one number of ranks there is nothing to see that bars_of() doesn't show.
Panel times_by_ranks(const std::string& what, const std::string& bench,
                     const std::vector<Bar>& bars);

/// Where the matrices of `names` have entries; of each the first that any file has.
Panel patterns_of(const std::vector<std::string>& names);

/// What each rank spent communicating.
Panel communication_by_rank();

/// Draws nothing: stands for what another panel shows as far as files have it, a bar, a line of a
/// table, and may be missing for itself. With `by`, whose name begins so has to be among those that
/// were measured.
Panel part_of_another(const std::string& what, const std::string& bench, const std::string& op,
                      Runs runs = Runs::any, const std::string& by = {});

}  // namespace tessera::bench::report
