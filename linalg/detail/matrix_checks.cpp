// SPDX-License-Identifier: BSD-3-Clause
#include "linalg/detail/matrix_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

namespace tessera::linalg::detail {

using arrays::ArrayBase;
using arrays::Box;
using arrays::Extents;
using arrays::Index;
using arrays::MemoryOrder;
using arrays::Patch;
using rma::Code;
using rma::Status;

namespace {

// Bytes of a member's slice, one after the other.
struct Run {
  std::int32_t owner = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

void add_runs(const Patch& patch, std::int64_t bytes, std::vector<Run>& runs) {
  const int fastest = patch.order == MemoryOrder::row_major ? patch.box.ndims() - 1 : 0;
  Extents lines = patch.box.extents();
  lines[fastest] = 1;
  Index at = Index::zeros(lines.ndims());
  const Index first = at;
  do {
    const std::int64_t begin = (patch.offset + distance(first, at, patch.strides)) * bytes;
    const std::int64_t end = begin + patch.box.extent(fastest) * bytes;
    if (!runs.empty() && runs.back().owner == patch.owner.value && runs.back().end == begin) {
      runs.back().end = end;
    } else {
      runs.push_back({patch.owner.value, begin, end});
    }
  } while (advance(at, lines, patch.order));
}

std::vector<Run> sorted_runs(const ArrayBase& array, const Box& box) {
  std::vector<Run> runs;
  for (const Patch& patch : array.distribution().patches(box)) {
    add_runs(patch, static_cast<std::int64_t>(array.element_bytes()), runs);
  }
  std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) {
    return std::tie(a.owner, a.begin) < std::tie(b.owner, b.begin);
  });
  return runs;
}

// Runs of one list don't share bytes.
bool do_meet(const std::vector<Run>& some, const std::vector<Run>& others) {
  auto other = others.begin();
  for (const Run& run : some) {
    const auto is_before = [&](const Run& candidate) {
      return std::tie(candidate.owner, candidate.end) <= std::tie(run.owner, run.begin);
    };
    while (other != others.end() && is_before(*other)) {
      ++other;
    }
    if (other != others.end() && other->owner == run.owner && other->begin < run.end) {
      return true;
    }
  }
  return false;
}

// Whether one index stands for the same bytes in both.
bool is_same_layout(const ArrayBase& one, const ArrayBase& other) {
  return one.distribution() == other.distribution() && one.element_bytes() == other.element_bytes();
}

}  // namespace

bool share_memory(const ArrayBase& one, const Box& one_box, const ArrayBase& other,
                  const Box& other_box) {
  if (one.region().id() != other.region().id() || one_box.is_empty() || other_box.is_empty()) {
    return false;
  }
  return is_same_layout(one, other)
             ? !intersect(one_box, other_box).is_empty()
             : do_meet(sorted_runs(one, one_box), sorted_runs(other, other_box));
}

std::string describe(const MatrixMap& map) {
  return fmt::format("{} of {}", to_string(map.box), map.array->describe());
}

Status check_patch(const MatrixMap& map) {
  TESSERA_RETURN_IF_ERROR(map.array->check_open());
  TESSERA_RETURN_IF_ERROR(check_inside(map.box, map.array->extents()).context(describe(map)));
  const int ndims = map.box.ndims();
  const auto is_dim = [&](int dim) { return dim >= 0 && dim < ndims; };
  if (!is_dim(map.row_dim) || !is_dim(map.column_dim) || map.row_dim == map.column_dim) {
    return Status::error(Code::invalid_argument,
                         fmt::format("{}: rows along dimension {} and columns along {} make no "
                                     "matrix of {} dimension{}",
                                     describe(map), map.row_dim, map.column_dim, ndims,
                                     ndims == 1 ? "" : "s"))
        .hint("MatrixDims names two different dimensions, the others have extent 1 in the box");
  }
  for (int dim = 0; dim < ndims; ++dim) {
    if (dim != map.row_dim && dim != map.column_dim && map.box.extent(dim) != 1) {
      return Status::error(
                 Code::invalid_argument,
                 fmt::format("{}: dimension {} is neither that of rows ({}) nor of "
                             "columns ({}) and has extent {} in the box",
                             describe(map), dim, map.row_dim, map.column_dim, map.box.extent(dim)))
          .hint("give a box with extent 1 there, one for each matrix");
    }
  }
  return {};
}

Status check_square(const MatrixMap& map) {
  if (map.rows() == map.columns()) {
    return {};
  }
  return Status::error(
      Code::invalid_argument,
      fmt::format("{} is {} x {}, not square", describe(map), map.rows(), map.columns()));
}

Status check_apart(const MatrixMap& one, std::string_view one_name, const MatrixMap& other,
                   std::string_view other_name) {
  if (!share_memory(*one.array, one.box, *other.array, other.box)) {
    return {};
  }
  const std::string shared =
      is_same_layout(*one.array, *other.array)
          ? fmt::format("{} and {} share {} of {}: {} is {}, {} is {}", one_name, other_name,
                        to_string(intersect(one.box, other.box)), one.array->describe(), one_name,
                        to_string(one.box), other_name, to_string(other.box))
          : fmt::format("{} and {} share memory, over which both arrays lie: {} is {}, {} is {}",
                        one_name, other_name, one_name, describe(one), other_name, describe(other));
  return Status::error(Code::invalid_argument, shared).hint("copy one of them into another array");
}

void add(Request& request, const MatrixMap& map) {
  request.add(map.array->region().id()).add(map.box).add(map.row_dim).add(map.column_dim);
}

}  // namespace tessera::linalg::detail
