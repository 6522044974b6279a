// SPDX-License-Identifier: BSD-3-Clause
//
// The experiments of the papers that Tessera's design follows (docs/literature.md), repeated with
// its benchmarks.
#pragma once

#include <string>
#include <vector>

#include "bench/report/panels.hpp"

namespace tessera::bench::report {

/// What commands need, for Part::takes.
inline constexpr const char* needs_device =
    "This needs an RDMA device. tests/rdma-vm/run --keep vm report makes a software device, and "
    "leaves "
    "vm/csv.json.";
inline constexpr const char* needs_two_rank_counts =
    "This needs files of runs with several numbers of ranks, and the same number of ranks per "
    "node.";

/// Panels that need the results of one command.
struct Part {
  std::string command;  ///< empty if other parts describe what is missing
  std::vector<Panel> panels;
  std::string takes = {};  ///< what the command needs, in a sentence; empty for nothing special
};

struct Experiment {
  std::string number;  ///< "Figure 14"
  std::string title;
  std::string shown;  ///< the paper's result, in our words
  std::string here;   ///< what is measured instead
  std::vector<Part> parts;
  std::string later = {};  ///< what the experiment waits for; empty if it can be run
};

struct Paper {
  std::string id;     ///< short, for links
  std::string title;  ///< with year
  std::vector<Experiment> experiments;
};

/// ARMCI (2006); protocols on Myrinet and cLAN (2002); ARMCI-MPI (2012); server clustering.
Paper armci_paper();
Paper protocols_paper();
Paper armci_mpi_paper();
Paper clustering_paper();

}  // namespace tessera::bench::report
