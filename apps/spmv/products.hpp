// SPDX-License-Identifier: BSD-3-Clause
//
// y = A x again and again, by several modes in turns, and what each rank spent on communication.
//
//     mode        elements of x that lie on other ranks are read
//     default     as the library thinks best: loaded where memory is shared, pushed otherwise,
//                 while rows go on that need none of them
//     neighbours  the same, but in a product only neighbours meet
//     plain       one by one, each waited for
//     runs        by a non-blocking get for each run of neighbours
//     vector      by one list an owner
//     aggregate   by an aggregate an owner, into which the runs are put
//     push        not: their owners put them
//
// All but the first two read from ranks of the same node as from others, so that they can be
// compared anywhere. Each element is read once a product, however many rows need it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "arrays/array.hpp"
#include "linalg/csr.hpp"
#include "linalg/spmv.hpp"
#include "rma/result.hpp"

namespace tessera::apps::spmv {

struct Mode {
  std::string_view name;
  linalg::SpmvOptions options;
};

/// "plain,aggregate". Errors: invalid_argument, which tells what there is.
rma::Result<std::vector<Mode>> parse_modes(const std::string& text);

/// What one mode took. The same on all ranks.
struct ModeResult {
  std::string name;
  double seconds = 0;                 ///< a product, mean of all
  double gflops = 0;                  ///< two operations an entry
  std::int64_t elements_read = 0;     ///< of x from others, by all ranks, a product
  std::vector<double> communication;  ///< of each rank, in seconds a product
};

/// Collective. Products of each mode in turn, `iterations` times, after one that isn't timed; y is
/// that of the last one. All modes have the same y, to the last bit, or the result is an error
/// (internal).
template <class T>
rma::Result<std::vector<ModeResult>> run_products(linalg::SparseMatrix<T>& matrix,
                                                  arrays::Array<T>& x, arrays::Array<T>& y,
                                                  const std::vector<Mode>& modes,
                                                  std::int64_t iterations);

/// Bars of what each rank spent, one of each mode, on one scale: several lines of text.
std::string bars_of(const std::vector<ModeResult>& results);

}  // namespace tessera::apps::spmv
