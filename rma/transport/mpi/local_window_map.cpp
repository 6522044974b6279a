// SPDX-License-Identifier: BSD-3-Clause
#include "rma/transport/mpi/local_window_map.hpp"

#include <cstring>
#include <iterator>
#include <mutex>

namespace tessera::rma::mpi {

void LocalWindowMap::add(const std::byte* start, std::size_t bytes, const Window& window,
                         int own_rank) {
  if (bytes > 0) {
    const std::lock_guard guard(mutex_);
    parts_[start] = {bytes, &window, own_rank};
  }
}

void LocalWindowMap::remove(const std::byte* start) noexcept {
  const std::lock_guard guard(mutex_);
  parts_.erase(start);
}

// The first part that ends after `start`. Requires: the mutex is locked.
LocalWindowMap::Parts::const_iterator LocalWindowMap::first_after(
    const std::byte* start) const noexcept {
  auto next = parts_.upper_bound(start);
  if (next != parts_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second.bytes > start) {
      return before;
    }
  }
  return next;
}

bool LocalWindowMap::overlaps(const std::byte* start, std::size_t bytes) const noexcept {
  const std::shared_lock guard(mutex_);
  const auto part = first_after(start);
  return part != parts_.end() && part->first < start + bytes;
}

Status LocalWindowMap::copy(std::byte* to, const std::byte* from, std::size_t bytes,
                            const std::byte* shared) const {
  const std::shared_lock guard(mutex_);
  const auto part = first_after(shared);
  if (part == parts_.end() || part->first >= shared + bytes) {
    std::memcpy(to, from, bytes);
    return {};
  }
  const Window& window = *part->second.window;
  const auto mpi_guard = window.world().lock_calls();
  TESSERA_RETURN_IF_ERROR(window.lock(MPI_LOCK_EXCLUSIVE, part->second.own_rank));
  std::memcpy(to, from, bytes);
  return window.unlock(part->second.own_rank);
}

}  // namespace tessera::rma::mpi
