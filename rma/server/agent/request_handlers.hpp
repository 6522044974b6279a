// SPDX-License-Identifier: BSD-3-Clause
//
// The handlers of requests: one entry of a table for each kind, and one for requests that are
// passed on to another node.
//
// Threads: those of the connection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "rma/base/result.hpp"
#include "rma/node/node.hpp"
#include "rma/server/agent/executor.hpp"
#include "rma/server/wire/wire.hpp"
#include "rma/transport/rdma.hpp"

namespace tessera::rma::server {

class RemoteLockServer;
class ServerConnection;
struct RequestHandler;
struct ServerConnectionOptions;

/// A request that is arriving or being executed.
struct Request {
  const RequestHandler* handler = nullptr;
  FrameHeader header;
  Status refusal;                        ///< why it is not executed
  Pattern pattern;                       ///< what it moves or accesses; of an accumulate: `terms`
  std::optional<AccumulateTerms> terms;  ///< of an accumulate
  AtomicTerms atomic;                    ///< of an atomic
  std::vector<AtomicList::Item> atomics = {};   ///< of a list of atomics; else empty
  detail::RdmaAddressBytes address{};           ///< of a request for a path: the peer's
  const std::byte* payload = nullptr;           ///< its payload, unless that is at its target
  bool is_stored = false;                       ///< its payload is at its target
  std::vector<std::byte> forwarded_descriptor;  ///< of a request that is passed on
  std::vector<std::byte> forwarded_payload;     ///< of a request that is passed on

  /// What it accesses of a slice.
  [[nodiscard]] const Pattern& accessed() const noexcept {
    return header.kind == Kind::accumulate ? terms->pattern : pattern;
  }
};

/// What handlers work with.
struct RequestContext {
  ServerConnection& connection;  ///< for replies
  detail::Node& node;
  RemoteLockServer& locks;
  const ServerConnectionOptions& options;
  Executor executor;
};

struct RequestHandler {
  bool has_descriptor = false;
  bool has_payload = false;  ///< it may; read() checks the size
  /// The offsets that ranks of this node exchange are trusted, and must not come from outside. From
  /// the agent they need only access to its device.
  bool is_for_own_node = false;
  /// It gets a reply only if it asks for one, or fails.
  bool is_silent = false;
  /// Decodes the descriptor and checks the sizes. An error ends the connection. Null: the kind
  /// has no sizes of its own.
  Status (*read)(const RequestContext& context, Request& request,
                 std::span<const std::byte> descriptor) = nullptr;
  /// Executes the request, and replies to it unless it is silent. An error is sent as the reply.
  Status (*execute)(RequestContext& context, Request& request) = nullptr;
};

/// The handler of a kind.
[[nodiscard]] const RequestHandler& handler_of(Kind kind) noexcept;
/// The handler of requests that this agent passes on.
[[nodiscard]] const RequestHandler& forwarding_handler() noexcept;

}  // namespace tessera::rma::server
