// SPDX-License-Identifier: BSD-3-Clause
//
// MemoryWatch: the peak memory of a rank during some work: its own pages, and its share of the
// shared memory of its node.
//
//     MemoryWatch watch;
//     work();
//     const MemoryUse most = watch.stop();
//
// It reads /proc every half millisecond, so it misses shorter peaks. A page of the node's shared
// memory counts once, even if several ranks map it: it uses the size of the file, not the mappings.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

namespace tessera::bench {

struct MemoryUse {
  std::int64_t own = 0;     ///< bytes that only this process has
  std::int64_t shared = 0;  ///< bytes of the node's shared memory
};

/// Local. The memory in use now. Zero if the system doesn't report it.
MemoryUse memory_in_use();

class MemoryWatch {
 public:
  MemoryWatch() : thread_([this] { look(); }) {}
  ~MemoryWatch() { stop(); }
  MemoryWatch(const MemoryWatch&) = delete;
  MemoryWatch& operator=(const MemoryWatch&) = delete;

  /// Ends the watch, and returns the maximum of each.
  MemoryUse stop();

 private:
  void look();

  MemoryUse max_;
  std::atomic<bool> is_over_{false};
  std::thread thread_;
};

}  // namespace tessera::bench
