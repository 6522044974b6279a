// SPDX-License-Identifier: BSD-3-Clause
#include "apps/ccsd/multiply_rate.hpp"

#include <vector>

#include "apps/ccsd/local_product.hpp"
#include "apps/common/clock.hpp"
#include "linalg/blas_threads.hpp"

namespace tessera::apps::ccsd {

rma::Result<double> measure_multiply_rate(rma::Job& job) {
  constexpr std::int64_t n = multiply_rate_order;
  constexpr double min_seconds = 0.25;
  linalg::limit_blas_threads(job);
  const auto elements = static_cast<std::size_t>(n * n);
  std::vector<double> a(elements, 1.0);
  std::vector<double> b(elements, 0.5);
  std::vector<double> c(elements);
  rma::Status status =
      add_product(matrix(c.data(), n, n), 1.0, matrix(a.data(), n, n), matrix(b.data(), n, n));
  TESSERA_RETURN_IF_ERROR(job.world().agree(status));
  const auto start = Clock::now();
  double seconds = 0.0;
  double operations = 0.0;
  while (seconds < min_seconds && status.ok()) {
    status =
        add_product(matrix(c.data(), n, n), 1.0, matrix(a.data(), n, n), matrix(b.data(), n, n));
    operations += 2.0 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n);
    seconds = seconds_since(start);
  }
  TESSERA_RETURN_IF_ERROR(job.world().agree(status));
  return job.world().allreduce(operations / seconds / 1e9, rma::Reduction::sum);
}

}  // namespace tessera::apps::ccsd
