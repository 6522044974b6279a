// SPDX-License-Identifier: BSD-3-Clause
//
// MailboxRegion: the region of a mailbox: the layout of its words, slots and parts, and the flags
// that ranks raise at each other. mailbox.hpp explains their use.
//
// Threads: as the mailbox. Errors: as raise_flag() and wait_for_flag_change().
#pragma once

#include <cstddef>
#include <cstdint>

#include "rma/armci/mailbox.hpp"
#include "rma/base/rounding.hpp"
#include "rma/region.hpp"

namespace tessera::rma::armci::detail {

/// What a sender announces to a receiver in one word. Messages of a pair of ranks are numbered from
/// 1; a long one has a number for each of its parts. Numbers wrap around; distance() compares them.
struct Announcement {
  std::uint32_t number = 0;  ///< modulo 2^19
  std::uint32_t units = 0;   ///< how much of the slot is used
  std::uint32_t slot = 0;

  static constexpr std::uint32_t number_bits = 19;
  static constexpr std::uint32_t units_bits = 7;
  static constexpr std::uint32_t slot_bits = 6;

  static Announcement decode(std::int32_t word) noexcept;
  [[nodiscard]] std::int32_t encode() const noexcept;
};
static_assert(Announcement::number_bits + Announcement::units_bits + Announcement::slot_bits == 32);
static_assert(max_short_messages == 1 << Announcement::slot_bits);

/// How far `later` is after `earlier`, both modulo 2^19; negative if it is before.
std::int32_t distance(std::uint32_t later, std::uint32_t earlier) noexcept;

/// The beginning of a slot; the bytes of a short message follow.
struct SlotHeader {
  std::int32_t previous = 0;  ///< the announcement before this one, to the same receiver
  std::int32_t tag = 0;
  std::uint64_t bytes = 0;
};
static_assert(sizeof(SlotHeader) == 16);

/// A get of a slot moves whole units.
inline constexpr std::size_t slot_unit_bytes = 64;
inline constexpr std::size_t slot_bytes =
    round_up(sizeof(SlotHeader) + short_message_bytes, slot_unit_bytes);
static_assert(slot_bytes / slot_unit_bytes < std::size_t{1} << Announcement::units_bits);

/// Long enough for a network's bandwidth; a window of several hides its latency.
inline constexpr std::size_t part_bytes = std::size_t{128} << 10;
inline constexpr std::uint64_t part_count = 4;

class MailboxRegion {
 public:
  /// Collective over all ranks.
  static Result<MailboxRegion> create(const Job& job);
  /// Collective. Idempotent.
  Status free();
  [[nodiscard]] bool is_open() const noexcept { return region_.local() != nullptr; }

  [[nodiscard]] Job& job() noexcept { return job_; }
  [[nodiscard]] WorldRank rank() const noexcept { return job_.rank(); }
  [[nodiscard]] std::int32_t size() const noexcept { return job_.size(); }

  /// What other ranks wrote in this rank's slice.
  [[nodiscard]] Announcement announced(WorldRank by) const noexcept;
  [[nodiscard]] std::uint32_t taken(WorldRank by) const noexcept;
  [[nodiscard]] std::int32_t bell() const noexcept;

  /// This rank's own slots and parts. Part n of a message uses the buffer n % part_count.
  [[nodiscard]] std::byte* slot(std::uint32_t slot) const noexcept;
  [[nodiscard]] std::byte* part(std::uint64_t part) const noexcept;

  /// The slots and parts of another rank.
  [[nodiscard]] RemoteAddress slot_of(WorldRank rank, std::uint32_t slot) const noexcept;
  [[nodiscard]] RemoteAddress part_of(WorldRank rank, std::uint64_t part) const noexcept;

  /// Writes in the slice of `to`, after this rank's earlier writes to its own slots, and changes
  /// its bell.
  Status announce(WorldRank to, Announcement announcement);
  Status acknowledge(WorldRank to, std::uint32_t number);

  /// Sleeps until the bell differs from the first argument. Errors: peer_lost (the rank is gone).
  Status listen(std::int32_t last_bell, WorldRank peer);

 private:
  enum class Reason : std::uint32_t { announcement, acknowledgement };

  MailboxRegion(Job job, Region region) noexcept;
  Status ring(WorldRank rank, Reason reason, std::uint32_t number);
  [[nodiscard]] RemoteAddress at(WorldRank rank, std::uint64_t offset) const noexcept;
  [[nodiscard]] std::int32_t word(std::uint64_t offset) const noexcept;

  Job job_;
  Region region_;
};

}  // namespace tessera::rma::armci::detail
