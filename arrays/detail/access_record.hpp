// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. AccessRecord: an access of a rank to a box of an array, as the race check records it
// (arrays/race_check.hpp). AccessList: the accesses since the last sync, in bounded memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "arrays/box.hpp"
#include "arrays/index.hpp"
#include "arrays/race_check.hpp"
#include "rma/base/call_site.hpp"

namespace tessera::arrays::detail {

inline constexpr std::size_t access_kinds = 7;

/// "put", "local access".
std::string_view to_string(AccessKind kind) noexcept;

/// Sent between members as plain bytes.
struct AccessRecord {
  Box box = {};
  Extents steps = {};  ///< steps of a section; no dimensions: every element
  /// The range of bytes in each element.
  std::uint32_t first_byte = 0;
  std::uint32_t end_byte = 0;
  AccessKind kind = AccessKind::put;
  /// acquired: between the team's last collective and this access, the rank called an operation
  /// that may have ordered it after another rank's operations. released: between this access and
  /// the next collective, it called one that may have ordered other ranks after it.
  bool acquired = false;
  bool released = false;
  bool has_other_sites = false;  ///< some of the merged accesses were made elsewhere
  /// The number of the team's collectives before the access.
  std::uint32_t epoch = 0;
  std::uint32_t phase = 0;   ///< of the program's; 0: none
  std::uint64_t orders = 0;  ///< number of ordering calls before the first of the merged accesses
  std::uint64_t last_orders = 0;  ///< before the last one
  std::int64_t first_ns = 0;      ///< on the machine's clock
  std::int64_t last_ns = 0;
  rma::detail::CallSite site = {};  ///< in the program of this rank
};
static_assert(std::is_trivially_copyable_v<AccessRecord>);

/// True if two ranks must not do these to one element without an order between them.
[[nodiscard]] bool conflict(AccessKind a, AccessKind b, bool is_strict) noexcept;

/// The box from the first common element to the last one; unset if there are none.
[[nodiscard]] std::optional<Box> overlap(const AccessRecord& a, const AccessRecord& b) noexcept;

/// Whether the times of two accesses permit the first to come before the other.
[[nodiscard]] inline bool times_permit(const AccessRecord& from, const AccessRecord& to,
                                       bool is_one_clock) noexcept {
  return !is_one_clock || from.first_ns < to.last_ns;
}

/// Whether any lock, flag, notification or atomic operation may have ordered two accesses of
/// different ranks. False only if that is impossible. `is_one_clock`: their times can be compared.
[[nodiscard]] bool may_be_ordered(const AccessRecord& a, const AccessRecord& b,
                                  bool is_one_clock) noexcept;

class AccessList {
 public:
  static constexpr std::size_t max_records = 4096;

  /// Adds an access; accesses that form one box are merged. Returns false if there is no room.
  /// Throws std::bad_alloc.
  bool add(AccessRecord access);

  [[nodiscard]] std::span<const AccessRecord> records() const noexcept { return access_records_; }
  [[nodiscard]] std::span<AccessRecord> records() noexcept { return access_records_; }
  /// Removes all accesses; keeps their memory for the next ones.
  void clear() noexcept {
    is_full_ = false;
    access_records_.clear();
  }

 private:
  bool merge_into_recent(AccessRecord& access);
  void compact();

  std::vector<AccessRecord> access_records_;
  bool is_full_ = false;  ///< full of accesses that can't be merged
};

}  // namespace tessera::arrays::detail
