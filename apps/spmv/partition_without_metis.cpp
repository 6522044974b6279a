// SPDX-License-Identifier: BSD-3-Clause
#include "apps/spmv/partition.hpp"

namespace tessera::apps::spmv {

bool has_metis() noexcept {
  return false;
}

rma::Result<std::vector<std::int32_t>> partition_by_metis(const Graph&, std::int32_t) {
  return rma::Status::error(rma::Code::unsupported, "this Tessera was built without METIS");
}

}  // namespace tessera::apps::spmv
