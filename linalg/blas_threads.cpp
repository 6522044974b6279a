// SPDX-License-Identifier: BSD-3-Clause
#include "linalg/blas_threads.hpp"

#include <algorithm>
#include <cstdlib>

#include "linalg/detail/blas_library.hpp"

namespace tessera::linalg {

int blas_threads(const rma::Job& job) {
  if (job.settings().blas_threads > 0) {
    return static_cast<int>(job.settings().blas_threads);
  }
  if (std::getenv("OPENBLAS_NUM_THREADS") != nullptr || std::getenv("OMP_NUM_THREADS") != nullptr) {
    return 0;
  }
  if (job.bootstrap().is_one_process()) {
    return 1;
  }
  const auto ranks = static_cast<std::int32_t>(job.node_ranks().size());
  return std::max(job.node_processor_share() / ranks, 1);
}

void limit_blas_threads(const rma::Job& job) {
  if (const int threads = blas_threads(job); threads > 0) {
    detail::set_library_threads(threads);
  }
}

std::string blas_description() {
  return detail::library_description();
}

}  // namespace tessera::linalg
