// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

// scotch.h needs these declarations.
#include <cstdint>
#include <cstdio>

#include <scotch.h>

#include <limits>
#include <memory>

#include "apps/spmv/partition.hpp"

namespace tessera::apps::spmv {
namespace {

rma::Status failed(std::string_view call) {
  return rma::Status::error(rma::Code::internal, fmt::format("Scotch failed in {}", call));
}

}  // namespace

bool has_scotch() noexcept {
  return true;
}

rma::Result<std::vector<std::int32_t>> partition_by_scotch(const Graph& graph, std::int32_t parts) {
  if (std::ssize(graph.neighbours) > std::numeric_limits<SCOTCH_Num>::max()) {
    return rma::Status::error(rma::Code::limit_exceeded,
                              fmt::format("Scotch was built with {}-bit integers, too short for "
                                          "the graph's {} edges",
                                          8 * sizeof(SCOTCH_Num), graph.neighbours.size()))
        .hint("use a Scotch with 64-bit integers, or another partition");
  }
  const std::vector<SCOTCH_Num> starts(graph.starts.begin(), graph.starts.end());
  const std::vector<SCOTCH_Num> neighbours(graph.neighbours.begin(), graph.neighbours.end());
  const std::vector<SCOTCH_Num> weights(graph.weights.begin(), graph.weights.end());
  std::vector<SCOTCH_Num> part_of_vertex(graph.weights.size());
  SCOTCH_Graph scotch_graph;
  SCOTCH_Strat strategy;
  if (SCOTCH_graphInit(&scotch_graph) != 0) {
    return failed("SCOTCH_graphInit");
  }
  const std::unique_ptr<SCOTCH_Graph, void (*)(SCOTCH_Graph*)> graph_end(&scotch_graph,
                                                                         SCOTCH_graphExit);
  if (SCOTCH_stratInit(&strategy) != 0) {
    return failed("SCOTCH_stratInit");
  }
  const std::unique_ptr<SCOTCH_Strat, void (*)(SCOTCH_Strat*)> strategy_end(&strategy,
                                                                            SCOTCH_stratExit);
  SCOTCH_randomReset();
  if (SCOTCH_graphBuild(&scotch_graph, 0, static_cast<SCOTCH_Num>(weights.size()), starts.data(),
                        nullptr, weights.data(), nullptr,
                        static_cast<SCOTCH_Num>(neighbours.size()), neighbours.data(),
                        nullptr) != 0) {
    return failed("SCOTCH_graphBuild");
  }
  if (SCOTCH_graphPart(&scotch_graph, parts, &strategy, part_of_vertex.data()) != 0) {
    return failed("SCOTCH_graphPart");
  }
  return std::vector<std::int32_t>(part_of_vertex.begin(), part_of_vertex.end());
}

}  // namespace tessera::apps::spmv
