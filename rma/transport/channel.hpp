// SPDX-License-Identifier: BSD-3-Clause
//
// Channel: a connected stream of bytes between two processes. Its functions never block.
//
// TCP is one (rma/transport/tcp/tcp.hpp), messages of an RDMA device are another (rdma.hpp).
// Both ends of each connection rely on this: bytes arrive in order, either all or up to a loss;
// after a loss every call returns peer_lost.
//
// Threads: one thread at a time sends and one receives; the two may be different.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <span>
#include <string>

#include "rma/base/result.hpp"

namespace tessera::rma::detail {

class Channel {
 public:
  virtual ~Channel() = default;

  /// Sends as many bytes of `pieces` as there is room for. Returns how many; 0 if there is no room.
  /// Errors: peer_lost.
  virtual Result<std::size_t> send(std::span<const iovec> pieces) = 0;
  /// Stores as many bytes as have arrived. Returns how many; 0 if none has.
  /// Errors: peer_lost (also if the peer closed its end).
  virtual Result<std::size_t> receive(std::span<const iovec> into) = 0;

  /// To be called every second or so: checks that the peer's machine still answers. A peer that is
  /// stopped and reads nothing passes, for any time. Errors: peer_lost.
  [[nodiscard]] virtual Status check() const = 0;

  /// For poll(): readable if bytes have arrived, writable if there is room.
  [[nodiscard]] virtual int descriptor() const noexcept = 0;
  /// False if the descriptor is always writable, and the channel's RdmaContext reports room
  /// instead.
  [[nodiscard]] virtual bool shows_room() const noexcept { return true; }
  /// Called when the descriptor was found readable, for channels whose bytes arrive another way.
  /// Errors: peer_lost.
  virtual Status on_readable() { return {}; }
  /// The system error that ended it; 0: it has not ended, or the peer closed its end.
  [[nodiscard]] virtual int error() const noexcept { return 0; }
  /// The peer's address, for messages.
  [[nodiscard]] virtual std::string peer() const = 0;
};

}  // namespace tessera::rma::detail
