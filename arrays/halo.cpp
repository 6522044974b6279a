// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/halo.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "rma/transfer.hpp"

namespace tessera::arrays {

using rma::Code;
using rma::Result;
using rma::Status;

namespace {

Status check_widths(const ArrayBase& array, const Extents& widths) {
  const Distribution& distribution = array.distribution();
  if (!distribution.has_ghosts()) {
    return Status::error(Code::invalid_argument,
                         fmt::format("array '{}' has no ghost cells", array.name()))
        .hint("create it with ArrayOptions::ghosts");
  }
  if (widths.ndims() != array.ndims()) {
    return Status::error(Code::invalid_argument,
                         fmt::format("{} ghost widths for an array of {} dimensions",
                                     widths.ndims(), array.ndims()));
  }
  for (int dim = 0; dim < array.ndims(); ++dim) {
    if (widths[dim] < 0 || widths[dim] > distribution.ghosts()[dim]) {
      return Status::error(Code::invalid_argument,
                           fmt::format("{} ghost layers in dimension {}, of which the array has {}",
                                       widths[dim], dim, distribution.ghosts()[dim]));
    }
  }
  return {};
}

// The part of the ghost layers that lies in `direction` (−1, 0 or 1 a dimension) from `own`.
Box ghosts_towards(const Box& own, const Extents& widths, const Index& direction) {
  Box ghosts = own;
  for (int dim = 0; dim < own.ndims(); ++dim) {
    if (direction[dim] < 0) {
      ghosts.set(dim, own.lo(dim) - widths[dim], own.lo(dim));
    } else if (direction[dim] > 0) {
      ghosts.set(dim, own.hi(dim), own.hi(dim) + widths[dim]);
    }
  }
  return ghosts;
}

// Cuts away what lies outside the array in dimensions that do not close on themselves.
Box clipped(const Box& box, const Extents& extents, PeriodicDims periodic) {
  Box result = box;
  for (int dim = 0; dim < box.ndims(); ++dim) {
    if (!periodic.test(static_cast<std::size_t>(dim))) {
      result.set(dim, std::max<std::int64_t>(box.lo(dim), 0), std::min(box.hi(dim), extents[dim]));
    }
  }
  return result;
}

// Counts through all directions; false after the last.
bool next_direction(Index& direction) {
  for (int dim = 0; dim < direction.ndims(); ++dim) {
    if (++direction[dim] <= 1) {
      return true;
    }
    direction[dim] = -1;
  }
  return false;
}

// True when an update with these options covers the cells in `direction`.
bool is_wanted(const Index& direction, const HaloOptions& options) {
  int leaves = 0;
  int counted = 0;
  for (int dim = 0; dim < direction.ndims(); ++dim) {
    if (direction[dim] != 0) {
      ++leaves;
      counted += options.left_out.test(static_cast<std::size_t>(dim)) ? 0 : 1;
    }
  }
  return counted > 0 && (leaves == 1 || options.corners);
}

Status explain(Status status, const ArrayBase& array) {
  return status.ok() ? Status()
                     : std::move(status).context("updating the ghost cells of " + array.describe());
}

}  // namespace

Result<Halo> Halo::create(ArrayBase& array, const HaloOptions& options) {
  const Extents widths =
      options.widths.ndims() == 0 ? array.distribution().ghosts() : options.widths;
  TESSERA_RETURN_IF_ERROR(array.check_open().context("planning an update of ghost cells"));
  if (Status status = check_widths(array, widths); !status.ok()) {
    return std::move(status).context("planning an update of the ghost cells of " +
                                     array.describe());
  }
  Halo halo(array);
  halo.plan(options, widths);
  return halo;
}

void Halo::plan(const HaloOptions& options, const Extents& widths) {
  const Box own = array_->own_box();
  if (own.is_empty()) {
    return;
  }
  Index direction = Index::filled(own.ndims(), -1);
  do {
    if (!is_wanted(direction, options)) {
      continue;
    }
    const Box ghosts =
        clipped(ghosts_towards(own, widths, direction), array_->extents(), options.periodic);
    if (!ghosts.is_empty()) {
      plan_piece(ghosts, options.periodic);
    }
  } while (next_direction(direction));
}

// Ghost cells of one direction: what they stand for may belong to several owners.
void Halo::plan_piece(const Box& ghosts, PeriodicDims periodic) {
  const Distribution& distribution = array_->distribution();
  const std::size_t element = array_->element_bytes();
  const Box slice = array_->own_box().grown(distribution.ghosts());
  const Strides strides = dense_strides(slice.extents(), distribution.order());
  auto pieces = PeriodicPieces::split(ghosts, array_->extents(), periodic);
  // Clipped to the array in the other dimensions, so it can be split.
  for (const PeriodicPiece& piece : *pieces) {
    for (const Patch& patch : distribution.patches(piece.inside)) {
      const Index to = patch.box.shifted(piece.shift).lo();
      pieces_.push_back({array_->address(patch),
                         static_cast<std::uint64_t>(distance(slice.lo(), to, strides)) * element,
                         copy_shape(patch, strides, element)});
    }
  }
}

Result<HaloUpdate> Halo::start() {
  TESSERA_RETURN_IF_ERROR(explain(array_->sync(), *array_));
  std::byte* const slice = array_->region().local();
  rma::Handle gets;
  for (const Piece& piece : pieces_) {
    gets.collect(rma::get_async(array_->job(), piece.from, slice + piece.to, piece.shape));
  }
  return HaloUpdate(*array_, std::move(gets));
}

Status Halo::update() {
  TESSERA_ASSIGN_OR_RETURN(HaloUpdate update, start());
  return update.finish();
}

Status HaloUpdate::finish() {
  return explain(team_.agree(gets_.wait()), *array_);
}

std::size_t Halo::bytes_from_others() const noexcept {
  std::size_t bytes = 0;
  for (const Piece& piece : pieces_) {
    if (piece.from.rank != array_->job().rank()) {
      bytes += piece.shape.total_bytes();
    }
  }
  return bytes;
}

}  // namespace tessera::arrays
