// SPDX-License-Identifier: BSD-3-Clause
//
// The search for missing syncs, with TESSERA_CHECK=races. If a rank changes elements of an array
// and another rank uses them, the two accesses need an order: a sync, or a lock, flag or
// notification.
//
// Each array has a RaceLog on each rank, with the rank's accesses to boxes since the last sync. In
// sync(), barrier() of the array's team, and free(), the members compare their logs. Accesses to
// two boxes with common elements are a race if they are
//   1. by different ranks, and of kinds that conflict (reads don't, and accumulates don't);
//   2. between the same two collectives of the team, since each of these orders all members; and
//   3. not ordered by other means: the one rank released an object after its access, and the other
//      rank acquired it before its own, maybe through further ranks (detail/order_graph.hpp).
//
// Objects are locks, flags, words of atomic operations, and pairs of ranks that notify. A put or a
// get of a single integer of 4 or 8 bytes releases or acquires it, since it may be a flag. Which
// calls really met is not known, so any release may come before any acquisition. In teams without
// all ranks, and with more than 4096 objects between two collectives, objects are not
// distinguished.
//
// The library does not see loads and stores in local accesses. A local access that begins and ends
// between two collectives counts as a read of its block, which other ranks must not put to
// meanwhile. Elements that change during a local access that may write, without a put to them,
// count as writes.
//
// By default arrays have no log. With a log, transfers use the path for boxes in several blocks,
// which writes the log, so that the fast path doesn't have to check for it.
//
// Threads: all functions may be called from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "arrays/box.hpp"
#include "arrays/distribution.hpp"
#include "arrays/selection.hpp"
#include "rma/base/rank.hpp"
#include "rma/base/result.hpp"
#include "rma/job.hpp"
#include "rma/region.hpp"
#include "rma/team.hpp"

namespace tessera::arrays::detail {

class RaceCheck;
class AccessList;
struct AccessRecord;
struct SnapshotRoom;

enum class AccessKind : std::uint8_t {
  put,
  get,
  accumulate,
  atomic,       ///< fetch_add, swap or compare_swap
  local_read,   ///< a local access, which may have read its whole block
  local_write,  ///< elements that changed while a local access could change them
  halo,         ///< own elements that an update of ghost cells sends to other ranks
};

/// The properties of an array that its log needs.
struct LoggedArray {
  std::string text;          ///< "array 'A' (float64, 100 x 100)"
  std::uint64_t number = 0;  ///< the same on all members
  Distribution distribution;
  rma::TeamRank self;
  const std::byte* slice = nullptr;
  std::size_t element_bytes = 0;
  bool is_strict = false;  ///< accumulates and atomic operations don't conflict
  bool has_flags = false;  ///< elements are integers of 4 or 8 bytes
  std::function<rma::RemoteAddress(const Index&)> address_of;
};

class RaceLog : public std::enable_shared_from_this<RaceLog> {
 public:
  /// Local. Makes a log for an array that is about to be made; null unless TESSERA_CHECK=races is
  /// set. Errors: no_memory.
  static rma::Result<std::shared_ptr<RaceLog>> create(const rma::Job& job, const rma::Team& team);
  /// Collective. Compares the members' logs of all arrays of the team, and empties them. `race`
  /// gets the first race found, if the sync is to fail because of it. Errors: those of collectives.
  rma::Status check(rma::Team& team, const rma::Label& label, rma::Status& race);

  ~RaceLog();
  RaceLog(const RaceLog&) = delete;
  RaceLog& operator=(const RaceLog&) = delete;

  /// The array has been made: logging begins.
  void open(LoggedArray array);
  /// The array is freed: nothing is logged afterwards.
  void close() noexcept;

  /// Local. Logs this rank's access to a box, a section, one field of a box's elements, or
  /// elements.
  void note(AccessKind kind, const Box& box) noexcept;
  void note(AccessKind kind, const Section& section) noexcept;
  void note(AccessKind kind, const FieldBox& fields) noexcept;
  void note(AccessKind kind, std::vector<Index> elements) noexcept;

  /// Local. Begins a local access to one of this rank's blocks, or to all; returns its number.
  std::uint64_t begin_use(bool may_write, std::optional<std::int64_t> block) noexcept;
  void end_use(std::uint64_t number) noexcept;

 private:
  friend class RaceCheck;
  struct Use;

  RaceLog(RaceCheck& check, const rma::detail::TeamState* team);
  template <class Body>
  void guarded(Body&& body) noexcept;
  [[nodiscard]] bool is_open() noexcept;
  [[nodiscard]] AccessRecord make_record(AccessKind kind, const Box& box) const noexcept;
  [[nodiscard]] AccessRecord record_during_use(const Use& use, AccessKind kind,
                                               const Box& box) const noexcept;
  void add(AccessRecord access);
  void add_changes(Use& use, bool is_last = false);
  void end_epoch() noexcept;
  void begin_epoch() noexcept;
  void drop_changes() noexcept;

  RaceCheck& check_;
  const rma::detail::TeamState* team_;
  std::mutex mutex_;
  std::optional<LoggedArray> array_;  // unset: not made yet, or freed
  std::unique_ptr<AccessList> list_;
  std::vector<Use> uses_;
  std::vector<SnapshotRoom> rooms_;  // for the next local accesses
  std::uint64_t last_use_ = 0;
  std::uint32_t epoch_ = 0;           // collectives of the team since the log was made
  std::uint64_t epoch_orders_ = 0;    // number of ordering calls when the epoch began
  bool has_dropped_records_ = false;  // accesses were dropped since the last check
  bool has_reported_drop_ = false;
};

/// A local access to an array; it ends with this object. Ownership: move-only.
class LocalUse {
 public:
  LocalUse() noexcept = default;
  LocalUse(std::shared_ptr<RaceLog> log, bool may_write,
           std::optional<std::int64_t> block = {}) noexcept
      : log_(std::move(log)) {
    if (log_) {
      number_ = log_->begin_use(may_write, block);
    }
  }
  LocalUse(LocalUse&& other) noexcept = default;
  LocalUse& operator=(LocalUse&& other) noexcept {
    if (this != &other) {
      end();
      log_ = std::move(other.log_);
      number_ = other.number_;
    }
    return *this;
  }
  ~LocalUse() { end(); }

  void end() noexcept {
    if (log_) {
      log_->end_use(number_);
      log_.reset();
    }
  }

 private:
  std::shared_ptr<RaceLog> log_;
  std::uint64_t number_ = 0;
};

}  // namespace tessera::arrays::detail
