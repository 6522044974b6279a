// SPDX-License-Identifier: BSD-3-Clause
#include "rma/server/holding.hpp"

#include <algorithm>
#include <new>
#include <vector>

#include "rma/server/link.hpp"

namespace tessera::rma::server {
namespace {

struct Held {
  int depth = 0;             // begin() without end()
  std::vector<Link*> links;  // that have kept anything
};
thread_local Held held;

}  // namespace

void Holding::begin() noexcept {
  ++held.depth;
}

void Holding::end() noexcept {
  if (--held.depth == 0) {
    send();
  }
}

// In the order in which the thread came to them: callers choose it, so that not all write to one
// node at a time.
void Holding::send() noexcept {
  for (Link* const link : held.links) {
    link->send_held();
  }
  held.links.clear();
}

// What others wait for, or this thread, is not kept: it goes behind what was.
bool Holding::takes(Link& link, const FrameHeader& header) {
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

bool Holding::is_any_kept() noexcept {
  return !held.links.empty();
}

}  // namespace tessera::rma::server
