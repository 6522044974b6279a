// SPDX-License-Identifier: BSD-3-Clause
#include "apps/ccsd/row_matrix.hpp"

#include <algorithm>
#include <utility>

namespace tessera::apps::ccsd {

rma::Result<RowMatrix> create_row_matrix(const rma::Job& job, const std::string& name,
                                         std::int64_t rows, std::int64_t columns) {
  arrays::ArrayOptions options;
  options.name = name;
  // With fewer rows than ranks, only the first ranks hold one.
  options.process_grid = {std::clamp<std::int64_t>(rows, 1, job.size()), 1};
  return RowMatrix::create(job, {rows, columns}, options);
}

OwnRows::OwnRows(arrays::LocalAccess<double> access, std::int64_t columns)
    : access_(std::move(access)),
      data_(access_.raw().data_handle()),
      first_(access_.own().lo(0)),
      last_(std::max(access_.own().hi(0), first_)),  // a rank without rows has an empty range
      columns_(columns) {}

rma::Result<OwnRows> OwnRows::of(RowMatrix& matrix) {
  TESSERA_ASSIGN_OR_RETURN(auto access, matrix.local());
  return OwnRows(std::move(access), matrix.extents()[1]);
}

}  // namespace tessera::apps::ccsd
