// SPDX-License-Identifier: BSD-3-Clause
//
// Channel: a connected stream of bytes between two processes, that never waits.
//
// TCP is one (server/tcp.hpp), messages of an RDMA device another (engine/fabric.hpp). What a
// channel reports is what the two ends of every conversation build on: bytes come in order, all or
// up to a loss, and a loss is peer_lost for ever after.
//
// Threads: one thread at a time sends and one receives; the two may be different.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <span>
#include <string>

#include "rma/result.hpp"

namespace tessera::rma::detail {

class Channel {
 public:
  virtual ~Channel() = default;

  /// Takes as many bytes of `pieces` as there is room for; returns how many, 0 when there is none.
  /// Errors: peer_lost.
  virtual Result<std::size_t> send(std::span<const iovec> pieces) = 0;
  /// Stores as many bytes as have come; returns how many, 0 when none has.
  /// Errors: peer_lost (also when the peer closed its end).
  virtual Result<std::size_t> receive(std::span<const iovec> into) = 0;

  /// Asked every second or so: does the peer's machine still answer? A peer that is stopped and
  /// reads nothing does, however long. Errors: peer_lost.
  [[nodiscard]] virtual Status check() const = 0;

  /// What poll() waits for: readable when bytes have come, writable when there is room.
  [[nodiscard]] virtual int descriptor() const noexcept = 0;
  /// False where the descriptor is always writable, and the channel's fabric tells of room.
  [[nodiscard]] virtual bool shows_room() const noexcept { return true; }
  /// The descriptor was found readable: for channels whose bytes come by another way.
  /// Errors: peer_lost.
  virtual Status heed_descriptor() { return {}; }
  /// The system's error that ended it; 0: it has not ended, or the peer closed its end.
  [[nodiscard]] virtual int error() const noexcept { return 0; }
  /// The peer's address, for messages.
  [[nodiscard]] virtual std::string peer() const = 0;
};

}  // namespace tessera::rma::detail
