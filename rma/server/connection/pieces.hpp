// SPDX-License-Identifier: BSD-3-Clause
//
// Lists of pieces of memory that are sent or received as one.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <span>

namespace tessera::rma::server {

[[nodiscard]] inline std::size_t total_bytes(std::span<const iovec> pieces) noexcept {
  std::size_t bytes = 0;
  for (const iovec& piece : pieces) {
    bytes += piece.iov_len;
  }
  return bytes;
}

/// Removes `bytes` from the front of `pieces`; returns how many pieces are consumed. Empty pieces
/// after them are consumed, too.
inline std::size_t drop_front(std::span<iovec> pieces, std::size_t bytes) noexcept {
  std::size_t used = 0;
  while (used < pieces.size() && bytes >= pieces[used].iov_len) {
    bytes -= pieces[used].iov_len;
    ++used;
  }
  if (bytes > 0) {
    pieces[used].iov_base = static_cast<std::byte*>(pieces[used].iov_base) + bytes;
    pieces[used].iov_len -= bytes;
  }
  return used;
}

}  // namespace tessera::rma::server
