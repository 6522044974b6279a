// SPDX-License-Identifier: BSD-3-Clause
#include "linalg/permute.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <vector>

#include "linalg/detail/box_panel.hpp"
#include "linalg/detail/same_on_all.hpp"
#include "linalg/detail/strided_loop.hpp"

namespace tessera::linalg {

using arrays::ArrayBase;
using arrays::Box;
using arrays::Extents;
using arrays::Patch;
using arrays::Strides;
using rma::Code;
using rma::Status;

namespace {

struct Task {
  ArrayBase& out;
  ArrayBase& in;
  std::span<const int> dims;
  std::int64_t most_elements;  ///< of a part that is fetched at once
};

Status check_dims(const ArrayBase& out, const ArrayBase& in, std::span<const int> dims) {
  const std::int64_t ndims = in.ndims();
  std::vector<int> sorted(dims.begin(), dims.end());
  std::sort(sorted.begin(), sorted.end());
  bool is_permutation = std::ssize(dims) == ndims && out.ndims() == ndims;
  for (std::size_t i = 0; is_permutation && i < sorted.size(); ++i) {
    is_permutation = sorted[i] == static_cast<int>(i);
  }
  if (!is_permutation) {
    return Status::error(Code::invalid_argument,
                         fmt::format("({}) does not order the dimensions of {} for {}",
                                     fmt::join(dims, ", "), in.describe(), out.describe()))
        .hint("give each dimension of the source once, in the order of the target");
  }
  for (int dim = 0; dim < ndims; ++dim) {
    const int from = dims[static_cast<std::size_t>(dim)];
    if (out.extents()[dim] != in.extents()[from]) {
      return Status::error(Code::invalid_argument,
                           fmt::format("dimension {} of {} has extent {}, and dimension {} of {} "
                                       "has {}",
                                       dim, out.describe(), out.extents()[dim], from, in.describe(),
                                       in.extents()[from]));
    }
  }
  return {};
}

Status check_arguments(ArrayBase& out, ArrayBase& in, std::span<const int> dims) {
  TESSERA_RETURN_IF_ERROR(in.check_open());
  TESSERA_RETURN_IF_ERROR(check_dims(out, in, dims));
  if (out.element().name != in.element().name) {
    return Status::error(
        Code::invalid_argument,
        fmt::format("{} and {} have elements of different types", out.describe(), in.describe()));
  }
  if (out.region().id() == in.region().id()) {
    return Status::error(Code::invalid_argument,
                         fmt::format("{} is both source and target", out.describe()))
        .hint("permute into another array");
  }
  return {};
}

// The box of `in` that belongs into a box of `out`.
Box source_box(const Box& box, std::span<const int> dims) {
  Box from = box;
  for (int dim = 0; dim < box.ndims(); ++dim) {
    from.set(dims[static_cast<std::size_t>(dim)], box.lo(dim), box.hi(dim));
  }
  return from;
}

template <std::size_t bytes>
void copy_lines(const Extents& extents, std::byte* to, const Strides& to_strides,
                const std::byte* from, const Strides& from_strides) {
  constexpr auto size = static_cast<std::int64_t>(bytes);
  detail::for_each_line(extents, to_strides, from_strides, [&](const detail::LinePiece& line) {
    std::byte* target = to + line.to * size;
    const std::byte* source = from + line.from * size;
    for (std::int64_t i = 0; i < line.count; ++i) {
      std::memcpy(target, source, bytes);
      target += line.to_stride * size;
      source += line.from_stride * size;
    }
  });
}

// As above for elements of a size that has no instruction of its own.
void copy_lines(const Extents& extents, std::byte* to, const Strides& to_strides,
                const std::byte* from, const Strides& from_strides, std::size_t bytes) {
  const auto size = static_cast<std::int64_t>(bytes);
  detail::for_each_line(extents, to_strides, from_strides, [&](const detail::LinePiece& line) {
    for (std::int64_t i = 0; i < line.count; ++i) {
      std::memcpy(to + (line.to + i * line.to_stride) * size,
                  from + (line.from + i * line.from_stride) * size, bytes);
    }
  });
}

// A part of an own block of `out` whose source is here.
void put_in_place(const Task& task, const Patch& block, const Box& part,
                  const detail::BoxPanel& panel, std::byte* slice) {
  Strides from = panel.strides();
  for (int dim = 0; dim < part.ndims(); ++dim) {
    from[dim] = panel.strides()[task.dims[static_cast<std::size_t>(dim)]];
  }
  const std::size_t bytes = task.out.element_bytes();
  std::byte* const to =
      slice + (block.offset + distance(block.box.lo(), part.lo(), block.strides)) *
                  static_cast<std::int64_t>(bytes);
  const auto* const source = static_cast<const std::byte*>(panel.data());
  const Extents extents = part.extents();
  switch (bytes) {
    case 4:
      return copy_lines<4>(extents, to, block.strides, source, from);
    case 8:
      return copy_lines<8>(extents, to, block.strides, source, from);
    case 16:
      return copy_lines<16>(extents, to, block.strides, source, from);
    default:
      return copy_lines(extents, to, block.strides, source, from, bytes);
  }
}

Status permute_own(const Task& task) {
  TESSERA_ASSIGN_OR_RETURN(auto access, rma::LocalAccess::begin(task.out.region()));
  struct Pending {
    detail::BoxPanel panel;
    Patch block;
    Box part;
    bool is_started = false;
  };
  std::array<Pending, 2> pending;
  std::size_t next = 0;
  Status status;
  const auto finish = [&](Pending& one) {
    if (one.is_started) {
      one.is_started = false;
      Status arrived = one.panel.wait();
      if (arrived.ok()) {
        put_in_place(task, one.block, one.part, one.panel, access.data());
      } else if (status.ok()) {
        status = std::move(arrived);
      }
    }
  };
  for (const Patch& block : task.out.distribution().blocks(task.out.team().rank())) {
    detail::for_each_part(block.box, task.most_elements, [&](const Box& part) {
      Pending& one = pending[next];
      one.panel.start(task.in, source_box(part, task.dims));
      one.block = block;
      one.part = part;
      one.is_started = true;
      next = 1 - next;
      finish(pending[next]);
    });
  }
  finish(pending[1 - next]);
  TESSERA_RETURN_IF_ERROR(std::move(status));
  return access.end();
}

}  // namespace

Status permute(ArrayBase& out, ArrayBase& in, std::span<const int> dims,
               const PermuteOptions& options) {
  const std::string_view attempt = "permute";
  TESSERA_RETURN_IF_ERROR(out.check_open().context(attempt));
  Status mine = check_arguments(out, in, dims);
  detail::Request request;
  if (mine.ok()) {
    request.add(out.region().id()).add(in.region().id());
    for (const int dim : dims) {
      request.add(dim);
    }
  }
  const std::array<ArrayBase*, 1> sources{&in};
  TESSERA_RETURN_IF_ERROR(begin_together(out, sources, std::move(mine), request).context(attempt));
  const std::int64_t bytes = options.buffer_bytes > 0
                                 ? options.buffer_bytes
                                 : out.job().settings().linalg_buffer_mib << 20U;
  const Task task{.out = out,
                  .in = in,
                  .dims = dims,
                  .most_elements = std::max<std::int64_t>(
                      bytes / 2 / static_cast<std::int64_t>(out.element_bytes()), 1)};
  return out.sync(permute_own(task)).context(attempt);
}

}  // namespace tessera::linalg
