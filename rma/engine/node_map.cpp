// SPDX-License-Identifier: BSD-3-Clause
#include "rma/engine/node_map.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>

namespace tessera::rma::detail {

NodeMap::NodeMap(std::span<const std::uint64_t> keys, std::int64_t ranks_per_node) {
  struct Machine {
    NodeId current;
    std::int64_t ranks = 0;
  };
  std::unordered_map<std::uint64_t, Machine> machines;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto rank = static_cast<std::int32_t>(i);
    Machine& machine = machines[keys[i]];
    const bool full = ranks_per_node > 0 && machine.ranks % ranks_per_node == 0;
    if (machine.ranks == 0 || full) {
      machine.current = NodeId{count_++};
    }
    ++machine.ranks;
    if (!runs_.empty() && runs_.back().node == machine.current) {
      runs_.back().end = rank + 1;
    } else {
      runs_.push_back({rank, rank + 1, machine.current});
    }
  }
  runs_.shrink_to_fit();
  by_node_.resize(runs_.size());
  std::iota(by_node_.begin(), by_node_.end(), 0U);
  std::stable_sort(by_node_.begin(), by_node_.end(), [this](std::uint32_t a, std::uint32_t b) {
    return runs_[a].node < runs_[b].node;
  });
}

NodeId NodeMap::node_of(WorldRank rank) const noexcept {
  const auto behind =
      std::upper_bound(runs_.begin(), runs_.end(), rank.value,
                       [](std::int32_t value, const Run& run) { return value < run.first; });
  return std::prev(behind)->node;
}

// Points to the first of the node's runs.
std::vector<std::uint32_t>::const_iterator NodeMap::runs_of(NodeId node) const noexcept {
  return std::lower_bound(
      by_node_.begin(), by_node_.end(), node,
      [this](std::uint32_t run, NodeId wanted) { return runs_[run].node < wanted; });
}

WorldRank NodeMap::first_rank_of(NodeId node) const noexcept {
  return WorldRank{runs_[*runs_of(node)].first};
}

std::vector<WorldRank> NodeMap::ranks_of(NodeId node) const {
  std::vector<WorldRank> ranks;
  for (auto each = runs_of(node); each != by_node_.end() && runs_[*each].node == node; ++each) {
    for (std::int32_t rank = runs_[*each].first; rank < runs_[*each].end; ++rank) {
      ranks.push_back(WorldRank{rank});
    }
  }
  return ranks;
}

}  // namespace tessera::rma::detail
