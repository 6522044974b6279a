// SPDX-License-Identifier: BSD-3-Clause
//
// ReplyConnections: the connections of an agent's thread that carry replies to processes whose
// requests came by another agent.
//
// Threads: one at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "rma/base/rank.hpp"

namespace tessera::rma::server {

class ServerConnection;

class ReplyConnections {
 public:
  /// `connection` carries the replies to `origin` from now on.
  void add(WorldRank origin, ServerConnection& connection) { of_[origin.value] = &connection; }
  /// The connection has ended.
  void remove(WorldRank origin, const ServerConnection& connection) {
    const auto found = of_.find(origin.value);
    if (found != of_.end() && found->second == &connection) {
      of_.erase(found);
    }
    std::erase(written_, &connection);
  }
  /// The connection for `origin`, which is then counted as written to; null if there is none.
  [[nodiscard]] ServerConnection* write_to(WorldRank origin) {
    const auto found = of_.find(origin.value);
    if (found == of_.end()) {
      return nullptr;
    }
    record_unflushed(*found->second);
    return found->second;
  }
  /// Something was written to that connection.
  void record_unflushed(ServerConnection& connection) {
    if (std::find(written_.begin(), written_.end(), &connection) == written_.end()) {
      written_.push_back(&connection);
    }
  }
  /// The connections that were written to since the last call: they have to be flushed.
  [[nodiscard]] std::vector<ServerConnection*> take_unflushed() {
    return std::exchange(written_, {});
  }
  [[nodiscard]] bool has_unflushed() const noexcept { return !written_.empty(); }

 private:
  std::unordered_map<std::int32_t, ServerConnection*> of_;
  std::vector<ServerConnection*> written_;
};

}  // namespace tessera::rma::server
