// SPDX-License-Identifier: BSD-3-Clause
#include "linalg/detail/gathered.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "linalg/detail/matrix_checks.hpp"

namespace tessera::linalg::detail {

using rma::Code;
using rma::Status;

Status check_gathered(const MatrixMap& map, double elements, std::int64_t max_bytes) {
  // LAPACK counts its work space of up to 2 n² elements in 32 bits.
  constexpr std::int64_t most_rows = 32000;
  const double bytes = elements * static_cast<double>(map.array->element_bytes());
  if (bytes > static_cast<double>(max_bytes)) {
    return Status::error(
               Code::limit_exceeded,
               fmt::format("{} would take {:.1f} MiB on one rank, but max_bytes is "
                           "{:.1f} MiB",
                           describe(map), bytes / 0x1p20, static_cast<double>(max_bytes) / 0x1p20))
        .hint(
            "start the program with mpirun, on all of its ranks, so that ScaLAPACK can compute it "
            "distributed; or raise max_bytes");
  }
  if (std::max(map.rows(), map.columns()) > most_rows) {
    return Status::error(
               Code::limit_exceeded,
               fmt::format("{} is larger than the {} rows that LAPACK supports on one rank",
                           describe(map), most_rows))
        .hint("start the program with mpirun, so that ScaLAPACK can compute it");
  }
  return {};
}

}  // namespace tessera::linalg::detail
