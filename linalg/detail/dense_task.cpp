// SPDX-License-Identifier: BSD-3-Clause
#include "linalg/detail/dense_task.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "linalg/blas_threads.hpp"
#include "linalg/detail/matrix_checks.hpp"

namespace tessera::linalg {

std::string_view to_string(Method method) noexcept {
  switch (method) {
    case Method::own:
      return "own";
    case Method::scalapack:
      return "scalapack";
    case Method::automatic:
      break;
  }
  return "automatic";
}

namespace detail {

using rma::Code;
using rma::Result;
using rma::Status;

namespace {

// The largest number of elements, since ScaLAPACK and LAPACK count them in 32 bits.
constexpr std::int64_t largest = std::numeric_limits<std::int32_t>::max();

// The array's own layout, if that has whole columns and something on each rank; else equal shares.
Result<arrays::Distribution> column_layout(const MatrixMap& map, const rma::Team& team) {
  ColumnBlocks blocks = even_blocks(map, team);
  auto layout = blocks.distribution();
  const std::int64_t width = map.array->distribution().partition(map.column_dim).largest();
  if (width > 0 && width < blocks.width) {
    blocks.width = width;
    auto narrower = blocks.distribution();
    return narrower.ok() && *narrower == map.array->distribution() ? narrower : layout;
  }
  return layout;
}

// The largest part of `extent` on one of `ranks`, if its blocks are distributed cyclically.
std::int64_t max_share(std::int64_t extent, std::int64_t block, std::int64_t ranks) {
  const std::int64_t blocks = (extent + block - 1) / block;
  return std::min(extent, (blocks + ranks - 1) / ranks * block);
}

// The number of elements on the rank that has the most of them, on the grid that at() in
// scalapack.hpp uses, or in the matrix's own layout if it may stay in place.
double max_local_elements_of(const MatrixMap& map, const rma::Team& team, std::int64_t block) {
  const RankGrid grid = square_grid(team.size());
  double most = static_cast<double>(max_share(map.rows(), block, grid.rows)) *
                static_cast<double>(max_share(map.columns(), block, grid.columns));
  if (const auto own = layout_of(map)) {
    for (std::int32_t rank = 0; rank < own->nranks(); ++rank) {
      const arrays::Extents local = own->local_extents(rma::TeamRank{rank});
      most = std::max(most, static_cast<double>(local[0]) * static_cast<double>(local[1]));
    }
  }
  return most;
}

Status check_scalapack_sizes(const std::vector<Named>& operands, const rma::Team& team,
                             const MethodOptions& options, int work_per_element) {
  const std::int64_t block = options.block > 0 ? options.block : max_square_block;
  for (const Named& operand : operands) {
    const std::int64_t most = std::max(operand.map.rows(), operand.map.columns());
    if (most > largest || max_local_elements_of(operand.map, team, block) * work_per_element >
                              static_cast<double>(largest)) {
      return Status::error(
                 Code::limit_exceeded,
                 fmt::format("{} is {} x {} on {} ranks, but ScaLAPACK counts the "
                             "elements of a rank, and of its work space, in 32 bits",
                             operand.name, operand.map.rows(), operand.map.columns(), team.size()))
          .hint("use more ranks, or the method own");
    }
  }
  return {};
}

void set_info(const MethodOptions& options, std::int64_t info) {
  if (options.info != nullptr) {
    *options.info = info;
  }
}

}  // namespace

Status check_operands(const std::vector<Named>& operands) {
  for (const Named& operand : operands) {
    TESSERA_RETURN_IF_ERROR(
        (operand.is_written ? check_target(operand.map) : check_source(operand.map))
            .context(operand.name));
  }
  for (std::size_t i = 0; i < operands.size(); ++i) {
    for (std::size_t j = i + 1; j < operands.size(); ++j) {
      TESSERA_RETURN_IF_ERROR(
          check_apart(operands[i].map, operands[i].name, operands[j].map, operands[j].name));
    }
  }
  return {};
}

Status check_extents_match(const Named& a, std::int64_t of_a, const Named& b, std::int64_t of_b,
                           std::string_view rule) {
  if (of_a == of_b) {
    return {};
  }
  return Status::error(Code::invalid_argument,
                       fmt::format("{} is {} x {} ({}), and {} is {} x {} ({})", a.name,
                                   a.map.rows(), a.map.columns(), describe(a.map), b.name,
                                   b.map.rows(), b.map.columns(), describe(b.map)))
      .hint(rule);
}

Status check_minor(std::int64_t minor, const Named& a, const MethodOptions& options) {
  set_info(options, minor);
  if (minor == 0) {
    return {};
  }
  return a.map.array->name_rank(
      Status::error(Code::invalid_argument,
                    fmt::format("the leading {0} x {0} part of {1} ({2}) is not positive "
                                "definite",
                                minor, a.name, describe(a.map)))
          .hint("use lu() or solve() for matrices that are not positive definite"));
}

Status check_pivots(std::int64_t singular, const Named& a, const MethodOptions& options) {
  set_info(options, singular);
  if (singular == 0) {
    return {};
  }
  return a.map.array->name_rank(
      Status::error(Code::invalid_argument,
                    fmt::format("{} ({}) is singular: column {} depends on earlier columns", a.name,
                                describe(a.map), singular - 1)));
}

Result<bool> begin_dense(arrays::ArrayBase& target, const std::vector<Named>& operands,
                         const MethodOptions& options, Status own_status, CallSignature signature,
                         int work_per_element) {
  set_info(options, 0);
  rma::Team& team = target.team();
  bool uses_scalapack = false;
  std::vector<arrays::ArrayBase*> sources;
  if (own_status.ok()) {
    if (options.method != Method::own) {
      Status possible = check_scalapack(target.job(), team);
      if (possible.ok()) {
        possible = check_scalapack_sizes(operands, team, options, work_per_element);
      }
      uses_scalapack = possible.ok();
      own_status = options.method == Method::scalapack ? std::move(possible) : Status();
    }
    for (const Named& operand : operands) {
      add(signature, operand.map);
      sources.push_back(operand.map.array);
    }
    signature.add(options.method).add(options.block);
    if (own_status.ok() && options.block < 0) {
      own_status =
          Status::error(Code::invalid_argument, fmt::format("the block size is {}", options.block));
    }
  }
  TESSERA_RETURN_IF_ERROR(agree_and_begin(target, sources, std::move(own_status), signature));
  limit_blas_threads(target.job());
  return uses_scalapack;
}

ColumnBlocks factor_blocks(const MatrixMap& map, const rma::Team& team, std::int64_t width) {
  constexpr std::int64_t least = 16;
  constexpr std::int64_t most = 128;
  const std::int64_t chosen =
      std::clamp(map.columns() / (std::int64_t{4} * team.size()), least, most);
  return {.rows = map.rows(),
          .columns = map.columns(),
          .width = width > 0 ? width : chosen,
          .ranks = team.size(),
          .rank = team.rank().value};
}

ColumnBlocks even_blocks(const MatrixMap& map, const rma::Team& team) {
  const std::int64_t share = (map.columns() + team.size() - 1) / team.size();
  return {.rows = map.rows(),
          .columns = map.columns(),
          .width = std::max<std::int64_t>(share, 1),
          .ranks = team.size(),
          .rank = team.rank().value};
}

Result<OwnCopy> own_copy(const MatrixMap& map, rma::Team team, std::int64_t width) {
  const ColumnBlocks blocks = factor_blocks(map, team, width);
  TESSERA_ASSIGN_OR_RETURN(const arrays::Distribution layout,
                           team.agree([&] { return blocks.distribution(); }));
  TESSERA_ASSIGN_OR_RETURN(WorkMatrix work,
                           WorkMatrix::of(map, team, layout, WorkMatrix::Use::copy));
  return OwnCopy{blocks, std::move(work)};
}

Result<WorkMatrix> whole_columns(const MatrixMap& map, rma::Team team, WorkMatrix::Use use) {
  TESSERA_ASSIGN_OR_RETURN(const arrays::Distribution layout,
                           team.agree([&] { return column_layout(map, team); }));
  return WorkMatrix::of(map, team, layout, use);
}

}  // namespace detail
}  // namespace tessera::linalg
