// SPDX-License-Identifier: BSD-3-Clause
#include "rma/server/client/coalesced_messages.hpp"

#include <algorithm>
#include <new>
#include <vector>

#include "rma/server/client/client_connection.hpp"

namespace tessera::rma::server {
namespace {

struct HeldConnections {
  int depth = 0;                         // begin() calls without their end()
  std::vector<ClientConnection*> links;  // links that have kept frames
};
thread_local HeldConnections held;

}  // namespace

void CoalescedMessages::begin() noexcept {
  ++held.depth;
}

void CoalescedMessages::end() noexcept {
  if (--held.depth == 0) {
    send();
  }
}

// Sends in the order in which the thread first used the links. Callers choose that order so that
// not all ranks write to one node at a time.
void CoalescedMessages::send() noexcept {
  for (ClientConnection* const link : held.links) {
    link->send_held();
  }
  held.links.clear();
}

// A request that this thread or another waits for is not kept; it is sent after the kept frames.
bool CoalescedMessages::takes(ClientConnection& link, const FrameHeader& header) {
  if (held.depth == 0) {
    return false;
  }
  if (!is_change(header.kind) || (header.flags & flags::wants_answer) != 0) {
    send();
    return false;
  }
  if (std::find(held.links.begin(), held.links.end(), &link) != held.links.end()) {
    return true;
  }
  try {
    held.links.push_back(&link);
    return true;
  } catch (const std::bad_alloc&) {
    send();
    return false;
  }
}

bool CoalescedMessages::is_any_kept() noexcept {
  return !held.links.empty();
}

}  // namespace tessera::rma::server
