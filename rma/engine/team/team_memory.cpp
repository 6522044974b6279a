// SPDX-License-Identifier: BSD-3-Clause
#include "rma/engine/team/team_memory.hpp"

#include <algorithm>
#include <new>

#include "rma/base/rounding.hpp"
#include "rma/engine/job_state.hpp"
#include "rma/engine/region_numbers.hpp"

namespace tessera::rma::detail {
namespace {

constexpr std::uint64_t min_slot_bytes = 256;  // as in tuning.cpp

// Smaller than the setting if a set of mailboxes for all members would be too large.
std::size_t slot_bytes_for(const Settings& settings, const TeamMembers& members) {
  const std::size_t wanted =
      static_cast<std::size_t>(settings.collective_slot_bytes) / cache_line * cache_line;
  if (!members.has_other_nodes()) {
    return wanted;
  }
  const std::uint64_t most =
      max_mailbox_set_bytes / static_cast<std::uint64_t>(members.size()) / cache_line * cache_line;
  return std::min<std::size_t>(wanted, std::max(most, min_slot_bytes));
}

}  // namespace

TeamMemory::TeamMemory(JobState& job, const TeamMembers& members)
    : job_(job), members_(members), slot_bytes_(slot_bytes_for(job.settings(), members)) {
  if (members.has_other_nodes()) {
    numbers_.resize(static_cast<std::size_t>(members.nodes().count()));
  }
}

TeamMemory::~TeamMemory() {
  if (control_ == nullptr || job_.is_in_forked_child()) {
    return;
  }
  // Sorted, since members may have given the team's list in different orders.
  const std::vector<WorldRank>& sorted = members_.sorted_on_node();
  const auto index =
      std::lower_bound(sorted.begin(), sorted.end(), members_.own_world_rank()) - sorted.begin();
  if (users().release(job_.node(), sorted, static_cast<std::size_t>(index))) {
    free_long();
    free({static_cast<std::uint64_t>(base() - job_.node().arena().at(0)), control_->bytes,
          RegionId{control_->memory}});
  }
}

// Allocates memory of this node, and publishes it if there are other nodes.
Result<TeamMemory::Piece> TeamMemory::allocate(std::uint64_t bytes) {
  Arena& arena = job_.node().arena();
  TESSERA_ASSIGN_OR_RETURN(const std::uint64_t offset, arena.allocate(bytes));
  Piece piece{.offset = offset, .bytes = bytes, .number = {}};
  Status status = arena.back(offset, bytes);
  if (status.ok() && members_.has_other_nodes()) {
    const Result<RegionId> published = publish(job_, {.offset = offset, .bytes = bytes});
    status = published.status();
    piece.number = published.ok() ? *published : RegionId{};
  }
  if (!status.ok()) {
    arena.free(offset, bytes);
    return status;
  }
  return piece;
}

void TeamMemory::free(const Piece& piece) noexcept {
  if (piece.number.value != 0) {
    job_.link()->withdraw(piece.number);
  }
  job_.node().arena().free(piece.offset, piece.bytes);
}

Result<std::uint64_t> TeamMemory::make() {
  const auto members = static_cast<std::uint64_t>(members_.count_on_node());
  TESSERA_ASSIGN_OR_RETURN(const Piece piece,
                           allocate(first_slot_offset() + 2 * members * slot_bytes_));
  control_ = new (job_.node().arena().at(piece.offset)) TeamControl;
  control_->slot_bytes = slot_bytes_;
  control_->bytes = piece.bytes;
  control_->memory = piece.number.value;
  return piece.offset;
}

void TeamMemory::attach(std::uint64_t offset) noexcept {
  control_ = reinterpret_cast<TeamControl*>(job_.node().arena().at(offset));
}

void TeamMemory::adopt_slot_bytes() noexcept {
  slot_bytes_ = control_->slot_bytes;
  is_formed_ = true;
}

SharedRefCount& TeamMemory::users() const noexcept {
  return *reinterpret_cast<SharedRefCount*>(base() + sizeof(TeamControl));
}

std::uint64_t TeamMemory::marks_start(std::int32_t node_members) noexcept {
  static_assert(sizeof(TeamControl) % cache_line == 0);
  return sizeof(TeamControl) + SharedRefCount::bytes(static_cast<std::size_t>(node_members));
}

std::uint64_t TeamMemory::mail_start(std::int32_t node_members) noexcept {
  const std::uint64_t marks = static_cast<std::uint64_t>(node_members) * sizeof(std::uint32_t);
  return marks_start(node_members) + round_up(marks, cache_line);
}

std::uint64_t TeamMemory::first_slot_offset() const noexcept {
  const std::uint64_t mail = members_.has_other_nodes()
                                 ? members_.nodes().mail_bytes(members_.nodes().own(), slot_bytes_)
                                 : 0;
  return mail_start(members_.count_on_node()) + mail;
}

std::byte* TeamMemory::slot(std::uint32_t phase, std::int32_t order) const noexcept {
  const std::size_t at = (phase % 2) * static_cast<std::size_t>(members_.count_on_node()) +
                         static_cast<std::size_t>(order);
  return base() + first_slot_offset() + at * slot_bytes_;
}

std::atomic<std::uint32_t>& TeamMemory::mark_of(std::int32_t order) const noexcept {
  auto* const marks =
      reinterpret_cast<std::atomic<std::uint32_t>*>(base() + marks_start(members_.count_on_node()));
  return marks[order];
}

TeamNodes::Set TeamMemory::mail_set(std::uint32_t generation) const noexcept {
  if (!is_formed_) {
    return TeamNodes::Set::forming;
  }
  return generation % 2 == 0 ? TeamNodes::Set::even : TeamNodes::Set::odd;
}

TeamMailbox& TeamMemory::mailbox(int round, std::uint32_t generation) const noexcept {
  return *reinterpret_cast<TeamMailbox*>(base() +
                                         mailbox_offset(members_.nodes().own(), round, generation));
}

std::uint64_t TeamMemory::mailbox_offset(std::int32_t index, int round,
                                         std::uint32_t generation) const {
  const TeamNodes& nodes = members_.nodes();
  return mail_start(nodes.members_on(index)) +
         nodes.mail_offset(index, mail_set(generation), round, slot_bytes_);
}

RegionId TeamMemory::make_long(std::uint64_t bytes) {
  const Result<Piece> piece = allocate(bytes);
  if (!piece.ok()) {
    return {};
  }
  control_->long_memory = piece->number.value;
  control_->long_offset = piece->offset;
  control_->long_bytes = bytes;
  return piece->number;
}

void TeamMemory::free_long() noexcept {
  if (control_->long_memory != 0) {
    free({control_->long_offset, control_->long_bytes, RegionId{control_->long_memory}});
    control_->long_memory = 0;
  }
}

std::byte* TeamMemory::long_start() const noexcept {
  return job_.node().arena().at(control_->long_offset);
}

}  // namespace tessera::rma::detail
