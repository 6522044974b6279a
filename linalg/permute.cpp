// SPDX-License-Identifier: BSD-3-Clause
#include "linalg/permute.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arrays/array_base.hpp"
#include "arrays/call_signature.hpp"
#include "linalg/detail/agree_and_begin.hpp"
#include "linalg/detail/box_panel.hpp"
#include "linalg/detail/matrix_checks.hpp"
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
  const PermuteOperand& out;
  const PermuteOperand& in;
  std::span<const int> dims;
  std::int64_t max_elements;  ///< the maximum in a part that is fetched
};

std::size_t index_of(int dim) {
  return static_cast<std::size_t>(dim);
}

std::string describe(const PermuteOperand& operand) {
  return operand.box == operand.array.box()
             ? operand.array.describe()
             : fmt::format("{} of {}", to_string(operand.box), operand.array.describe());
}

// Checks that each dimension longer than 1 has exactly one counterpart.
bool orders(const Box& out, const Box& in, std::span<const int> dims) {
  if (std::ssize(dims) != out.ndims()) {
    return false;
  }
  std::vector<bool> is_named(index_of(in.ndims()), false);
  for (int dim = 0; dim < out.ndims(); ++dim) {
    const int from = dims[index_of(dim)];
    const bool is_alone = from == no_dim && out.extent(dim) == 1;
    const bool is_new = from >= 0 && from < in.ndims() && !is_named[index_of(from)];
    if (!is_alone && !is_new) {
      return false;
    }
    if (is_new) {
      is_named[index_of(from)] = true;
    }
  }
  for (int dim = 0; dim < in.ndims(); ++dim) {
    if (!is_named[index_of(dim)] && in.extent(dim) != 1) {
      return false;
    }
  }
  return true;
}

Status check_dims(const PermuteOperand& out, const PermuteOperand& in, std::span<const int> dims) {
  if (!orders(out.box, in.box, dims)) {
    return Status::error(Code::invalid_argument,
                         fmt::format("({}) is not an order of the dimensions of {} for {}",
                                     fmt::join(dims, ", "), describe(in), describe(out)))
        .hint("give each dimension of the source once, in the order of the target");
  }
  for (int dim = 0; dim < out.box.ndims(); ++dim) {
    const int from = dims[index_of(dim)];
    if (from != no_dim && out.box.extent(dim) != in.box.extent(from)) {
      return Status::error(
          Code::invalid_argument,
          fmt::format("dimension {} of {} has extent {}, but dimension {} of {} has {}", dim,
                      describe(out), out.box.extent(dim), from, describe(in), in.box.extent(from)));
    }
  }
  return {};
}

Status check_arguments(const PermuteOperand& out, const PermuteOperand& in,
                       std::span<const int> dims) {
  TESSERA_RETURN_IF_ERROR(in.array.check_open());
  for (const PermuteOperand* const operand : {&out, &in}) {
    TESSERA_RETURN_IF_ERROR(
        check_inside(operand->box, operand->array.extents()).context(describe(*operand)));
  }
  TESSERA_RETURN_IF_ERROR(in.array.check_readable().context(describe(in)));
  TESSERA_RETURN_IF_ERROR(out.array.check_writable().context(describe(out)));
  TESSERA_RETURN_IF_ERROR(check_dims(out, in, dims));
  if (out.array.element().name != in.array.element().name) {
    return Status::error(
        Code::invalid_argument,
        fmt::format("{} and {} have elements of different types", describe(out), describe(in)));
  }
  if (arrays::share_memory(out.array, out.box, in.array, in.box)) {
    const bool is_same = &out.array == &in.array && out.box == in.box;
    return Status::error(Code::invalid_argument,
                         is_same ? fmt::format("{} is both source and target", describe(out))
                                 : fmt::format("{}, the target, and {}, the source, share memory",
                                               describe(out), describe(in)))
        .hint("permute into another array");
  }
  return {};
}

// The box of `in` for a part of the box of `out`.
Box source_box(const Task& task, const Box& part) {
  Box from = task.in.box;
  for (int dim = 0; dim < part.ndims(); ++dim) {
    const int source = task.dims[index_of(dim)];
    if (source != no_dim) {
      const std::int64_t shift = task.in.box.lo(source) - task.out.box.lo(dim);
      from.set(source, part.lo(dim) + shift, part.hi(dim) + shift);
    }
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

// As above, for elements of a size without an instruction of its own.
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

// Writes a part of an own block of `out`, whose source has arrived.
void put_in_place(const Task& task, const Patch& block, const Box& part,
                  const detail::BoxPanel& panel, std::byte* slice) {
  Strides from = Strides::zeros(part.ndims());
  for (int dim = 0; dim < part.ndims(); ++dim) {
    const int source = task.dims[index_of(dim)];
    from[dim] = source == no_dim ? 0 : panel.strides()[source];
  }
  const std::size_t bytes = task.out.array.element_bytes();
  std::byte* const to =
      slice + (block.offset + distance(block.box.lo(), part.lo(), block.strides)) *
                  static_cast<std::int64_t>(bytes);
  const auto* const corner = static_cast<const std::byte*>(panel.data());
  const Extents extents = part.extents();
  switch (bytes) {
    case 4:
      return copy_lines<4>(extents, to, block.strides, corner, from);
    case 8:
      return copy_lines<8>(extents, to, block.strides, corner, from);
    case 16:
      return copy_lines<16>(extents, to, block.strides, corner, from);
    default:
      return copy_lines(extents, to, block.strides, corner, from, bytes);
  }
}

Status permute_own(const Task& task) {
  TESSERA_ASSIGN_OR_RETURN(auto access, rma::LocalAccess::begin(task.out.array.region()));
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
  for (const Patch& block : task.out.array.distribution().blocks(task.out.array.team().rank())) {
    const Box own = intersect(block.box, task.out.box);
    detail::for_each_part(own, task.max_elements, [&](const Box& part) {
      Pending& one = pending[next];
      one.panel.start(task.in.array, source_box(task, part));
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

Status permute(const PermuteOperand& in, const PermuteOperand& out, std::span<const int> dims,
               const PermuteOptions& options) {
  const std::string_view attempt = "permute";
  TESSERA_RETURN_IF_ERROR(out.array.check_open().context(attempt));
  const arrays::detail::CallScope scope(attempt, out.array);
  Status own_status = check_arguments(out, in, dims);
  detail::CallSignature signature(attempt);
  if (own_status.ok()) {
    signature.add(out.array, out.box).add(in.array, in.box);
    for (const int dim : dims) {
      signature.add(dim);
    }
  }
  const std::array<const ArrayBase*, 1> sources{&in.array};
  TESSERA_RETURN_IF_ERROR(
      detail::agree_and_begin(out.array, sources, std::move(own_status), signature)
          .context(attempt));
  const std::int64_t bytes = options.buffer_bytes > 0
                                 ? options.buffer_bytes
                                 : out.array.job().settings().linalg_buffer_mib << 20U;
  const Task task{.out = out,
                  .in = in,
                  .dims = dims,
                  .max_elements = std::max<std::int64_t>(
                      bytes / 2 / static_cast<std::int64_t>(out.array.element_bytes()), 1)};
  return out.array.sync(permute_own(task)).context(attempt);
}

}  // namespace tessera::linalg
