// SPDX-License-Identifier: BSD-3-Clause
//
// MemoryWatch: the most memory that a rank had while something ran: its own pages, and its share of
// what the ranks of its node have together.
//
//     MemoryWatch watch;
//     work();
//     const MemoryUse most = watch.stop();
//
// It looks at /proc every half millisecond, so what lives shorter is not seen. A page of the node's
// that several ranks look at counts once: by the size of the file behind it, not by who maps it.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

namespace tessera::bench {

struct MemoryUse {
  std::int64_t own = 0;     ///< bytes that only this process has
  std::int64_t shared = 0;  ///< bytes of the node's shared memory
};

/// Local. As it is now. Zero where the system doesn't tell.
MemoryUse memory_in_use();

class MemoryWatch {
 public:
  MemoryWatch() : thread_([this] { look(); }) {}
  ~MemoryWatch() { stop(); }
  MemoryWatch(const MemoryWatch&) = delete;
  MemoryWatch& operator=(const MemoryWatch&) = delete;

  /// Ends the watch, and returns the most of each.
  MemoryUse stop();

 private:
  void look();

  MemoryUse most_;
  std::atomic<bool> is_over_{false};
  std::thread thread_;
};

}  // namespace tessera::bench
