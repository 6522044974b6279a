// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <metis.h>

#include <algorithm>
#include <limits>

#include "apps/spmv/partition.hpp"

namespace tessera::apps::spmv {

bool has_metis() noexcept {
  return true;
}

rma::Result<std::vector<std::int32_t>> partition_by_metis(const Graph& graph, std::int32_t parts) {
  if (std::ssize(graph.neighbours) > std::numeric_limits<idx_t>::max()) {
    return rma::Status::error(rma::Code::limit_exceeded,
                              fmt::format("METIS was built with {}-bit integers, too short for the "
                                          "graph's {} edges",
                                          8 * sizeof(idx_t), graph.neighbours.size()))
        .hint("use a METIS with 64-bit integers, or another partition");
  }
  std::vector<idx_t> starts(graph.starts.begin(), graph.starts.end());
  std::vector<idx_t> neighbours(graph.neighbours.begin(), graph.neighbours.end());
  std::vector<idx_t> weights(graph.weights.begin(), graph.weights.end());
  std::vector<idx_t> part_of_vertex(graph.weights.size());
  auto vertices = static_cast<idx_t>(weights.size());
  // METIS prints to standard output if there are more parts than vertices.
  idx_t part_count = std::min<idx_t>(parts, vertices);
  if (part_count > 1) {
    idx_t constraints = 1;
    idx_t cut = 0;
    std::vector<idx_t> options(METIS_NOPTIONS);
    METIS_SetDefaultOptions(options.data());
    options[METIS_OPTION_SEED] = 1;
    const int code = METIS_PartGraphKway(&vertices, &constraints, starts.data(), neighbours.data(),
                                         weights.data(), nullptr, nullptr, &part_count, nullptr,
                                         nullptr, options.data(), &cut, part_of_vertex.data());
    if (code != METIS_OK) {
      return rma::Status::error(rma::Code::internal,
                                fmt::format("METIS failed with error code {}", code));
    }
  }
  return std::vector<std::int32_t>(part_of_vertex.begin(), part_of_vertex.end());
}

}  // namespace tessera::apps::spmv
