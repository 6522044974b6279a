// SPDX-License-Identifier: BSD-3-Clause
//
// Halo::accumulate(): the transpose of an update. An update first copies within each slice, in a
// certain order, and then between slices. This adds between slices first, and then within each
// slice in the opposite order. A ghost cell that was a source is complete when it is added.
//
// If an update copies corners from ghost cells that it leaves out, its transpose would add to those
// cells. Then the pieces of HaloPlan::from_elements() are added, in any order.
#include <algorithm>
#include <ranges>
#include <vector>

#include "arrays/halo.hpp"
#include "rma/coalescing_scope.hpp"
#include "rma/element.hpp"
#include "rma/notify.hpp"
#include "rma/transfer.hpp"

namespace tessera::arrays {

using rma::Code;
using rma::Handle;
using rma::Status;
using rma::TeamRank;

namespace {

// The copy from the slice with the ghost cells to the source's slice.
rma::CopyShape reversed(const rma::CopyShape& shape) {
  rma::CopyShape result = shape;
  for (int i = 0; i < shape.levels; ++i) {
    rma::CopyShape::Level& level = result.level[static_cast<std::size_t>(i)];
    std::swap(level.local_stride, level.remote_stride);
  }
  return result;
}

}  // namespace

Status Halo::add_own(const GhostPiece& piece) {
  const rma::RemoteAddress self = array_->region().at(array_->team().rank());
  TESSERA_RETURN_IF_ERROR(
      rma::accumulate(array_->job(), self + piece.from, array_->region().local() + piece.to,
                      reversed(piece.shape), rma::Scale::one(*array_->element().type)));
  return clear_ghosts(piece);
}

// Zero is all bits zero in every element type.
Status Halo::clear_ghosts(const GhostPiece& piece) {
  const std::vector<std::byte> zeros(piece.shape.run_bytes);
  rma::CopyShape shape = piece.shape;
  for (int i = 0; i < shape.levels; ++i) {
    shape.level[static_cast<std::size_t>(i)].local_stride = 0;
  }
  const rma::RemoteAddress self = array_->region().at(array_->team().rank());
  return rma::put(array_->job(), self + piece.to, zeros.data(), shape);
}

void Halo::plan_direct_adds(const HaloPlan& from_elements) {
  adds_directly_ = true;
  const TeamRank self = array_->team().rank();
  for (GhostPiece& piece : from_elements.pieces(self)) {
    const auto neighbour = std::ranges::find(neighbours_, piece.source, &Neighbour::rank);
    (piece.source == self ? own_adds_ : neighbour->direct).push_back(std::move(piece));
  }
}

// The flag follows the accumulates.
Status Halo::add_layers(const Neighbour& neighbour, std::int32_t round) {
  const rma::Scale one = rma::Scale::one(*array_->element().type);
  const std::byte* const slice = array_->region().local();
  const rma::RemoteAddress there = array_->region().at(neighbour.rank);
  const std::vector<GhostPiece>& pieces =
      adds_directly_ ? neighbour.direct : neighbour.incoming.pieces;
  Handle adds;
  {
    const rma::CoalescingScope one_message(array_->job());
    for (const GhostPiece& piece : pieces) {
      adds.collect(rma::accumulate_async(array_->job(), there + piece.from, slice + piece.to,
                                         reversed(piece.shape), one));
    }
  }
  // A flag follows only accumulates that are complete locally, so this rank waits before it.
  TESSERA_RETURN_IF_ERROR(adds.wait());
  TESSERA_RETURN_IF_ERROR(set_flag(neighbour, FlagKind::added, round));
  for (const GhostPiece& piece : pieces) {
    TESSERA_RETURN_IF_ERROR(clear_ghosts(piece));
  }
  return {};
}

// A neighbour adds to this rank's elements only after its flag: a rank may still be changing its
// elements by plain stores.
Status Halo::add_back() {
  const std::int32_t previous = accumulate_round_;
  accumulate_round_ = next_round(previous);
  for (const Neighbour& neighbour : neighbours_) {
    TESSERA_RETURN_IF_ERROR(set_flag(neighbour, FlagKind::may_add, accumulate_round_));
  }
  for (const GhostPiece& piece : adds_directly_ ? own_adds_ : own_pieces_) {
    TESSERA_RETURN_IF_ERROR(add_own(piece));
  }
  for (const Neighbour& neighbour : neighbours_) {
    TESSERA_RETURN_IF_ERROR(wait_for(neighbour, FlagKind::may_add, previous));
    TESSERA_RETURN_IF_ERROR(add_layers(neighbour, accumulate_round_));
  }
  for (const Neighbour& neighbour : neighbours_) {
    TESSERA_RETURN_IF_ERROR(wait_for(neighbour, FlagKind::added, previous));
  }
  if (!adds_directly_) {
    for (const GhostPiece& piece : std::ranges::reverse_view(wraps_)) {
      TESSERA_RETURN_IF_ERROR(add_own(piece));
    }
  }
  return {};
}

Status Halo::accumulate() {
  const auto explained = [&](Status status) {
    return array_->name_rank(
        std::move(status).context("adding the ghost cells of " + array_->describe()));
  };
  Status usable = check_usable();
  if (usable.ok() && !array_->element().type) {
    usable = Status::error(Code::unsupported,
                           "the elements are not numbers, so their ghost cells cannot be added");
  }
  if (usable.ok() && is_posted_) {
    usable = Status::error(Code::invalid_argument,
                           "post() has already let the neighbours write the ghost cells")
                 .hint("call update() before");
  }
  if (!usable.ok()) {
    return explained(std::move(usable));
  }
  Status added = rma::detail::catch_bad_alloc([&] { return add_back(); });
  return added.ok() ? Status() : explained(give_up(std::move(added)));
}

}  // namespace tessera::arrays
