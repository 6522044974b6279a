// SPDX-License-Identifier: BSD-3-Clause
//
// Suite "layouts": matrices that are redistributed and transposed, compared with ScaLAPACK's
// pdgemr2d and pdtran and with a copy of the same number of bytes in each rank's own memory.
#include "bench/parts.hpp"

#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "arrays/array.hpp"
#include "arrays/elementwise.hpp"
#include "bench/linalg/scalapack.hpp"
#include "linalg/permute.hpp"

namespace tessera::bench {
namespace {

using arrays::Array;
using arrays::Distribution;
using arrays::Extents;

constexpr std::int64_t block_edge = 64;

/// Two matrices; the operation makes the second one the first one or its transpose.
struct Pair {
  Array<double> from;
  Array<double> to;
  bool transposes = false;

  Pair(rma::Job& job, const Distribution& before, const Distribution& after, bool is_transposed)
      : from(Array<double>::create(job, before, {.name = "from"}).value()),
        to(Array<double>::create(job, after, {.name = "to"}).value()),
        transposes(is_transposed) {
    for_each_own_box(from, [this](const arrays::Box& box, std::vector<double>& values) {
      number_elements(box, values, false);
      rma::require(from.put(box, values));
    });
    rma::require(from.sync());
  }

  void move() { rma::require(transposes ? linalg::transpose(from, to) : copy(from, to)); }

  /// Collective. Checks this rank's elements after one operation.
  std::string verify() {
    rma::require(arrays::fill(to, -1.0));
    move();
    std::string wrong;
    for_each_own_box(to, [&](const arrays::Box& box, std::vector<double>& values) {
      std::vector<double> wanted(values.size());
      number_elements(box, wanted, transposes);
      rma::require(to.get(box, values));
      if (values != wanted) {
        wrong = fmt::format("elements of {} are wrong", to_string(box));
      }
    });
    rma::require(to.sync());
    return wrong;
  }

 private:
  template <class Action>
  static void for_each_own_box(Array<double>& array, Action action) {
    std::vector<double> values;
    for (const arrays::Patch& own : array.distribution().blocks(array.team().rank())) {
      values.resize(static_cast<std::size_t>(own.box.volume()));
      action(own.box, values);
    }
  }

  /// Each element is its number in the original matrix.
  void number_elements(const arrays::Box& box, std::vector<double>& values, bool transposed) const {
    const std::int64_t n = from.extents()[0];
    std::size_t place = 0;
    for (std::int64_t i = box.lo(0); i < box.hi(0); ++i) {
      for (std::int64_t j = box.lo(1); j < box.hi(1); ++j) {
        values[place++] = static_cast<double>(transposed ? j * n + i : i * n + j);
      }
    }
  }
};

/// Each rank copies the bytes of its share, in its own memory.
Candidate local_copies(std::int64_t n, std::int64_t ranks) {
  const auto share = static_cast<std::size_t>((n * n + ranks - 1) / ranks);
  const auto from = std::make_shared<std::vector<double>>(share, 1.5);
  const auto to = std::make_shared<std::vector<double>>(share);
  return by_all("memcpy at once", [from, to] {
    std::memcpy(to->data(), from->data(), from->size() * sizeof(double));
  });
}

Candidate own_movement(Session& session, const Distribution& before, const Distribution& after,
                       bool transposes) {
  const auto pair = std::make_shared<Pair>(session.job(), before, after, transposes);
  Candidate candidate = by_all("tessera", [pair] { pair->move(); });
  candidate.verify = [pair] { return pair->verify(); };
  return candidate;
}

/// An operation, and ScaLAPACK's name for it.
struct Movement {
  std::string title;
  std::string op;
  std::function<Candidate(Session&, std::int64_t n)> own;
  std::function<std::optional<Candidate>(RankGroup&, std::int64_t n, const Extents& grid)> library;
};

/// Collective. Checks for two matrices of Tessera's, of the baseline and of ScaLAPACK, and for the
/// data of the check.
void check_memory(Session& session, const std::string& part, std::int64_t n) {
  const double matrices = session.compares_with(Peer::scalapack) ? 8 : 6;
  const auto edge = static_cast<double>(n);
  require_memory(session,
                 {.bytes_per_rank = matrices * edge * edge * sizeof(double) / session.job().size(),
                  .what = fmt::format("{} of {} x {} matrices", part, n, n),
                  .hint = "choose smaller matrices with --edges"});
}

void measure(Session& session, const Movement& movement) {
  const std::int64_t ranks = session.job().size();
  Topic topic{"layouts", movement.op, movement.title + " Bandwidth", Quantity::bandwidth, "Edge"};
  for (const std::int64_t n : session.options().gemm_edges) {
    check_memory(session, movement.op, n);
    std::vector<Candidate> candidates = {local_copies(n, ranks)};
    if (session.compares_with(Peer::scalapack)) {
      add(candidates, movement.library(session.group(), n, square_grid(ranks)));
    }
    candidates.push_back(movement.own(session, n));
    for (Candidate& each : candidates) {
      each.bytes = static_cast<std::size_t>(n * n) * sizeof(double);
    }
    session.measure(topic, {n, fmt::format("{0} x {0}", n), n * n * std::int64_t{sizeof(double)}},
                    candidates);
  }
}

Distribution in_one_block(std::int64_t n, std::int64_t ranks) {
  return Distribution::regular({n, n}, ranks).value();
}

/// One block row and column per rank, as ScaLAPACK does it, so that both move the same data.
Distribution cyclic(std::int64_t n, std::int64_t ranks) {
  return Distribution::scalapack({n, n}, {block_edge, block_edge}, square_grid(ranks), ranks)
      .value();
}

/// The same for ScaLAPACK.
ScalapackProblem in_one_block(std::int64_t n, const Extents& grid) {
  return {n, (n + grid[0] - 1) / grid[0], grid[0], grid[1], (n + grid[1] - 1) / grid[1]};
}
ScalapackProblem cyclic(std::int64_t n, const Extents& grid) {
  return {n, block_edge, grid[0], grid[1]};
}

}  // namespace

Extents square_grid(std::int64_t ranks) {
  auto rows = static_cast<std::int64_t>(std::sqrt(static_cast<double>(ranks)));
  while (ranks % rows != 0) {
    --rows;
  }
  return {rows, ranks / rows};
}

void measure_redistribution(Session& session) {
  const std::int64_t ranks = session.job().size();
  measure(session, {"Redistribution, One Block Each to Blocks of 64,", "block_to_cyclic",
                    [ranks](Session& s, std::int64_t n) {
                      return own_movement(s, in_one_block(n, ranks), cyclic(n, ranks), false);
                    },
                    [](RankGroup& group, std::int64_t n, const Extents& grid) {
                      return scalapack_redistribution(group, in_one_block(n, grid),
                                                      cyclic(n, grid));
                    }});
  measure(session, {"Redistribution, Blocks of 64 to One Block Each,", "cyclic_to_block",
                    [ranks](Session& s, std::int64_t n) {
                      return own_movement(s, cyclic(n, ranks), in_one_block(n, ranks), false);
                    },
                    [](RankGroup& group, std::int64_t n, const Extents& grid) {
                      return scalapack_redistribution(group, cyclic(n, grid),
                                                      in_one_block(n, grid));
                    }});
}

void measure_transposition(Session& session) {
  const std::int64_t ranks = session.job().size();
  measure(session, {"Transposition of Blocks of 64", "transpose_cyclic",
                    [ranks](Session& s, std::int64_t n) {
                      return own_movement(s, cyclic(n, ranks), cyclic(n, ranks), true);
                    },
                    [](RankGroup& group, std::int64_t n, const Extents& grid) {
                      return scalapack_transposition(group, cyclic(n, grid));
                    }});
  measure(session,
          {"Transposition of One Block Each", "transpose_block",
           [ranks](Session& s, std::int64_t n) {
             return own_movement(s, in_one_block(n, ranks), in_one_block(n, ranks), true);
           },
           [](RankGroup&, std::int64_t, const Extents&) { return std::optional<Candidate>(); }});
}

}  // namespace tessera::bench
