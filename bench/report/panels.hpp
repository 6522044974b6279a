// SPDX-License-Identifier: BSD-3-Clause
//
// Panels: the parts of the experiments of the papers (docs/literature.md). A panel takes its
// results from the files and returns figures as HTML, one per setting, or nothing if no file has
// the results. It also names what is missing in that case.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/report/dataset.hpp"
#include "bench/report/sweep.hpp"

namespace tessera::bench::report {

struct Panel {
  std::string what;  ///< what it shows, as part of a sentence: "bandwidth of net get"
  std::function<std::string(const Dataset&)> draw;
  /// Whether the files have its results; if empty, they do if anything is drawn.
  std::function<bool(const Dataset&)> is_measured = {};

  std::string operator()(const Dataset& dataset) const { return draw(dataset); }
};

/// The runs in which results are searched.
enum class Runs { any, on_one_node, between_nodes };

/// All candidates of one operation over its sizes.
Panel curves_of(const std::string& bench, const std::string& op, Show show, Runs runs = Runs::any);

/// An operation of one size, and its name on the chart.
struct Bar {
  std::string op;
  std::string name;
};
/// Several operations on one chart, each with all candidates except the yardsticks.
Panel bars_of(const std::string& title, const std::string& bench, const std::vector<Bar>& bars);

/// A row of small_operations(): a suite, and its operation for each column.
struct SmallRow {
  std::string name;
  std::string bench;
  std::vector<std::string> ops;
  Runs runs = Runs::any;
};
/// A table of the times of operations of 8 bytes.
Panel small_operations(const std::vector<std::string>& columns, const std::vector<SmallRow>& rows);

/// How much of a transfer growing computations hide: net.overlap_steps.
Panel hidden_by_steps();
/// How much of a transfer a long computation hides: net.overlap.
Panel hidden_at_most();
/// How much processor time a transfer leaves: verbs.overlap.
Panel left_by_transfers();

/// Growth of agents in MB with the number of processes: scale.memory.
Panel growth_of_agents();

/// How much faster one call for all ranks is than one for each: net.fence.
Panel gain_of_fence_all();

/// Times on several numbers of ranks, if files have them: MG, products of sparse matrices. Empty
/// with only one number of ranks, which bars_of() shows.
Panel times_by_ranks(const std::string& what, const std::string& bench,
                     const std::vector<Bar>& bars);

/// Where the matrices of `names` have entries; for each name, the first pattern in any file.
Panel patterns_of(const std::vector<std::string>& names);

/// The communication time of each rank.
Panel communication_by_rank();

/// Draws nothing. Represents a part of another panel, a bar or a row of a table, that may be
/// missing on its own. With `by`, a candidate whose name begins with it must have been measured.
Panel part_of_another(const std::string& what, const std::string& bench, const std::string& op,
                      Runs runs = Runs::any, const std::string& by = {});

}  // namespace tessera::bench::report
