// SPDX-License-Identifier: BSD-3-Clause
//
// UnmapMonitor: reports which watched memory was unmapped, moved or discarded. A registration with
// a device keeps the previous pages, so a cache of registrations must drop these entries.
//
// It is a userfaultfd(2) with a thread that reads the kernel's events. Ranges are watched in
// write-protect mode, and nothing is ever protected, so no page fault of user or kernel waits for
// this library. The other modes stop any thread that touches a missing page, also in system calls,
// and are not safe to serve from a library. The kernel reports these events, from Linux 5.11 on
// with x86-64 (6.1 and 6.18 were tested):
//
//     munmap, mmap over it, mremap, brk     after the memory has gone, before the call returns
//     madvise DONTNEED, FREE, REMOVE        before the pages go
//
// It cannot report these, and they are excluded as follows:
//
//     files, System V shared memory         watch() fails
//     shared memory of all kinds: holes     is_private() is false. Shared huge pages of System V
//     punched through a descriptor          can also be detached (shmdt) without a report
//     (fallocate, ftruncate)
//
// Order: the caller of munmap waits only until its event was read. Meanwhile another thread may
// already have mapped other memory there. So there are two steps:
//
//  1. is_quiet() asks the kernel whether the events of all changes that began before were read.
//     A thread that got an address from mmap, and then finds it quiet, has no old event pending.
//  2. take() returns what was read. Reading and recording are one step under the lock that take()
//     needs, so everything that was read is recorded.
//
// Deadlock is impossible: threads that change mappings wait for the monitor's thread alone. It
// waits for events and for the lock of take(). Under that lock there are only a read that never
// waits, and copies between existing objects: nothing allocates, frees, maps or waits. Outside of
// the lock the thread does nothing that changes mappings, since no thread would read its event.
// Callers of watch(), is_quiet() and take() may hold their own locks and change mappings under
// them.
//
// Threads: all functions may be called from any thread. Cost: is_quiet() is a system call that
// takes no lock; take() a lock without contention. Changing the mapping of watched memory costs its
// caller two thread switches.
// After a fork the child's memory isn't watched. The child may only destroy this object.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <thread>

#include "rma/base/fd_passing.hpp"
#include "rma/base/result.hpp"
#include "rma/transport/verbs/fork_detector.hpp"
#include "rma/transport/verbs/page_range.hpp"

namespace tessera::rma::verbs {

/// Memory whose mapping changed.
struct MappingChange {
  PageRange range;
  /// It was unmapped or moved; else its pages were discarded.
  bool is_gone = false;
  /// Its new address, which is watched, too; empty if it was not moved.
  PageRange moved_to;
};

class MappingChanges {
 public:
  [[nodiscard]] std::span<const MappingChange> list() const noexcept {
    return std::span(list_).first(count_);
  }
  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }

  /// Changes beyond the capacity become one change of all memory.
  void add(const MappingChange& change) noexcept;
  void clear() noexcept { count_ = 0; }

 private:
  std::array<MappingChange, 64> list_{};
  std::size_t count_ = 0;
};

class UnmapMonitor {
 public:
  /// Starts the thread and unmaps a page of its own to check that the kernel reports it. Errors:
  /// unsupported, with the reason in words.
  static Result<std::unique_ptr<UnmapMonitor>> create();
  /// Ends all watching. A change of watched memory never waits for this object forever.
  ~UnmapMonitor();
  UnmapMonitor(const UnmapMonitor&) = delete;
  UnmapMonitor& operator=(const UnmapMonitor&) = delete;

  /// Records changes of the memory now mapped at `range`. Watching twice is the same as once.
  /// Errors: unsupported (memory of a kind that cannot be watched, or that another userfaultfd
  /// watches); then nothing is watched.
  Status watch(PageRange range);

  /// Changes are no longer recorded, and do not wait. A change that began before may be recorded.
  void unwatch(PageRange range) noexcept;

  /// Whether all of `range` is private memory of this process. Requires: its pages are present, as
  /// registered pages are; absent pages count as shared.
  [[nodiscard]] bool is_private(PageRange range) const noexcept;

  /// Whether take() will return everything that changed before this call. False while a thread's
  /// change is under way.
  [[nodiscard]] bool is_quiet() const noexcept;

  /// Changes since the last call.
  [[nodiscard]] MappingChanges take() noexcept;

 private:
  UnmapMonitor(rma::detail::Descriptor events, rma::detail::Descriptor pages,
               rma::detail::Descriptor stop, ForkDetector fork_detector) noexcept;
  Status start();
  Status probe();
  Status check_probe(PageRange page);
  void run() noexcept;
  void read_events() noexcept;

  // The thread closes it at its end, which wakes the callers that wait for their event.
  int events_;
  rma::detail::Descriptor pages_;
  rma::detail::Descriptor stop_;
  ForkDetector fork_detector_;
  std::thread thread_;
  std::atomic<bool> has_reported_change_ = false;
  std::mutex mutex_;  // protects changes_, and reading
  MappingChanges changes_;
};

}  // namespace tessera::rma::verbs
