// SPDX-License-Identifier: BSD-3-Clause
//
// JobIdentity: which rank this is, with which settings, and where the job's ranks run.
//
// Invariant: constant after construction, except the log. Threads: any.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "rma/base/log.hpp"
#include "rma/base/processors.hpp"
#include "rma/base/rank.hpp"
#include "rma/bootstrap.hpp"
#include "rma/engine/node_map.hpp"
#include "rma/tuning.hpp"

namespace tessera::rma::detail {

/// Where the job's ranks run, besides the map of nodes.
struct JobLayout {
  int machines = 1;  ///< number of machines; fewer than nodes if nodes are emulated
  /// The ranks that are in another PID namespace than the first rank of their node, ascending.
  std::vector<WorldRank> other_pid_namespace = {};
  NodeProcessors processors = {};
  AgentProcessors agent_processors = {};
};

class JobIdentity {
 public:
  JobIdentity(Settings settings, std::shared_ptr<Bootstrap> bootstrap, NodeMap nodes,
              JobLayout layout)
      : settings_(std::move(settings)),
        bootstrap_(std::move(bootstrap)),
        rank_(bootstrap_->rank()),
        size_(bootstrap_->size()),
        log_(LogLevel::warning, rank_),
        nodes_(std::move(nodes)),
        layout_(std::move(layout)) {}

  [[nodiscard]] const Settings& settings() const noexcept { return settings_; }
  [[nodiscard]] Bootstrap& bootstrap() const noexcept { return *bootstrap_; }
  [[nodiscard]] WorldRank rank() const noexcept { return rank_; }
  [[nodiscard]] std::int32_t size() const noexcept { return size_; }
  [[nodiscard]] Log& log() const noexcept { return log_; }
  [[nodiscard]] const NodeMap& nodes() const noexcept { return nodes_; }
  [[nodiscard]] const JobLayout& layout() const noexcept { return layout_; }

 private:
  Settings settings_;
  std::shared_ptr<Bootstrap> bootstrap_;
  WorldRank rank_;
  std::int32_t size_;
  mutable Log log_;
  NodeMap nodes_;
  JobLayout layout_;
};

}  // namespace tessera::rma::detail
