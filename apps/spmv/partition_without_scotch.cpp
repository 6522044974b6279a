// SPDX-License-Identifier: BSD-3-Clause
#include "apps/spmv/partition.hpp"

namespace tessera::apps::spmv {

bool has_scotch() noexcept {
  return false;
}

rma::Result<std::vector<std::int32_t>> partition_by_scotch(const Graph&, std::int32_t) {
  return rma::Status::error(rma::Code::unsupported, "this Tessera was built without Scotch");
}

}  // namespace tessera::apps::spmv
