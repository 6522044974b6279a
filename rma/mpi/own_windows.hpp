// SPDX-License-Identifier: BSD-3-Clause
//
// OwnWindows: the memory of this process that lies in windows by epochs, and may be a local buffer
// only while its own part is locked ([ARMCIMPI12] §V.E).
//
// Threads: all functions may be called from any thread.
#pragma once

#include <cstddef>
#include <map>
#include <shared_mutex>

#include "rma/mpi/window.hpp"
#include "rma/result.hpp"

namespace tessera::rma::mpi {

class OwnWindows {
 public:
  void add(const std::byte* start, std::size_t bytes, const Window& window, int own_rank);
  void remove(const std::byte* start) noexcept;

  /// Whether some of these bytes lie in a window.
  [[nodiscard]] bool meets(const std::byte* start, std::size_t bytes) const noexcept;

  /// Copies, with the own part of the window locked in which `shared` lies, if it lies in one.
  /// `shared` is one of the two sides. Requires: no part of another window is locked by the caller.
  Status copy(std::byte* to, const std::byte* from, std::size_t bytes,
              const std::byte* shared) const;

 private:
  struct Part {
    std::size_t bytes;
    const Window* window;
    int own_rank;
  };
  using Parts = std::map<const std::byte*, Part>;
  [[nodiscard]] Parts::const_iterator first_behind(const std::byte* start) const noexcept;

  mutable std::shared_mutex mutex_;
  Parts parts_;  ///< by start; none overlap
};

}  // namespace tessera::rma::mpi
