// SPDX-License-Identifier: BSD-3-Clause
//
// Farewells: what a node remembers of nodes that have left in good order, and of what had become of
// their ranks by then.
//
// An agent ends when the ranks of its node are gone, and nobody can ask it any more. Before that
// the node's first rank delivers a farewell to every other node and waits until all have it, so
// that at any time either the agent answers, or each node knows. Nobody listening there, and no
// farewell: then it died.
//
//     one 64-bit word a node: 1 if it has left     one byte a rank, in the order of nodes: its Fate
//
// Both lie in node memory that every node publishes under the same number, `farewell_memory`; a
// farewell is one delivery into it.
//
// Who leaves tells all others itself, a few at a time, over links that it closes again where it had
// none: nobody has to pass anything on, and nobody needs descriptors for nodes that it never talked
// to (decision 12).
//
// Threads: all functions may be called from any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "rma/engine/node_link.hpp"
#include "rma/engine/node_map.hpp"
#include "rma/node/node.hpp"
#include "rma/region_id.hpp"
#include "rma/result.hpp"
#include "rma/server/client.hpp"

namespace tessera::rma::server {

/// No region and no team ever has this number.
inline constexpr RegionId farewell_memory{0xffff'ffff};

class Farewells {
 public:
  /// By the node's first rank, before any other node may say good-bye. Errors: no_memory,
  /// limit_exceeded.
  static Status publish(detail::Node& node, const detail::NodeMap& nodes);
  /// Requires: the node's first rank has published it. `nodes` outlives the object.
  static Result<std::shared_ptr<Farewells>> find(std::shared_ptr<detail::Node> node,
                                                 const detail::NodeMap& nodes);

  [[nodiscard]] bool has_left(NodeId node) const noexcept;
  /// What had become of a rank when its node left; nothing while that is there.
  [[nodiscard]] std::optional<detail::Fate> fate_of(WorldRank rank) const;

  /// Waits until the other ranks of this node are gone, and says good-bye for all of them to every
  /// node that is still there. Those that don't answer within `patience` will think that it died.
  void say(Client& client, std::chrono::milliseconds patience) const;

 private:
  Farewells(std::shared_ptr<detail::Node> node, const detail::NodeMap& nodes, std::byte* memory);
  struct Told;
  void tell(Client& client, NodeId node, const std::vector<std::byte>& fates,
            std::chrono::milliseconds patience, std::deque<Told>& told) const;
  static void finish(Told& told);
  void wait_for_ranks_of_node() const;
  [[nodiscard]] NodeId own_node() const { return nodes_.node_of(node_->ranks().front()); }
  [[nodiscard]] std::vector<std::byte> fates_here() const;

  std::shared_ptr<detail::Node> node_;
  const detail::NodeMap& nodes_;
  std::byte* memory_;
  std::vector<std::size_t> first_fate_;  // by node: where the bytes of its ranks begin
};

}  // namespace tessera::rma::server
