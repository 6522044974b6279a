// SPDX-License-Identifier: BSD-3-Clause
#include "rma/armci/mailbox_region.hpp"

#include <fmt/format.h>

#include <atomic>
#include <utility>

#include "rma/base/rounding.hpp"
#include "rma/notify.hpp"

namespace tessera::rma::armci::detail {
namespace {

constexpr std::uint64_t word_bytes = sizeof(std::int32_t);
constexpr std::uint64_t line_bytes = 64;

// The bell has a cache line of its own; then come two words for each rank, the slots, and the
// parts.
constexpr std::uint64_t wake_word_offset = 0;

std::uint64_t announced_offset(WorldRank rank) {
  return line_bytes + static_cast<std::uint64_t>(rank.value) * 2 * word_bytes;
}
std::uint64_t taken_offset(WorldRank rank) {
  return announced_offset(rank) + word_bytes;
}
std::uint64_t slots_offset(std::int32_t ranks) {
  return round_up(announced_offset(WorldRank{ranks}), line_bytes);
}
std::uint64_t slot_offset(std::int32_t ranks, std::uint32_t slot) {
  return slots_offset(ranks) + slot * slot_bytes;
}
std::uint64_t part_offset(std::int32_t ranks, std::uint64_t part) {
  return slot_offset(ranks, max_short_messages) + part % part_count * part_bytes;
}
std::uint64_t slice_bytes(std::int32_t ranks) {
  return part_offset(ranks, 0) + part_count * part_bytes;
}

// A bell's value consists of the rank's number, a reason, and the low bits of a message's number.
constexpr std::uint32_t count_bits = 7;
constexpr std::int32_t max_ranks = 1 << (32 - 1 - count_bits);

constexpr std::uint32_t low_bits(std::uint32_t word, std::uint32_t bits) {
  return word & ((std::uint32_t{1} << bits) - 1);
}

}  // namespace

Announcement Announcement::decode(std::int32_t word) noexcept {
  const auto bits = static_cast<std::uint32_t>(word);
  return {.number = bits >> (units_bits + slot_bits),
          .units = low_bits(bits >> slot_bits, units_bits),
          .slot = low_bits(bits, slot_bits)};
}

std::int32_t Announcement::encode() const noexcept {
  return static_cast<std::int32_t>(number << (units_bits + slot_bits) | units << slot_bits | slot);
}

std::int32_t distance(std::uint32_t later, std::uint32_t earlier) noexcept {
  // The sign of the number is that of the word.
  constexpr std::uint32_t unused_bits = 32 - Announcement::number_bits;
  return static_cast<std::int32_t>((later - earlier) << unused_bits) >> unused_bits;
}

MailboxRegion::MailboxRegion(Job job, Region region) noexcept
    : job_(std::move(job)), region_(std::move(region)) {}

Result<MailboxRegion> MailboxRegion::create(const Job& job) {
  if (job.size() > max_ranks) {
    return Status::error(
        Code::limit_exceeded,
        fmt::format("a mailbox serves up to {} ranks, and the job has {}", max_ranks, job.size()));
  }
  TESSERA_ASSIGN_OR_RETURN(Region region, Region::allocate(job.world(), slice_bytes(job.size()),
                                                           {.name = "ARMCI messages"}));
  return MailboxRegion(job, std::move(region));
}

Status MailboxRegion::free() {
  if (!is_open()) {
    return {};
  }
  // Flags that are still on their way must arrive before the region is freed.
  Status fenced = region_.fence();
  Status freed = region_.free();
  return freed.ok() ? std::move(fenced) : std::move(freed);
}

RemoteAddress MailboxRegion::at(WorldRank rank, std::uint64_t offset) const noexcept {
  return region_.at(TeamRank{rank.value}, offset);
}

std::int32_t MailboxRegion::word(std::uint64_t offset) const noexcept {
  auto& here = *reinterpret_cast<std::int32_t*>(region_.local() + offset);
  return std::atomic_ref<std::int32_t>(here).load(std::memory_order_acquire);
}

Announcement MailboxRegion::announced(WorldRank by) const noexcept {
  return Announcement::decode(word(announced_offset(by)));
}
std::uint32_t MailboxRegion::taken(WorldRank by) const noexcept {
  return static_cast<std::uint32_t>(word(taken_offset(by)));
}
std::int32_t MailboxRegion::bell() const noexcept {
  return word(wake_word_offset);
}

std::byte* MailboxRegion::slot(std::uint32_t slot) const noexcept {
  return region_.local() + slot_offset(size(), slot);
}
std::byte* MailboxRegion::part(std::uint64_t part) const noexcept {
  return region_.local() + part_offset(size(), part);
}
RemoteAddress MailboxRegion::slot_of(WorldRank rank, std::uint32_t slot) const noexcept {
  return at(rank, slot_offset(size(), slot));
}
RemoteAddress MailboxRegion::part_of(WorldRank rank, std::uint64_t part) const noexcept {
  return at(rank, part_offset(size(), part));
}

Status MailboxRegion::announce(WorldRank to, Announcement announcement) {
  TESSERA_RETURN_IF_ERROR(
      raise_flag(job_, at(to, announced_offset(rank())), announcement.encode()));
  return ring(to, Reason::announcement, announcement.number);
}

Status MailboxRegion::acknowledge(WorldRank to, std::uint32_t number) {
  TESSERA_RETURN_IF_ERROR(
      raise_flag(job_, at(to, taken_offset(rank())), static_cast<std::int32_t>(number)));
  return ring(to, Reason::acknowledgement, number);
}

// The bell's new value must differ from the value that its owner last read. It differs from other
// ranks' values, and from this rank's values for earlier numbers: between two polls of the owner,
// which fetches and sends nothing meanwhile, there are fewer than 2^7 of either kind.
Status MailboxRegion::ring(WorldRank rank, Reason reason, std::uint32_t number) {
  static_assert(max_short_messages + part_count < std::uint64_t{1} << count_bits);
  const std::uint32_t value = static_cast<std::uint32_t>(this->rank().value) << (count_bits + 1) |
                              static_cast<std::uint32_t>(reason) << count_bits |
                              low_bits(number, count_bits);
  return raise_flag(job_, at(rank, wake_word_offset), static_cast<std::int32_t>(value));
}

Status MailboxRegion::listen(std::int32_t last_bell, WorldRank peer) {
  return wait_for_flag_change(job_, at(rank(), wake_word_offset), last_bell, peer).status();
}

}  // namespace tessera::rma::armci::detail
