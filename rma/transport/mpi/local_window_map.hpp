// SPDX-License-Identifier: BSD-3-Clause
//
// LocalWindowMap: memory of this process in windows that are locked for each operation. It may be a
// local buffer only while this rank's own part of the window is locked ([ARMCIMPI12] §V.E).
//
// Threads: all functions may be called from any thread.
#pragma once

#include <cstddef>
#include <map>
#include <shared_mutex>

#include "rma/base/result.hpp"
#include "rma/transport/mpi/window.hpp"

namespace tessera::rma::mpi {

class LocalWindowMap {
 public:
  void add(const std::byte* start, std::size_t bytes, const Window& window, int own_rank);
  void remove(const std::byte* start) noexcept;

  /// Whether any of these bytes lie in a window.
  [[nodiscard]] bool overlaps(const std::byte* start, std::size_t bytes) const noexcept;

  /// Copies. If `shared`, which is one of the two sides, lies in a window, this rank's part of that
  /// window is locked meanwhile. Requires: the caller has locked no part of another window.
  Status copy(std::byte* to, const std::byte* from, std::size_t bytes,
              const std::byte* shared) const;

 private:
  struct Part {
    std::size_t bytes;
    const Window* window;
    int own_rank;
  };
  using Parts = std::map<const std::byte*, Part>;
  [[nodiscard]] Parts::const_iterator first_after(const std::byte* start) const noexcept;

  mutable std::shared_mutex mutex_;
  Parts parts_;  ///< by start, without overlap
};

}  // namespace tessera::rma::mpi
