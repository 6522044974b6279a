// SPDX-License-Identifier: BSD-3-Clause
//
// The experiments of the papers that Tessera's design follows, made again with its benchmarks.
#pragma once

#include <string>
#include <vector>

#include "bench/report/panels.hpp"

namespace tessera::bench::report {

/// What commands take, for Part::takes.
inline constexpr const char* takes_a_device =
    "It takes an RDMA device. tests/rdma-vm/run --keep vm report makes one of software, and leaves "
    "vm/csv.json.";
inline constexpr const char* takes_two_counts =
    "It takes files of several numbers of ranks, with as many on each node.";

/// Panels whose results one command makes.
struct Part {
  std::string command;  ///< empty where other parts tell what is missing
  std::vector<Panel> panels;
  std::string takes = {};  ///< what the command needs, in a sentence; empty for nothing special
};

struct Experiment {
  std::string number;  ///< "Figure 14"
  std::string title;
  std::string shown;  ///< what the paper had, in our words
  std::string here;   ///< what is measured instead
  std::vector<Part> parts;
  std::string later = {};  ///< what it waits for; empty for one that can be made
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
