// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. AccessRecord: an access of a rank to a box of an array, as the race check records it
// (arrays/race_check.hpp). AccessList: the accesses since the last sync, in bounded memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "arrays/box.hpp"
#include "arrays/detail/call_site_table.hpp"
#include "arrays/index.hpp"
#include "arrays/race_check.hpp"

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
  /// The number of the call site in its rank's table; 0: unknown.
  std::uint32_t site = 0;
  /// The number of the team's collectives before the access.
  std::uint32_t epoch = 0;
  std::uint32_t phase = 0;   ///< of the program's; 0: none
  std::uint64_t orders = 0;  ///< number of ordering calls before the first of the merged accesses
  std::uint64_t last_orders = 0;  ///< before the last one
  std::int64_t first_time = 0;    ///< on the machine's clock, in its unit
  std::int64_t last_time = 0;

  friend bool operator==(const AccessRecord&, const AccessRecord&) = default;
};
static_assert(std::is_trivially_copyable_v<AccessRecord>);

/// True if two ranks must not do these to one element without an order between them.
[[nodiscard]] bool conflict(AccessKind a, AccessKind b, bool is_strict) noexcept;

/// The box from the first common element to the last one; unset if there are none.
[[nodiscard]] std::optional<Box> overlap(const AccessRecord& a, const AccessRecord& b) noexcept;

/// Whether the times of two accesses permit the first to come before the other.
[[nodiscard]] inline bool times_permit(const AccessRecord& from, const AccessRecord& to,
                                       bool is_one_clock) noexcept {
  return !is_one_clock || from.first_time < to.last_time;
}

/// Whether any lock, flag, notification or atomic operation may have ordered two accesses of
/// different ranks. False only if that is impossible. `is_one_clock`: their times can be compared.
[[nodiscard]] bool may_be_ordered(const AccessRecord& a, const AccessRecord& b,
                                  bool is_one_clock) noexcept;

/// Adding is fast, since it is far more frequent than comparing members' lists: a new access may be
/// merged only with the last one of its kind from the same call. All others are merged when the
/// list is full.
class AccessList {
 public:
  static constexpr std::size_t max_records = 4096;

  AccessList() noexcept { last_.fill(none); }

  /// Adds an access. It is merged with the last one of the same call if both form one box. Returns
  /// false if the list is full. Throws std::bad_alloc; then nothing is changed.
  bool add(const AccessRecord& access);

  [[nodiscard]] std::span<const AccessRecord> records() const noexcept { return access_records_; }
  /// The accesses since begin_epoch().
  [[nodiscard]] std::span<AccessRecord> records_of_epoch() noexcept {
    return std::span(access_records_).subspan(epoch_begin_);
  }
  /// Accesses that are added from now on have another epoch.
  void begin_epoch() noexcept { epoch_begin_ = access_records_.size(); }
  /// Removes and returns all accesses.
  [[nodiscard]] std::vector<AccessRecord> take() noexcept;
  /// Later accesses use the memory of those that were taken.
  void give_back(std::vector<AccessRecord> taken) noexcept;

  /// Numbers for AccessRecord::site; they stay valid when accesses are taken.
  [[nodiscard]] CallSiteTable& sites() noexcept { return sites_; }

 private:
  static constexpr std::size_t remembered_calls = 16;
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  void merge_last_with_earlier(std::uint32_t& last) noexcept;
  void compact();

  std::vector<AccessRecord> access_records_;
  std::vector<AccessRecord> spare_;
  CallSiteTable sites_;
  std::array<std::uint32_t, remembered_calls> last_;  ///< indices, by kind and call site
  std::size_t epoch_begin_ = 0;
  bool is_full_ = false;  ///< full of accesses that can't be merged
};

}  // namespace tessera::arrays::detail
