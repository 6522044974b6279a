// SPDX-License-Identifier: BSD-3-Clause
//
// The ghost exchange of periodic arrays with two and three dimensions, one to three layers, with
// and without corners, compared with the same exchange by messages.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "arrays/access.hpp"
#include "arrays/array.hpp"
#include "arrays/elementwise.hpp"
#include "arrays/halo.hpp"
#include "bench/baselines/mpi.hpp"
#include "bench/parts.hpp"

namespace tessera::bench {
namespace {

using arrays::Array;
using arrays::Box;
using arrays::Extents;
using arrays::Index;

struct GhostCase {
  int dims = 3;
  std::int64_t edge = 64;
  std::int64_t width = 1;
  bool corners = true;

  [[nodiscard]] Extents extents() const { return filled(edge); }
  [[nodiscard]] Extents widths() const { return filled(width); }
  /// "64 x 64 x 64", and unusual properties.
  [[nodiscard]] std::string shape() const {
    std::string text = fmt::format("{}", edge);
    for (int dim = 1; dim < dims; ++dim) {
      text += fmt::format(" x {}", edge);
    }
    text += width > 1 ? fmt::format(", width {}", width) : "";
    return text + (corners ? "" : ", faces");
  }

 private:
  [[nodiscard]] Extents filled(std::int64_t value) const {
    return dims == 2 ? Extents{value, value} : Extents{value, value, value};
  }
};

/// This rank's block, and the owners of the neighbouring blocks.
GhostBlock block_of(const Array<double>& array, const GhostCase& ghosts) {
  GhostBlock block;
  block.width = ghosts.width;
  block.corners = ghosts.corners;
  const Box own = array.own_box();
  for (int dim = 0; dim < ghosts.dims; ++dim) {
    block.points.push_back(own.extent(dim));
    const std::int64_t extent = array.extents()[dim];
    Index below = own.lo();
    Index above = own.lo();
    below[dim] = (own.lo(dim) + extent - 1) % extent;
    above[dim] = own.hi(dim) % extent;
    block.neighbours.push_back({array.team().world_rank(array.owner(below)).value,
                                array.team().world_rank(array.owner(above)).value});
  }
  return block;
}

/// Calls `action(index, place)` for each cell of a box, in row-major order.
template <class Action>
void for_each_cell(const Box& box, Action action) {
  Index at = box.lo();
  for (std::size_t place = 0; place < static_cast<std::size_t>(box.volume()); ++place) {
    action(at, place);
    for (int dim = box.ndims() - 1; dim >= 0 && ++at[dim] == box.hi(dim) && dim > 0; --dim) {
      at[dim] = box.lo(dim);
    }
  }
}

/// The number of dimensions in which a cell lies outside of `own`.
int dims_outside(const Box& own, const Index& at) {
  int outside = 0;
  for (int dim = 0; dim < own.ndims(); ++dim) {
    outside += at[dim] < own.lo(dim) || at[dim] >= own.hi(dim) ? 1 : 0;
  }
  return outside;
}

/// Runs an exchange on known data and checks each ghost cell. `cells` is the block with its ghost
/// cells, row-major. Returns an error message, or an empty string.
std::string verify(const Box& own, const GhostCase& ghosts, double* cells, RankGroup& group,
                   const std::function<void(std::int64_t)>& run) {
  const auto value_at = [&](const Index& at) {
    double value = 0;
    for (int dim = 0; dim < ghosts.dims; ++dim) {
      value = value * static_cast<double>(ghosts.edge) +
              static_cast<double>((at[dim] + ghosts.edge) % ghosts.edge);
    }
    return value;
  };
  const Box all = own.grown(ghosts.widths());
  for_each_cell(all, [&](const Index& at, std::size_t place) {
    cells[place] = dims_outside(own, at) == 0 ? value_at(at) : -1;
  });
  group.barrier();
  run(1);
  std::string wrong;
  for_each_cell(all, [&](const Index& at, std::size_t place) {
    if ((ghosts.corners || dims_outside(own, at) <= 1) && cells[place] != value_at(at)) {
      wrong = fmt::format("cell {} is {}, not {}", to_string(at), cells[place], value_at(at));
    }
  });
  group.barrier();
  return wrong;
}

/// An array, its exchange, and the same cells for messages.
class Exchange {
 public:
  Exchange(Session& session, const GhostCase& ghosts)
      : session_(session),
        ghosts_(ghosts),
        array_(Array<double>::create(session.job(), ghosts.extents(),
                                     {.name = "ghosts", .ghosts = ghosts.widths()})
                   .value()),
        halo_(arrays::Halo::create(
                  array_, {.periodic = arrays::PeriodicDims().set(), .corners = ghosts.corners})
                  .value()),
        messages_(static_cast<std::size_t>(array_.own_box().grown(ghosts.widths()).volume())) {}

  /// Collective. Messages first, if available.
  std::vector<Candidate> candidates() {
    std::vector<Candidate> made;
    if (session_.compares_with(Peer::mpi)) {
      if (auto mpi =
              mpi_ghost_candidate(session_.group(), block_of(array_, ghosts_), messages_.data())) {
        made.push_back(std::move(*mpi));
        check(made.back(), messages_.data());
      }
    }
    Candidate own = by_all("tessera", [this] { rma::require(halo_.update()); });
    made.push_back(std::move(own));
    check(made.back(), reinterpret_cast<double*>(array_.region().local()));
    for (Candidate& each : made) {
      each.bytes = bytes_of_all_;
    }
    return made;
  }

  [[nodiscard]] std::int64_t bytes_from_others() const {
    return static_cast<std::int64_t>(halo_.bytes_from_others());
  }

  /// Collective. Counts the bytes that an update brings to all ranks.
  void count_bytes() {
    bytes_of_all_ = 0;
    for (int rank = 0; rank < session_.group().size(); ++rank) {
      bytes_of_all_ += session_.group().share(halo_.bytes_from_others(), rank);
    }
  }

 private:
  void check(Candidate& candidate, double* cells) {
    candidate.verify = [this, cells, run = candidate.run] {
      return verify(array_.own_box(), ghosts_, cells, session_.group(), run);
    };
  }

  Session& session_;
  GhostCase ghosts_;
  Array<double> array_;
  arrays::Halo halo_;
  std::vector<double> messages_;
  std::size_t bytes_of_all_ = 0;
};

void measure(Session& session, Topic& topic, const GhostCase& ghosts, std::int64_t line) {
  Exchange exchange(session, ghosts);
  exchange.count_bytes();
  session.measure(topic, {line, ghosts.shape(), exchange.bytes_from_others()},
                  exchange.candidates(), together(session.options().measure_options()));
}

/// Whether each rank owns at least as many layers as a neighbour needs.
bool is_thick(const Session& session, const GhostCase& ghosts) {
  const auto distribution =
      arrays::Distribution::regular(ghosts.extents(), session.job().size()).value();
  for (int rank = 0; rank < session.job().size(); ++rank) {
    const Box box = distribution.box_of(rma::TeamRank{rank});
    for (int dim = 0; dim < ghosts.dims; ++dim) {
      if (box.is_empty() || box.extent(dim) < ghosts.width) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace

void measure_ghosts(Session& session) {
  Topic by_edge{"rma", "ghosts", "Ghost Update Latency", Quantity::latency, "Edge"};
  for (const std::int64_t edge : {16, 64, 128, 256}) {
    measure(session, by_edge, {.edge = edge}, edge);
  }
  for (const bool corners : {true, false}) {
    for (const int dims : {2, 3}) {
      Topic by_width{
          "rma",
          std::string(dims == 2 ? "ghosts_2d" : "ghosts_by_width") + (corners ? "" : "_faces"),
          fmt::format("Ghost Update by Width, {} Dimensions, {}, Latency", dims,
                      corners ? "With Corners" : "Faces Only"),
          Quantity::latency, "Width"};
      for (const std::int64_t width : {1, 2, 3}) {
        const GhostCase ghosts = {dims, dims == 2 ? 1024 : 64, width, corners};
        if (is_thick(session, ghosts)) {
          measure(session, by_width, ghosts, width);
        }
      }
    }
  }
}

// Part "arrays.modes", between nodes: patches all over a matrix that is only read, or only
// accumulated to, for a phase. Compares transfers to and from the owners with the copies and caches
// that access modes allow.

namespace {

using arrays::Array;
using arrays::Box;
using arrays::ModeOptions;
using rma::AccessMode;

constexpr std::int64_t matrix_edge = 1000;  // of the matrix
constexpr std::int64_t patch = 8;           // of a patch

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
      : matrix(Array<double>::create(session.job(), {matrix_edge, matrix_edge}, {.name = "A"})
                   .value()) {
    std::mt19937_64 random(static_cast<std::uint64_t>(session.group().rank()) + 1);
    std::uniform_int_distribution<std::int64_t> corner(0, matrix_edge - patch);
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
  std::vector<double> expected(static_cast<std::size_t>(matrix_edge * matrix_edge));
  for (const Box& box : phase.boxes) {
    for (std::int64_t i = box.lo(0); i < box.hi(0); ++i) {
      for (std::int64_t j = box.lo(1); j < box.hi(1); ++j) {
        expected[static_cast<std::size_t>(i * matrix_edge + j)] += 1.0;
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
      values.push_back(static_cast<double>(first + i * matrix_edge + j));
    }
  }
  rma::require(matrix.put(own, values));
  rma::require(matrix.sync());
}

bool is_numbered(const Box& box, const std::vector<double>& values, std::int64_t first) {
  auto value = values.begin();
  for (std::int64_t i = box.lo(0); i < box.hi(0); ++i) {
    for (std::int64_t j = box.lo(1); j < box.hi(1); ++j) {
      if (*value++ != static_cast<double>(first + i * matrix_edge + j)) {
        return false;
      }
    }
  }
  return true;
}

std::string check_read(Phase& phase, const Way& way) {
  // Different numbers each time, so that stale data of a copy or a cache are detected.
  const std::int64_t first = matrix_edge * matrix_edge * ++phase.checks;
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
  Candidate made = by_all(way.name, [=] { run(*phase, way, adds); });
  made.verify = [=, &session] {
    return adds ? check_sums(session, *phase, way) : check_read(*phase, way);
  };
  return made;
}

void measure(Session& session, bool adds, const std::vector<Way>& ways) {
  Topic topic{"arrays", adds ? "phase_adding" : "phase_reading",
              fmt::format("Phase in Which a Matrix is Only {}", adds ? "Added to" : "Read"),
              Quantity::latency, "Patches"};
  for (const std::int64_t count : {100, 1000, 10'000}) {
    const auto phase = std::make_shared<Phase>(session, count);
    std::vector<Candidate> candidates;
    for (const Way& way : ways) {
      candidates.push_back(candidate(session, phase, way, adds));
    }
    const auto measured = session.measure(topic,
                                          {count, fmt::format("{} patches", count),
                                           count * patch * patch * std::int64_t{sizeof(double)}},
                                          candidates);
    if (session.is_leader()) {
      session.remark(fmt::format("{} patches: speed of {} / {}", count, measured.back().name,
                                 measured.front().name),
                     ratio_of_medians(measured.front().samples_ns, measured.back().samples_ns));
    }
  }
}

}  // namespace

void measure_modes(Session& session) {
  const Way plain{"each to its owner"};
  const ModeOptions copies{.copy_on_each_node = true};
  measure(session, false,
          {plain,
           {"cache",
            AccessMode::read_only,
            {.cache_bytes = matrix_edge * matrix_edge * sizeof(double)}},
           {"copies on nodes", AccessMode::read_only, copies}});
  measure(session, true, {plain, {"copies on nodes", AccessMode::accumulate_only, copies}});
}

}  // namespace tessera::bench
