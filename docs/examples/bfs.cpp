// SPDX-License-Identifier: BSD-3-Clause
// Breadth-first search: ranks claim vertices by compare_swap. The graph needs no memory: a formula
// gives the neighbours. python/bfs.py is the same program.
//     build/bin/tessera-run -n 4 build/docs/examples/bfs
#include <array>
#include <cstdint>
#include <cstdio>
#include <vector>

#include <tessera/arrays/array.hpp>
#include <tessera/arrays/elementwise.hpp>
#include <tessera/arrays/transform.hpp>

using namespace tessera::arrays;
using tessera::rma::Reduction;
using tessera::rma::require;

constexpr std::int64_t vertices = 5000;

std::array<std::int64_t, 3> neighbours(std::int64_t vertex) {
  return {(vertex * 7 + 1) % vertices, (vertex * 13 + 5) % vertices,
          (vertex * vertex + 3) % vertices};
}

int main() {
  auto job = tessera::rma::Job::start().value();
  auto level = Array<std::int64_t>::create(job, {vertices}, {.name = "level"}).value();
  require(fill(level, -1));
  std::vector<std::int64_t> frontier;
  if (job.rank().value == 0) {
    require(level.put_element({0}, 0));
    frontier.push_back(0);
  }
  require(level.sync());

  std::int64_t depth = 0, reached = 1, found = 1;
  while (found > 0) {
    if (job.rank().value == 0) {
      std::printf("level %lld: %lld\n", static_cast<long long>(depth),
                  static_cast<long long>(found));
    }
    ++depth;
    std::vector<std::int64_t> next;
    for (const std::int64_t vertex : frontier) {
      for (const std::int64_t neighbour : neighbours(vertex)) {
        if (level.compare_swap({neighbour}, -1, depth).value() == -1) {
          next.push_back(neighbour);  // this rank was the first
        }
      }
    }
    frontier = std::move(next);
    require(level.sync());
    found =
        job.world().allreduce(static_cast<std::int64_t>(frontier.size()), Reduction::sum).value();
    reached += found;
  }
  const auto seen = reduce(
      std::int64_t{0}, Reduction::sum,
      [](std::int64_t count, std::int64_t at) { return count + (at >= 0 ? 1 : 0); }, level);
  if (job.rank().value == 0) {
    std::printf("reached: %lld of %lld\n", static_cast<long long>(reached),
                static_cast<long long>(vertices));
  }
  return seen.value() == reached ? 0 : 1;
}
