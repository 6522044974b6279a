// SPDX-License-Identifier: BSD-3-Clause
//
// Repeats y = A x in several modes alternately, and measures the communication time of each rank.
//
//     mode        how a product gets elements of x from other ranks
//     default     the library's choice: loads from shared memory, otherwise pushes; meanwhile it
//                 computes rows that need none of them.
//     neighbours  the same, but a product synchronises only neighbours.
//     plain       a blocking get for each element
//     runs        a non-blocking get for each run of consecutive elements
//     vector      one list for each owner
//     aggregate   an aggregate for each owner, with a get for each run
//     push        their owners put them
//
// All modes except the first two read from ranks on the same node as from other nodes, so that they
// can be compared on any machine. A product reads each element once, for any number of rows that
// need it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "arrays/array.hpp"
#include "linalg/csr.hpp"
#include "linalg/spmv.hpp"
#include "rma/base/result.hpp"

namespace tessera::apps::spmv {

struct Mode {
  std::string_view name;
  linalg::SpmvOptions options;
};

/// Parses a text such as "plain,aggregate". Errors: invalid_argument, with the list of modes.
rma::Result<std::vector<Mode>> parse_modes(const std::string& text);

/// The measurements of one mode. The same on all ranks.
struct ModeResult {
  std::string name;
  double seconds = 0;                 ///< for each product, mean of all
  double gflops = 0;                  ///< two operations for each entry
  std::int64_t elements_read = 0;     ///< of x from other ranks, by all ranks, in each product
  std::vector<double> communication;  ///< of each rank, in seconds for each product
};

/// Collective. Computes products of each mode alternately, `iterations` times, after an untimed
/// one; y is that of the last product. All modes must return the same y, bit by bit; otherwise the
/// result is an error (internal).
template <class T>
rma::Result<std::vector<ModeResult>> run_products(linalg::SparseMatrix<T>& matrix,
                                                  arrays::Array<T>& x, arrays::Array<T>& y,
                                                  const std::vector<Mode>& modes,
                                                  std::int64_t iterations);

/// Bars of each rank's communication time, one for each mode, on one scale: several lines of text.
std::string bars_of(const std::vector<ModeResult>& results);

}  // namespace tessera::apps::spmv
