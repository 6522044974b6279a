// SPDX-License-Identifier: BSD-3-Clause
//
// Holding: what rma::Coalescing is for the connections to other nodes.
//
// Threads: all is of the thread that calls.
#pragma once

#include "rma/server/wire.hpp"

namespace tessera::rma::server {

class Link;

/// From the first begin() to the last end(), changes that this thread posts are kept, and go
/// together: at the last end(), or before it posts anything else, to whomever.
class Holding {
 public:
  static void begin() noexcept;
  static void end() noexcept;
  /// Sends what was kept so far. To be called before the thread waits for what isn't posted.
  static void send() noexcept;

  /// Whether the frame that this thread is about to post is to be kept; if not, what was is sent.
  [[nodiscard]] static bool takes(Link& link, const FrameHeader& header);
  [[nodiscard]] static bool is_any_kept() noexcept;
};

}  // namespace tessera::rma::server
