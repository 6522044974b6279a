// SPDX-License-Identifier: BSD-3-Clause
//
// Part "arrays.modes", between nodes: patches all over a matrix that is only read, or only
// accumulated to, for a phase. Compares transfers to and from the owners with the copies and caches
// that access modes allow.
#include "bench/parts.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "arrays/array.hpp"
#include "arrays/elementwise.hpp"

namespace tessera::bench {
namespace {

using arrays::Array;
using arrays::Box;
using arrays::ModeOptions;
using rma::AccessMode;

constexpr std::int64_t edge = 1000;  // of the matrix
constexpr std::int64_t patch = 8;    // of a patch

/// What one way of a phase does to the matrix.
struct Way {
  std::string name;
  AccessMode mode = AccessMode::any;
  ModeOptions options = {};
};

/// A matrix, and what one rank moves to and from it.
struct Phase {
  Array<double> matrix;
  std::vector<Box> boxes;
  std::vector<double> values = std::vector<double>(patch * patch, 1.0);
  std::int64_t checks = 0;  ///< number of checks of read data

  Phase(Session& session, std::int64_t count)
      : matrix(Array<double>::create(session.job(), {edge, edge}, {.name = "A"}).value()) {
    std::mt19937_64 random(static_cast<std::uint64_t>(session.group().rank()) + 1);
    std::uniform_int_distribution<std::int64_t> corner(0, edge - patch);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t row = corner(random);
      const std::int64_t column = corner(random);
      boxes.push_back(Box({row, column}, {row + patch, column + patch}));
    }
  }
};

/// A phase of `way` that calls `act(box)` for each patch.
template <typename Act>
void for_patches(Phase& phase, const Way& way, Act act) {
  rma::require(phase.matrix.set_access_mode(way.mode, way.options));
  for (const Box& box : phase.boxes) {
    act(box);
  }
  rma::require(phase.matrix.set_access_mode(AccessMode::any));
}

void run(Phase& phase, const Way& way, bool adds) {
  for_patches(phase, way, [&](const Box& box) {
    rma::require(adds ? phase.matrix.accumulate(box, phase.values)
                      : phase.matrix.get(box, phase.values));
  });
}

/// All elements that ranks add are ones.
std::string check_sums(Session& session, Phase& phase, const Way& way) {
  rma::require(arrays::fill(phase.matrix, 0.0));
  phase.values.assign(phase.values.size(), 1.0);
  run(phase, way, true);
  std::vector<double> expected(static_cast<std::size_t>(edge * edge));
  for (const Box& box : phase.boxes) {
    for (std::int64_t i = box.lo(0); i < box.hi(0); ++i) {
      for (std::int64_t j = box.lo(1); j < box.hi(1); ++j) {
        expected[static_cast<std::size_t>(i * edge + j)] += 1.0;
      }
    }
  }
  rma::require(session.job().world().allreduce(std::span(expected), rma::Reduction::sum));
  std::vector<double> found(expected.size());
  rma::require(phase.matrix.get(phase.matrix.box(), found));
  rma::require(phase.matrix.sync());
  return found == expected ? "" : "the sum of the matrix differs from the sum of what was added";
}

/// Each element is its row-major position, plus `first`.
void number_elements(Array<double>& matrix, std::int64_t first) {
  const Box own = matrix.own_box();
  std::vector<double> values;
  for (std::int64_t i = own.lo(0); i < own.hi(0); ++i) {
    for (std::int64_t j = own.lo(1); j < own.hi(1); ++j) {
      values.push_back(static_cast<double>(first + i * edge + j));
    }
  }
  rma::require(matrix.put(own, values));
  rma::require(matrix.sync());
}

bool is_numbered(const Box& box, const std::vector<double>& values, std::int64_t first) {
  auto value = values.begin();
  for (std::int64_t i = box.lo(0); i < box.hi(0); ++i) {
    for (std::int64_t j = box.lo(1); j < box.hi(1); ++j) {
      if (*value++ != static_cast<double>(first + i * edge + j)) {
        return false;
      }
    }
  }
  return true;
}

std::string check_read(Phase& phase, const Way& way) {
  // Different numbers each time, so that stale data of a copy or a cache are detected.
  const std::int64_t first = edge * edge * ++phase.checks;
  number_elements(phase.matrix, first);
  std::string problem;
  for_patches(phase, way, [&](const Box& box) {
    rma::require(phase.matrix.get(box, phase.values));
    if (!is_numbered(box, phase.values, first)) {
      problem = fmt::format("patch {} differs from the matrix", to_string(box));
    }
  });
  return problem;
}

Candidate candidate(Session& session, const std::shared_ptr<Phase>& phase, const Way& way,
                    bool adds) {
  Candidate made;
  made.name = way.name;
  made.cooperative = true;
  made.run = [=](std::int64_t repetitions) {
    for (std::int64_t i = 0; i < repetitions; ++i) {
      run(*phase, way, adds);
    }
  };
  made.verify = [=, &session] {
    return adds ? check_sums(session, *phase, way) : check_read(*phase, way);
  };
  return made;
}

void measure(Session& session, bool adds, const std::vector<Way>& ways) {
  std::optional<Table> table;
  for (const std::int64_t count : {100, 1000, 10'000}) {
    const auto phase = std::make_shared<Phase>(session, count);
    std::vector<Candidate> candidates;
    for (const Way& way : ways) {
      candidates.push_back(candidate(session, phase, way, adds));
    }
    if (!table) {
      table.emplace(session.table(
          fmt::format("Phase in Which a Matrix is Only {}", adds ? "Added to" : "Read"),
          candidates.size() - 1, Quantity::latency, "Patches"));
    }
    const auto measured = session.measure(
        *table,
        {"arrays", adds ? "phase_adding" : "phase_reading", fmt::format("{} patches", count),
         count * patch * patch * std::int64_t{sizeof(double)}},
        count, candidates, together(session.options().measure_options()));
    if (session.is_leader()) {
      const Ratio ratio = ratio_of_medians(measured.front().samples_ns, measured.back().samples_ns);
      session.remark(fmt::format("{} patches: speed of {} / {}: {:.3f} [{:.3f},{:.3f}]", count,
                                 measured.back().name, measured.front().name, ratio.value,
                                 ratio.ci95.lo, ratio.ci95.hi));
    }
  }
}

}  // namespace

void measure_modes(Session& session) {
  const Way plain{"each to its owner"};
  const ModeOptions copies{.copy_on_each_node = true};
  measure(session, false,
          {plain,
           {"cache", AccessMode::read_only, {.cache_bytes = edge * edge * sizeof(double)}},
           {"copies on nodes", AccessMode::read_only, copies}});
  measure(session, true, {plain, {"copies on nodes", AccessMode::accumulate_only, copies}});
}

}  // namespace tessera::bench
