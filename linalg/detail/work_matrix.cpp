// SPDX-License-Identifier: BSD-3-Clause
#include "linalg/detail/work_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <utility>
#include <vector>

#include "rma/handle.hpp"

namespace tessera::linalg::detail {

using arrays::ArrayBase;
using arrays::Distribution;
using arrays::Patch;
using rma::Result;
using rma::Status;
using rma::Team;

std::optional<Distribution> layout_of(const MatrixMap& map) {
  if (map.array->ndims() != 2 || map.box != map.array->box()) {
    return {};
  }
  const Distribution& layout = map.array->distribution();
  return map.row_dim == 0 ? layout : layout.reversed();
}

namespace {

bool has_layout(const MatrixMap& map, const Team& team, const Distribution& layout) {
  return layout_of(map) == layout && map.array->team().shared_state() == team.shared_state();
}

arrays::LocalBuffer buffer_of(const MatrixMap& map, const Patch& block, std::byte* address) {
  arrays::Strides strides = arrays::Strides::zeros(map.box.ndims());
  strides[map.row_dim] = block.strides[0];
  strides[map.column_dim] = block.strides[1];
  return {address, strides};
}

Interval along(const Patch& block, int dim, std::int64_t most) {
  return {std::min(block.box.lo(dim), most), std::min(block.box.hi(dim), most)};
}

}  // namespace

Result<WorkMatrix> WorkMatrix::zeros(const ArrayBase& like, const Team& team,
                                     const Distribution& layout) {
  TESSERA_ASSIGN_OR_RETURN(
      ArrayBase array,
      ArrayBase::create(like.job(), layout, like.element(),
                        {.name = fmt::format("work copy of {}", like.name()), .team = team}));
  WorkMatrix work(layout);
  work.copy_ = std::move(array);
  return work;
}

Result<WorkMatrix> WorkMatrix::of(const MatrixMap& from, const Team& team,
                                  const Distribution& layout, Use use) {
  if (use == Use::in_place && has_layout(from, team, layout)) {
    WorkMatrix work(layout);
    work.original_ = from;
    return work;
  }
  TESSERA_ASSIGN_OR_RETURN(WorkMatrix work, zeros(*from.array, team, layout));
  TESSERA_RETURN_IF_ERROR(work.array().sync(work.load(from)));
  return work;
}

std::byte* WorkMatrix::address_of(const Patch& block) const noexcept {
  return array().region().local() +
         block.offset * static_cast<std::int64_t>(array().element_bytes());
}

Status WorkMatrix::load(const MatrixMap& from) const {
  rma::Handle fetching;
  for (const Patch& block : layout().blocks(team().rank())) {
    const arrays::Box box =
        from.part(along(block, 0, from.rows()), along(block, 1, from.columns()));
    fetching.collect(from.array->get_box_async(box, buffer_of(from, block, address_of(block))));
  }
  return fetching.wait();
}

Status WorkMatrix::store(const MatrixMap& to, Status own_status) {
  if (copy_ && own_status.ok()) {
    rma::Handle putting;
    for (const Patch& block : layout().blocks(team().rank())) {
      const arrays::Box box = to.part(along(block, 0, to.rows()), along(block, 1, to.columns()));
      putting.collect(to.array->put_box_async(box, buffer_of(to, block, address_of(block))));
    }
    own_status = putting.wait();
  }
  return to.array->sync(std::move(own_status));
}

// Reads from the blocks across the diagonal, which no rank writes meanwhile, block by block; blocks
// on the diagonal are transposed last.
template <Scalar T>
Status mirror_triangle(WorkMatrix& a, blas::Triangle triangle) {
  TESSERA_RETURN_IF_ERROR(a.array().sync());
  const bool keeps_lower = triangle == blas::Triangle::lower;
  Status own_status;
  std::vector<T> across;
  for (const Patch& block : a.layout().blocks(a.team().rank())) {
    const bool is_lower = block.box.lo(0) > block.box.lo(1);
    const bool is_diagonal = block.box.lo(0) == block.box.lo(1);
    if (!is_diagonal && is_lower == keeps_lower) {
      continue;
    }
    // The elements across the diagonal, at the positions that they are copied to.
    const MatrixMap map = a.map().transposed();
    const Interval rows = along(block, 0, map.rows());
    const Interval columns = along(block, 1, map.columns());
    across.resize(static_cast<std::size_t>(block.box.volume()));
    if (own_status.ok()) {
      arrays::Strides strides = arrays::Strides::zeros(2);
      strides[map.row_dim] = 1;
      strides[map.column_dim] = rows.length();
      own_status = a.array().get_box(map.part(rows, columns), {across.data(), strides});
    }
    auto* const data = reinterpret_cast<T*>(a.array().region().local()) + block.offset;
    for (std::int64_t j = 0; j < block.box.extent(1); ++j) {
      for (std::int64_t i = 0; i < block.box.extent(0); ++i) {
        if (!is_diagonal || (keeps_lower ? i < j : i > j)) {
          const T value = across[static_cast<std::size_t>(j * block.box.extent(0) + i)];
          T& to = data[i * block.strides[0] + j * block.strides[1]];
          if constexpr (rma::ComplexElement<T>) {
            to = std::conj(value);
          } else {
            to = value;
          }
        }
      }
    }
  }
  return a.array().sync(std::move(own_status));
}

RankGrid square_grid(std::int64_t ranks) {
  std::int64_t rows = 1;
  for (std::int64_t divisor = 1; divisor * divisor <= ranks; ++divisor) {
    rows = ranks % divisor == 0 ? divisor : rows;
  }
  return {rows, ranks / rows};
}

template Status mirror_triangle<float>(WorkMatrix&, blas::Triangle);
template Status mirror_triangle<double>(WorkMatrix&, blas::Triangle);
template Status mirror_triangle<std::complex<float>>(WorkMatrix&, blas::Triangle);
template Status mirror_triangle<std::complex<double>>(WorkMatrix&, blas::Triangle);

}  // namespace tessera::linalg::detail
