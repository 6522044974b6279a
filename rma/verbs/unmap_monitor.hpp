// SPDX-License-Identifier: BSD-3-Clause
//
// UnmapMonitor: says which watched memory was unmapped, moved or thrown away. What is registered
// with a device stays the memory of then; who remembers registrations has to forget these.
//
// It is a userfaultfd(2) with a thread that reads the kernel's events. Ranges are watched in
// write-protect mode and nothing is ever protected, so no page fault waits for us, of user or
// kernel: the other modes stop whoever touches a missing page, system calls included, and are not
// safe to serve from a library. What the kernel reports, from Linux 5.11 on with x86-64 (6.1 and
// 6.18 were tried):
//
//     munmap, mmap over it, mremap, brk     after the memory has gone, before the call returns
//     madvise DONTNEED, FREE, REMOVE        before the pages go
//
// and what it can't, and how that is kept out:
//
//     files, System V shared memory         watch() fails
//     shared memory of all kinds, since     is_private() is false. Shared huge pages of System V
//     holes punched through a descriptor    can be detached (shmdt) unreported, too
//     (fallocate, ftruncate) are not told
//
// Order: the caller of munmap waits only until its event was read. And while it does, another
// thread may have mapped something else there already. Thus two steps:
//
//  1. is_quiet() asks the kernel whether the events of all changes that began before were read.
//     Who has just got an address from mmap, and finds it quiet, has no old event to fear.
//  2. take() gives what was read. Reading and noting are one step under the lock that take() needs,
//     so what was read is noted.
//
// Without deadlock: threads that change mappings wait for the monitor's thread alone. It waits for
// events and for the lock of take(); under that, there are a read that never waits, and copies
// between objects that are there: nothing that allocates, frees, maps or waits. Outside it the
// thread does nothing that changes mappings, since nobody would read its own event. Callers of
// watch(), is_quiet() and take() may hold locks of theirs and change mappings under them.
//
// Threads: all functions may be called from any thread. Cost: is_quiet() is a system call that
// takes no lock; take() a lock without contention. Changing the mapping of watched memory costs
// its caller two switches of threads.
// After a fork the child's memory isn't watched. It may destroy this object and nothing else.
#pragma once

#include <pthread.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>

#include "rma/node/fd_passing.hpp"
#include "rma/result.hpp"
#include "rma/verbs/fork_mark.hpp"
#include "rma/verbs/page_range.hpp"

namespace tessera::rma::verbs {

/// Memory whose mapping changed.
struct MappingChange {
  PageRange range;
  /// It was unmapped or moved; else its pages were thrown away.
  bool is_gone = false;
  /// Where it was moved; it is watched there, too. Empty if it wasn't.
  PageRange moved_to;
};

class MappingChanges {
 public:
  [[nodiscard]] std::span<const MappingChange> list() const noexcept {
    return std::span(list_).first(count_);
  }
  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }

  /// More than fits becomes one change of all memory.
  void add(const MappingChange& change) noexcept;
  void clear() noexcept { count_ = 0; }

 private:
  std::array<MappingChange, 64> list_{};
  std::size_t count_ = 0;
};

class UnmapMonitor {
 public:
  /// Starts the thread and unmaps a page of its own to see whether it is told. Errors:
  /// unsupported, with the reason in words.
  static Result<std::unique_ptr<UnmapMonitor>> create();
  /// Nothing is watched any more. No change of watched memory waits for this for ever.
  ~UnmapMonitor();
  UnmapMonitor(const UnmapMonitor&) = delete;
  UnmapMonitor& operator=(const UnmapMonitor&) = delete;

  /// Changes of what is mapped at `range` now will be noted. Watching twice is the same as once.
  /// Errors: unsupported: memory of a kind that cannot be watched, or that another userfaultfd
  /// watches; nothing is watched then.
  Status watch(PageRange range);

  /// Changes will not be noted any more, or wait for us. A change that began before may be.
  void unwatch(PageRange range) noexcept;

  /// Whether all of `range` is memory of this process alone. Requires: its pages are present, as
  /// those are that a device has registered; what is absent counts as shared.
  [[nodiscard]] bool is_private(PageRange range) const noexcept;

  /// Whether everything that changed before this call will be in take(). False while some
  /// thread's change is under way.
  [[nodiscard]] bool is_quiet() const noexcept;

  /// What changed since the last call.
  [[nodiscard]] MappingChanges take() noexcept;

 private:
  UnmapMonitor(rma::detail::Descriptor events, rma::detail::Descriptor pages,
               rma::detail::Descriptor stop, ForkMark fork_mark) noexcept;
  Status start();
  Status probe();
  Status look_at_probe(PageRange page);
  void run() noexcept;
  void read_events() noexcept;

  // The thread closes it at its end: closing lets those go on who wait for their event.
  int events_;
  rma::detail::Descriptor pages_;
  rma::detail::Descriptor stop_;
  ForkMark fork_mark_;
  // Not std::thread, which could not be destroyed in a child: the thread isn't there.
  pthread_t thread_{};
  bool has_thread_ = false;
  std::atomic<bool> was_seen_changing_ = false;
  std::mutex mutex_;  // of changes_, and of reading
  MappingChanges changes_;
};

}  // namespace tessera::rma::verbs
