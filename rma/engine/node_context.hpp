// SPDX-License-Identifier: BSD-3-Clause
//
// NodeContext: what the library's own transports know of the nodes, besides TransportContext. It
// belongs to one rank, and is constant.
#pragma once

#include <memory>
#include <optional>

#include "rma/base/processors.hpp"
#include "rma/engine/node_map.hpp"
#include "rma/engine/stripes.hpp"
#include "rma/node/node.hpp"
#include "rma/transport/transport.hpp"

namespace tessera::rma::detail {

struct NodeContext {
  std::shared_ptr<Node> node;             ///< this rank's
  StripeLocks* stripes = nullptr;         ///< that node's accumulate locks; of the job
  const NodeMap* map = nullptr;           ///< of the whole job, which owns it
  int machines = 1;                       ///< that the job's ranks are on
  AgentProcessors agent_processors = {};  ///< whether this node's agent has some of its own
  /// The job's communicator, as MPI_Comm_c2f gives it; none unless MPI started the job.
  std::optional<int> communicator = std::nullopt;
};

/// Of a transport that a job creates. Requires: the context is of a job.
[[nodiscard]] inline const NodeContext& nodes_of(const TransportContext& context) noexcept {
  return *context.nodes;
}

}  // namespace tessera::rma::detail
