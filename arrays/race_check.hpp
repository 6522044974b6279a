// SPDX-License-Identifier: BSD-3-Clause
//
// The search for missing syncs, with TESSERA_CHECK=races. A rank that changes elements of an array
// and another that uses them need an order between them: a sync, or a lock, flag or notification.
//
// Each array has a RaceLog on each rank, of what the rank did to which boxes since the last sync.
// In sync(), barrier() of the array's team, and free(), the members compare their logs. Two boxes
// that have elements in common are a race if they were touched
//   1. by different ranks, and not both in ways that go together (reads; accumulates);
//   2. between the same two collectives of the team: each of these orders all members; and
//   3. with nothing that orders the ranks besides. If the one rank called such a thing after its
//      touch, and the other before its own, the check takes it that these belong together.
//
// Locks, flags, notifications and atomic operations order, and so does a put or a get of a single
// integer of 4 or 8 bytes: it may be a flag.
//
// What local accesses do to elements the library does not see. One that begins and ends between two
// collectives counts as a reader of its block, which nobody may put to meanwhile; and elements that
// change while it may write them, without a put to them, are writes.
//
// Arrays have no log by default. With one their transfers take the path of boxes in several blocks,
// where the log is written, so that the short path does not ask.
//
// Threads: all functions may be called from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "arrays/box.hpp"
#include "arrays/distribution.hpp"
#include "arrays/patch.hpp"
#include "arrays/section.hpp"
#include "rma/job.hpp"
#include "rma/rank.hpp"
#include "rma/result.hpp"
#include "rma/team.hpp"

namespace tessera::arrays::detail {

class RaceCheck;
class TouchList;
struct Touch;

enum class TouchKind : std::uint8_t {
  put,
  get,
  accumulate,
  atomic,       ///< fetch_add, swap or compare_swap
  local_read,   ///< a local access, which may have read all of its block
  local_write,  ///< elements that changed while a local access could change them
};

/// What of an array its log needs.
struct LoggedArray {
  std::string text;          ///< "array 'A' (float64, 100 x 100)"
  std::uint64_t number = 0;  ///< the same on all members
  Distribution distribution;
  rma::TeamRank self;
  const std::byte* slice = nullptr;
  std::size_t element_bytes = 0;
  bool is_strict = false;  ///< accumulates and atomic operations go together
  bool has_flags = false;  ///< elements are integers of 4 or 8 bytes
};

class RaceLog : public std::enable_shared_from_this<RaceLog> {
 public:
  /// Local. A log for an array that is about to be made; null unless TESSERA_CHECK asks for it.
  /// Errors: no_memory.
  static rma::Result<std::shared_ptr<RaceLog>> create(const rma::Job& job, const rma::Team& team);
  /// Collective. Compares the members' logs and empties them. `race`: the first that was found, if
  /// the sync is to fail then. Errors: those of collectives.
  rma::Status check(rma::Team& team, const rma::Label& label, rma::Status& race);

  ~RaceLog();
  RaceLog(const RaceLog&) = delete;
  RaceLog& operator=(const RaceLog&) = delete;

  /// The array is there.
  void open(LoggedArray array);
  /// The array is freed: nothing more is logged.
  void close() noexcept;

  /// Local. What this rank does to a box, a section, one field of a box's elements, or elements.
  void note(TouchKind kind, const Box& box) noexcept;
  void note(TouchKind kind, const Section& section) noexcept;
  void note(TouchKind kind, const Box& box, const Field& field) noexcept;
  void note(TouchKind kind, std::vector<Index> elements) noexcept;

  /// Local. A local access to one of this rank's blocks, or to all; returns its number.
  std::uint64_t begin_use(bool may_write, std::optional<std::int64_t> block) noexcept;
  void end_use(std::uint64_t number) noexcept;

 private:
  friend class RaceCheck;
  struct Use;

  RaceLog(RaceCheck& check, const rma::detail::TeamState* team);
  template <class Body>
  void guarded(Body&& body) noexcept;
  [[nodiscard]] bool is_open() noexcept;
  [[nodiscard]] Touch touch(TouchKind kind, const Box& box) const noexcept;
  [[nodiscard]] Touch while_used(const Use& use, TouchKind kind, const Box& box) const noexcept;
  void add(Touch touch);
  void add_changes(Use& use);
  void end_epoch() noexcept;
  void begin_epoch() noexcept;
  void forget_changes() noexcept;

  RaceCheck& check_;
  const rma::detail::TeamState* team_;
  std::mutex mutex_;
  std::optional<LoggedArray> array_;  // none: not made yet, or freed
  std::unique_ptr<TouchList> list_;
  std::vector<Use> uses_;
  std::uint64_t last_use_ = 0;
  std::uint32_t epoch_ = 0;         // collectives of the team since the log was made
  std::uint64_t epoch_orders_ = 0;  // calls that order, when the epoch began
  bool has_lost_ = false;           // since the last check
  bool has_told_of_loss_ = false;
};

/// A local access of an array, which ends with it. Ownership: move-only.
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
