// SPDX-License-Identifier: BSD-3-Clause
//
// CoalescedMessages: implements rma::CoalescingScope for the connections to other nodes.
//
// Threads: all state belongs to the calling thread.
#pragma once

#include "rma/server/wire/wire.hpp"

namespace tessera::rma::server {

class ClientConnection;

/// From the first begin() to the last end(), the changes that this thread posts are kept. They are
/// sent together at the last end(), or before the thread posts anything else to any node.
class CoalescedMessages {
 public:
  static void begin() noexcept;
  static void end() noexcept;
  /// Sends what was kept so far. To be called before the thread waits for something that is not a
  /// post.
  static void send() noexcept;

  /// Whether the frame that this thread is about to post is to be kept. If not, everything kept is
  /// sent first.
  [[nodiscard]] static bool takes(ClientConnection& link, const FrameHeader& header);
  [[nodiscard]] static bool is_any_kept() noexcept;
};

}  // namespace tessera::rma::server
