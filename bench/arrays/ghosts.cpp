// SPDX-License-Identifier: BSD-3-Clause
#include "bench/arrays/ghosts.hpp"

#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "arrays/array.hpp"
#include "arrays/halo.hpp"
#include "bench/floors/mpi_collectives.hpp"

namespace tessera::bench {
namespace {

using arrays::Array;
using arrays::Box;
using arrays::Index;

/// This rank's block, and who has the blocks beside it.
GhostBlock block_of(const Array<double>& array) {
  GhostBlock block;
  const Box own = array.own_box();
  for (int dim = 0; dim < 3; ++dim) {
    const auto at = static_cast<std::size_t>(dim);
    block.points[at] = own.hi(dim) - own.lo(dim);
    const std::int64_t extent = array.extents()[dim];
    Index below = own.lo();
    Index above = own.lo();
    below[dim] = (own.lo(dim) + extent - 1) % extent;
    above[dim] = own.hi(dim) % extent;
    block.neighbours[at] = {array.team().world_rank(array.owner(below)).value,
                            array.team().world_rank(array.owner(above)).value};
  }
  return block;
}

void measure(Session& session, std::optional<Table>& table, std::int64_t edge) {
  auto array = Array<double>::create(session.job(), {edge, edge, edge},
                                     {.name = "ghosts", .ghosts = {1, 1, 1}})
                   .value();
  auto halo = arrays::Halo::create(array, {.periodic = arrays::PeriodicDims().set()}).value();
  const GhostBlock block = block_of(array);
  std::vector<double> messages(static_cast<std::size_t>(
      (block.points[0] + 2) * (block.points[1] + 2) * (block.points[2] + 2)));
  std::vector<Candidate> candidates;
  if (auto mpi = mpi_ghost_candidate(session.crew(), block, messages.data())) {
    candidates.push_back(std::move(*mpi));
  }
  Candidate own;
  own.name = "tessera";
  own.cooperative = true;
  own.run = [&halo](std::int64_t repetitions) {
    for (std::int64_t i = 0; i < repetitions; ++i) {
      rma::require(halo.update());
    }
  };
  candidates.push_back(std::move(own));
  if (!table) {
    table.emplace(
        session.table("Ghost Update Latency", candidates.size() - 1, Quantity::latency, "Edge"));
  }
  session.measure(*table,
                  {"rma", "ghosts", fmt::format("{0} x {0} x {0}", edge),
                   static_cast<std::int64_t>(halo.bytes_from_others())},
                  edge, candidates, together(session.options().measure_options()));
}

}  // namespace

void measure_ghosts(Session& session) {
  std::optional<Table> table;
  for (const std::int64_t edge : {16, 64, 128, 256}) {
    measure(session, table, edge);
  }
}

}  // namespace tessera::bench
