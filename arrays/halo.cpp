// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/halo.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "arrays/call_signature.hpp"
#include "rma/coalescing_scope.hpp"
#include "rma/notify.hpp"
#include "rma/transfer.hpp"

namespace tessera::arrays {

using rma::Code;
using rma::Handle;
using rma::Result;
using rma::Status;
using rma::TeamRank;

namespace {

Status check_widths(const ArrayBase& array, const Extents& widths) {
  const Distribution& distribution = array.distribution();
  if (!distribution.has_ghosts()) {
    return Status::error(Code::invalid_argument,
                         fmt::format("array '{}' has no ghost cells", array.name()))
        .hint("create it with the option ghosts");
  }
  if (widths.ndims() != array.ndims()) {
    return Status::error(Code::invalid_argument,
                         fmt::format("{} ghost widths for an array of {} dimensions",
                                     widths.ndims(), array.ndims()));
  }
  for (int dim = 0; dim < array.ndims(); ++dim) {
    if (widths[dim] < 0 || widths[dim] > distribution.ghosts()[dim]) {
      return Status::error(Code::invalid_argument,
                           fmt::format("{} ghost layers in dimension {}, but the array has {}",
                                       widths[dim], dim, distribution.ghosts()[dim]));
    }
  }
  return {};
}

// The values that members compare. If only one member's widths are wrong, that member's own check
// reports it.
struct ComparedOptions {
  unsigned long periodic = 0;
  unsigned long left_out = 0;
  unsigned long corners = 0;
  std::int64_t pack_bytes = 0;
  std::array<std::int64_t, max_dims> widths = {};
  friend bool operator==(const ComparedOptions&, const ComparedOptions&) = default;
};

ComparedOptions compared(const HaloOptions& options, const Extents& widths,
                         std::int64_t pack_bytes) {
  ComparedOptions all{options.periodic.to_ulong(), options.left_out.to_ulong(),
                      options.corners ? 1UL : 0UL, pack_bytes};
  std::copy(widths.begin(), widths.end(), all.widths.begin());
  return all;
}

Status check(ArrayBase& array, const HaloOptions& options, const Extents& widths) {
  TESSERA_RETURN_IF_ERROR(array.team().agree(check_widths(array, widths)));
  return detail::check_same_on_all(
      array.team(), compared(options, widths, array.job().settings().halo_pack_bytes), "update",
      "all members must give the same HaloOptions, and have the same TESSERA_TUNE=halo_pack_bytes");
}

std::size_t max_message_bytes(const ArrayBase& array) {
  return static_cast<std::size_t>(array.job().settings().halo_pack_bytes);
}

Status explain(Status status, const ArrayBase& array) {
  return status.ok() ? Status()
                     : array.name_rank(std::move(status).context("updating the ghost cells of " +
                                                                 array.describe()));
}

// The reason why a rank gave up, as a flag value below zero: the rank that caused it, and an error
// code.
constexpr std::int32_t codes = 16;

std::int32_t encode(const Status& reason, rma::WorldRank self) {
  const std::int32_t rank = reason.rank().value_or(self).value;
  return -1 - (rank * codes + static_cast<std::int32_t>(reason.code()));
}

Status decode(std::int32_t flag, rma::WorldRank failed_rank) {
  const std::int32_t rank_and_code = -1 - flag;
  const rma::WorldRank rank{rank_and_code / codes};
  return Status::error_at(rank, static_cast<Code>(rank_and_code % codes),
                          fmt::format("rank {} stopped exchanging ghost cells because of rank {}",
                                      failed_rank.value, rank.value));
}

// The element at an offset in a rank's slice.
Index element_at(const Patch& block, std::int64_t offset) {
  Index element = block.box.lo();
  std::int64_t left = offset - block.offset;
  const int ndims = block.box.ndims();
  for (int k = 0; k < ndims; ++k) {
    const int dim = block.order == MemoryOrder::row_major ? k : ndims - 1 - k;
    const std::int64_t steps = left / block.strides[dim];
    element[dim] += steps;
    left -= steps * block.strides[dim];
  }
  return element;
}

// The own elements that a piece copies to ghost cells.
Box source_of(const Patch& block, const GhostPiece& piece, std::size_t element_bytes) {
  const auto bytes = static_cast<std::int64_t>(element_bytes);
  const std::int64_t first = static_cast<std::int64_t>(piece.from) / bytes;
  std::int64_t last = first + static_cast<std::int64_t>(piece.shape.run_bytes) / bytes - 1;
  for (int level = 0; level < piece.shape.levels; ++level) {
    const auto& each = piece.shape.level[static_cast<std::size_t>(level)];
    last += (each.count - 1) * each.local_stride / bytes;
  }
  Box box(element_at(block, first), element_at(block, last));
  for (int dim = 0; dim < box.ndims(); ++dim) {
    box.set(dim, box.lo(dim), box.hi(dim) + 1);
  }
  return intersect(box, block.box);  // sources may also be ghost cells
}

}  // namespace

HaloUpdate::~HaloUpdate() {
  if (halo_ != nullptr) {
    finish().ignore("a caller that needs the error calls finish()");
  }
}

Status HaloUpdate::finish() {
  Halo* const halo = std::exchange(halo_, nullptr);
  return halo == nullptr ? Status() : explain(halo->finish(std::move(puts_)), *halo->array_);
}

Result<Halo> Halo::create(ArrayBase& array, const HaloOptions& options) {
  const auto attempt = [&](Status status) {
    return std::move(status).context("planning an update of the ghost cells of " +
                                     array.describe());
  };
  TESSERA_RETURN_IF_ERROR(array.check_open().context("planning an update of ghost cells"));
  const std::string name = "ghost cells of " + array.name();
  const rma::LabelScope scope(array.team(), {.verb = "create", .kind = "halo", .name = name});
  const Extents widths =
      options.widths.ndims() == 0 ? array.distribution().ghosts() : options.widths;
  TESSERA_RETURN_IF_ERROR(attempt(check(array, options, widths)));
  const HaloPlan plan(array.distribution(), array.element_bytes(), options, widths);
  const PackedHaloExchange packed(plan, array.team().rank(), max_message_bytes(array));
  auto control =
      rma::Region::allocate(array.team(), packed.bytes(), {.name = name, .kind = "halo"});
  if (!control.ok()) {
    return attempt(std::move(control).status());
  }
  return Halo(array, plan, packed, std::move(control).take());
}

Halo::Halo(const ArrayBase& array, const HaloPlan& plan, const PackedHaloExchange& packed,
           rma::Region control)
    : array_(array), control_(std::move(control)) {
  const TeamRank self = array.team().rank();
  wraps_ = plan.wraps(self);
  for (GhostPiece& piece : plan.pieces(self)) {
    if (piece.source == self) {
      own_pieces_.push_back(piece);
    } else {
      bytes_from_others_ += piece.shape.total_bytes();
    }
  }
  for (const PackedHaloExchange::Sender& sender : packed.senders()) {
    add_neighbour(plan, sender);
  }
  if (plan.copies_left_out()) {
    plan_direct_adds(plan.from_elements());
  }
  if (array.state()->races != nullptr && array.distribution().block_count(self) > 0) {
    const Patch block = array.distribution().block(self, 0);
    for (const Neighbour& neighbour : neighbours_) {
      for (const GhostPiece& piece : neighbour.outgoing.pieces) {
        sent_.push_back(source_of(block, piece, array.element_bytes()));
      }
    }
  }
}

// For the race check: other ranks must not change these elements meanwhile.
void Halo::note_reads() const noexcept {
  for (const Box& box : sent_) {
    array_->state()->races->note(detail::AccessKind::halo, box);
  }
}

// Within a node, layers are written directly into ghost cells: there a flag arrives at once, and a
// packed message would be copied twice.
void Halo::add_neighbour(const HaloPlan& plan, const PackedHaloExchange::Sender& sender) {
  const rma::Team& team = array_->team();
  Neighbour neighbour;
  neighbour.rank = sender.rank;
  neighbour.incoming = sender;
  neighbour.outgoing =
      PackedHaloExchange(plan, sender.rank, max_message_bytes(*array_)).from(team.rank());
  if (!array_->job().shares_node(team.world_rank(sender.rank))) {
    if (neighbour.outgoing.message_offset) {
      neighbour.packing = packing(neighbour.outgoing.pieces);
      message_.resize(std::max(message_.size(), neighbour.outgoing.message_bytes));
    }
    if (neighbour.incoming.message_offset) {
      neighbour.unpacking = unpacking(neighbour.incoming.pieces);
    }
  }
  neighbours_.push_back(std::move(neighbour));
}

rma::RemoteAddress Halo::flag_address(TeamRank rank, const PackedHaloExchange::Sender& at,
                                      FlagKind which) const {
  return control_.at(rank, at.flags + static_cast<std::uint64_t>(which) * sizeof(std::int32_t));
}

// The offset of this round's buffer.
std::uint64_t Halo::buffer_offset(const PackedHaloExchange::Sender& at) const {
  return *at.message_offset + (round_ % 2 == 0 ? 0 : at.message_bytes);
}

Status Halo::set_flag(const Neighbour& neighbour, FlagKind which, std::int32_t value) {
  return rma::raise_flag(array_->job(), flag_address(neighbour.rank, neighbour.outgoing, which),
                         value);
}

// With packed messages a flag may be one round ahead, since their sender needs no flag from this
// rank for the next round. Such a flag also means that this round's message arrived.
Status Halo::wait_for(const Neighbour& neighbour, FlagKind which, std::int32_t previous_round) {
  const rma::Team& team = array_->team();
  const rma::WorldRank writer = team.world_rank(neighbour.rank);
  const rma::Label label{.verb = "halo", .kind = "array", .name = array_->name()};
  TESSERA_ASSIGN_OR_RETURN(
      const std::int32_t value,
      rma::wait_for_flag_change(array_->job(), flag_address(team.rank(), neighbour.incoming, which),
                                previous_round, writer, &label));
  return value > 0 ? Status() : decode(value, writer);
}

// An even number of rounds, so that the two message buffers still alternate after a wrap-around.
std::int32_t Halo::next_round(std::int32_t round) noexcept {
  constexpr std::int32_t last = std::numeric_limits<std::int32_t>::max() - 1;
  return round % last + 1;
}

Status Halo::free() {
  is_freed_ = true;
  return control_.free();
}

Status Halo::check_usable() const {
  if (is_freed_ || !control_) {
    return Status::error(Code::closed,
                         fmt::format("this Halo was {}", is_freed_ ? "freed" : "moved from"));
  }
  TESSERA_RETURN_IF_ERROR(array_->check_open());
  TESSERA_RETURN_IF_ERROR(exchange_failure_);
  return is_in_progress_ ? Status::error(Code::invalid_argument, "an update is in progress")
                               .hint("finish it before the next one")
                         : Status();
}

// Neighbours that send packed messages write into buffers of their own, and don't wait for this
// flag.
Status Halo::notify_ready(std::int32_t round) {
  for (const Neighbour& neighbour : neighbours_) {
    if (neighbour.unpacking.empty()) {
      TESSERA_RETURN_IF_ERROR(set_flag(neighbour, FlagKind::ready, round));
    }
  }
  return {};
}

// A neighbour can't mistake this flag for that of the previous round: it has seen that flag, since
// it sent its layers after it and this rank has waited for them.
Status Halo::post() {
  TESSERA_RETURN_IF_ERROR(explain(check_usable(), *array_));
  if (is_posted_) {
    return {};
  }
  if (Status status = notify_ready(next_round(round_)); !status.ok()) {
    return explain(give_up(std::move(status)), *array_);
  }
  is_posted_ = true;
  return {};
}

// Raises all flags with the reason. This rank is alive, so its neighbours would otherwise wait
// forever.
Status Halo::give_up(Status reason) {
  const std::int32_t value = encode(reason, array_->job().rank());
  for (const Neighbour& neighbour : neighbours_) {
    for (const FlagKind which :
         {FlagKind::ready, FlagKind::arrived, FlagKind::may_add, FlagKind::added}) {
      set_flag(neighbour, which, value).ignore("the neighbour may be the lost rank");
    }
  }
  // A rank that gave up may have freed its memory already; that must not be an error of the next
  // fence.
  for (rma::Region* const region : {&array_->region(), &control_}) {
    region->fence().ignore("the reason is returned below");
  }
  exchange_failure_ = reason;
  return reason;
}

Status Halo::copy_own(std::span<const GhostPiece> pieces) {
  for (auto first = pieces.begin(); first != pieces.end();) {
    const auto last = std::find_if(
        first, pieces.end(), [&](const GhostPiece& piece) { return piece.shape != first->shape; });
    TESSERA_RETURN_IF_ERROR(copy_interleaved(std::span(first, last)));
    first = last;
  }
  return {};
}

// Makes copies of equal shape at the two ends of a dimension. If runs are short, both copies use
// bytes of the same cache lines; so some runs of one alternate with some runs of the other.
Status Halo::copy_interleaved(std::span<const GhostPiece> pieces) {
  constexpr std::int64_t runs_at_a_time = 512;
  const std::byte* const slice = array_->region().local();
  const rma::RemoteAddress self = array_->region().at(array_->team().rank());
  rma::CopyShape shape = pieces.front().shape;
  if (shape.total_bytes() == 0) {
    return {};
  }
  rma::CopyShape::Level outer{1, 0, 0};
  std::int64_t step = 1;
  if (shape.levels > 0) {
    outer = shape.level[static_cast<std::size_t>(shape.levels - 1)];
    step = std::max<std::int64_t>(runs_at_a_time / (shape.runs() / outer.count), 1);
  }
  for (std::int64_t done = 0; done < outer.count; done += step) {
    if (shape.levels > 0) {
      shape.level[static_cast<std::size_t>(shape.levels - 1)].count =
          std::min(step, outer.count - done);
    }
    for (const GhostPiece& piece : pieces) {
      const auto to = piece.to + static_cast<std::uint64_t>(done * outer.remote_stride);
      TESSERA_RETURN_IF_ERROR(rma::put(array_->job(), self + to,
                                       slice + piece.from + done * outer.local_stride, shape));
    }
  }
  return {};
}

Handle Halo::put_layers(const Neighbour& neighbour) {
  const std::byte* const slice = array_->region().local();
  const rma::RemoteAddress there = array_->region().at(neighbour.rank);
  Handle puts;
  for (const GhostPiece& piece : neighbour.outgoing.pieces) {
    puts.collect(rma::put_async(array_->job(), there + piece.to, slice + piece.from, piece.shape));
  }
  return puts;
}

Status Halo::send_packed(const Neighbour& neighbour) {
  const rma::RemoteAddress own = array_->region().at(array_->team().rank());
  std::size_t bytes = 0;
  for (const PackedPiece& piece : neighbour.packing) {
    TESSERA_RETURN_IF_ERROR(rma::get(array_->job(), own + piece.slice_offset,
                                     message_.data() + piece.packed_offset, piece.shape));
    bytes = piece.packed_offset + piece.shape.total_bytes();
  }
  return rma::put_with_flag(
      array_->job(), control_.at(neighbour.rank, buffer_offset(neighbour.outgoing)),
      message_.data(), rma::CopyShape::contiguous(bytes),
      flag_address(neighbour.rank, neighbour.outgoing, FlagKind::arrived), round_);
}

Status Halo::unpack_message(const Neighbour& neighbour) {
  if (neighbour.unpacking.empty()) {
    return {};  // its layers were written directly into the ghost cells
  }
  const rma::RemoteAddress own = array_->region().at(array_->team().rank());
  const std::byte* const arrived = control_.local() + buffer_offset(neighbour.incoming);
  for (const PackedPiece& piece : neighbour.unpacking) {
    TESSERA_RETURN_IF_ERROR(rma::put(array_->job(), own + piece.slice_offset,
                                     arrived + piece.packed_offset, piece.shape));
  }
  return {};
}

Result<HaloUpdate> Halo::start() {
  TESSERA_RETURN_IF_ERROR(explain(check_usable(), *array_));
  note_reads();
  previous_round_ = round_;
  round_ = next_round(round_);
  Handle puts;
  if (Status status = exchange(puts); !status.ok()) {
    puts.wait().ignore("the first error is returned");
    return explain(give_up(std::move(status)), *array_);
  }
  is_in_progress_ = true;
  return HaloUpdate(this, std::move(puts));
}

Status Halo::exchange(Handle& puts) {
  if (!std::exchange(is_posted_, false)) {
    TESSERA_RETURN_IF_ERROR(notify_ready(round_));
  }
  TESSERA_RETURN_IF_ERROR(copy_own(wraps_));
  for (const Neighbour& neighbour : neighbours_) {
    if (!neighbour.packing.empty()) {
      TESSERA_RETURN_IF_ERROR(send_packed(neighbour));
    }
  }
  TESSERA_RETURN_IF_ERROR(copy_own(own_pieces_));
  for (const Neighbour& neighbour : neighbours_) {
    if (neighbour.packing.empty()) {
      TESSERA_RETURN_IF_ERROR(wait_for(neighbour, FlagKind::ready, previous_round_));
      const rma::CoalescingScope one_message(array_->job());
      puts.collect(put_layers(neighbour));
      TESSERA_RETURN_IF_ERROR(set_flag(neighbour, FlagKind::arrived, round_));
    }
  }
  return {};
}

Status Halo::finish(Handle puts) {
  is_in_progress_ = false;
  Status status = puts.wait();
  for (auto neighbour = neighbours_.begin(); neighbour != neighbours_.end() && status.ok();
       ++neighbour) {
    status = wait_for(*neighbour, FlagKind::arrived, previous_round_);
    if (status.ok()) {
      status = unpack_message(*neighbour);
    }
  }
  return status.ok() ? Status() : give_up(std::move(status));
}

Status Halo::update() {
  TESSERA_ASSIGN_OR_RETURN(HaloUpdate update, start());
  return update.finish();
}

}  // namespace tessera::arrays
