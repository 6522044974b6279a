// SPDX-License-Identifier: BSD-3-Clause
//
// One run of tessera-spmv: reads or generates the matrix, multiplies or solves, checks and reports.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/common/run_ranks.hpp"
#include "apps/spmv/generate.hpp"
#include "apps/spmv/partition.hpp"
#include "apps/spmv/products.hpp"
#include "apps/spmv/solve.hpp"
#include "rma/job.hpp"

namespace tessera::apps::spmv {

/// The request of the command line.
struct Order {
  std::string file;  ///< of the matrix, or the text of --generate
  std::optional<Generator> generator;
  std::vector<Mode> modes;       ///< the first one is also used to solve
  std::int64_t iterations = 20;  ///< products of each mode
  std::optional<Method> method;  ///< none: products only
  double tolerance = 1e-8;
  std::int64_t max_steps = 10'000;  ///< of the solver
  bool jacobi = false;
  Partition partition = Partition::entries;
  std::string json_file;
  bool quiet = false;
};

/// Collective on all ranks. Exit codes: 0 verified, 1 not verified, 2 for files that cannot be used
/// and for too little memory. Errors: those after which the run cannot continue.
Outcome run(const Order& order, rma::Job& job);

}  // namespace tessera::apps::spmv
