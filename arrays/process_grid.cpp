// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/process_grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace tessera::arrays {
namespace {

using rma::Code;
using rma::Result;
using rma::Status;

// Sums of the same terms in another order differ by less than this relative error.
constexpr double rounding = 1e-12;
constexpr double infinite = std::numeric_limits<double>::infinity();

bool is_less(double a, double b) {
  return a < b - rounding * (b < infinite ? b : 0.0);
}

std::vector<std::int64_t> divisors_descending(std::int64_t number) {
  std::vector<std::int64_t> divisors;
  for (std::int64_t d = 1; d * d <= number; ++d) {
    if (number % d == 0) {
      divisors.push_back(d);
      if (d * d != number) {
        divisors.push_back(number / d);
      }
    }
  }
  std::sort(divisors.rbegin(), divisors.rend());
  return divisors;
}

// The limits of a factorisation for each dimension, slowest dimension first.
struct Limits {
  int ndims = 0;
  std::int64_t least[max_dims] = {};   // NOLINT(modernize-avoid-c-arrays)
  std::int64_t most[max_dims] = {};    // NOLINT(modernize-avoid-c-arrays)
  std::int64_t extent[max_dims] = {};  // NOLINT(modernize-avoid-c-arrays)
  int equal_dim[max_dims] = {};        // NOLINT: the last slower dimension with the same limits
};

std::int64_t ceil_divide(std::int64_t n, std::int64_t d) {
  return n / d + (n % d != 0 ? 1 : 0);
}

// The cut area of one dimension, relative to the volume of the array.
double cut_area(std::int64_t blocks, std::int64_t extent) {
  return static_cast<double>(blocks - 1) / static_cast<double>(extent);
}

// Finds the minimum cut area between nodes; tries every sub-grid of ranks_per_node blocks that
// divides the grid.
class NodeSearch {
 public:
  NodeSearch(const Limits& limits, std::int64_t ranks_per_node)
      : limits_(limits),
        ranks_per_node_(ranks_per_node),
        divisors_(ranks_per_node > 1 ? divisors_descending(ranks_per_node)
                                     : std::vector<std::int64_t>()) {}

  // The minimum area for this grid; infinite if no sub-grid fits. best() is the sub-grid.
  double run(const Index& grid) {
    best_area_ = infinite;
    if (ranks_per_node_ > 1 && volume(Extents::from(grid)) > ranks_per_node_) {
      grid_ = grid;
      current_ = Index::filled(grid.ndims(), 1);
      extend(grid.ndims() - 1, ranks_per_node_, 0.0);
    }
    return best_area_;
  }
  [[nodiscard]] const Index& best() const { return best_; }

 private:
  // The fastest dimension first, so that among equals the one closest to the plain order wins.
  void extend(int dim, std::int64_t rest, double area) {
    if (dim < 0) {
      if (rest == 1 && is_less(area, best_area_)) {
        best_area_ = area;
        best_ = current_;
      }
      return;
    }
    for (const std::int64_t width : divisors_) {
      if (rest % width == 0 && grid_[dim] % width == 0) {
        current_[dim] = width;
        extend(dim - 1, rest / width, area + cut_area(grid_[dim] / width, limits_.extent[dim]));
      }
    }
  }

  const Limits& limits_;
  std::int64_t ranks_per_node_;
  std::vector<std::int64_t> divisors_;
  Index grid_;
  Index current_;
  Index best_;
  double best_area_ = infinite;
};

// Searches the factorisations of a number of ranks, first for balance, then for surface.
class GridSearch {
 public:
  GridSearch(const Limits& limits, std::int64_t ranks_per_node, double slack)
      : limits_(limits), slack_(slack), nodes_(limits, ranks_per_node) {
    Rest rest;
    for (int dim = limits.ndims - 1; dim >= 0; --dim) {
      rest.elements *= static_cast<double>(limits.extent[dim]);
      rest.inverses += 1.0 / static_cast<double>(limits.extent[dim]);
      rest_[static_cast<std::size_t>(dim)] = rest;
    }
    elements_ = rest.elements;
  }

  // Finds the smallest largest block among grids of `ranks` ranks, and of the earlier calls.
  void balance(std::int64_t ranks) {
    is_choosing_ = false;
    walk(ranks);
  }
  // Compares the grids of `ranks` ranks with sufficient balance.
  void choose(std::int64_t ranks) {
    is_choosing_ = true;
    weight_ = 1.0 / (static_cast<double>(ranks) * static_cast<double>(ranks));
    walk(ranks);
  }

  [[nodiscard]] bool has_balance() const { return largest_ < infinite; }
  // False if no grid of `ranks` ranks can have sufficient balance.
  [[nodiscard]] bool can_balance(std::int64_t ranks) const {
    return elements_ / static_cast<double>(ranks) <= bound();
  }
  [[nodiscard]] const Index& grid() const { return best_; }
  [[nodiscard]] const Index& node_grid() const { return best_nodes_; }

 private:
  // For the dimensions from one on: the product of the extents, and the sum of their inverses.
  struct Rest {
    double elements = 1.0;
    double inverses = 0.0;
  };

  void walk(std::int64_t ranks) {
    divisors_ = divisors_descending(ranks);
    current_ = Index::filled(limits_.ndims, 1);
    extend(0, ranks, 1.0, 0.0);
  }

  // `largest` is the product of the largest block's sides so far, `area` that of the cuts.
  void extend(int dim, std::int64_t ranks, double largest, double area) {
    if (dim == limits_.ndims) {
      if (ranks == 1 && !is_choosing_) {
        largest_ = std::min(largest_, largest);
      } else if (ranks == 1 && largest <= bound()) {
        compare(area * weight_);
      }
      return;
    }
    if (can_prune(dim, static_cast<double>(ranks), largest, area)) {
      return;
    }
    // Among grids that differ only in the order of equal dimensions, tries only the preferred one.
    const int equal_dim = limits_.equal_dim[dim];
    const std::int64_t most = equal_dim < 0 ? limits_.most[dim] : current_[equal_dim];
    for (const std::int64_t blocks : divisors_) {
      if (blocks > most || ranks % blocks != 0) {
        continue;
      }
      if (blocks < limits_.least[dim]) {
        break;
      }
      current_[dim] = blocks;
      extend(dim + 1, ranks / blocks,
             largest * static_cast<double>(ceil_divide(limits_.extent[dim], blocks)),
             area + cut_area(blocks, limits_.extent[dim]));
    }
  }

  // The maximum number of elements in the largest block.
  [[nodiscard]] double bound() const { return largest_ * (1.0 + slack_) * (1.0 + rounding); }

  // True if no cut of the dimensions from `dim` on for `ranks` ranks leads to a better grid.
  [[nodiscard]] bool can_prune(int dim, double ranks, double largest, double area) const {
    const Rest& rest = rest_[static_cast<std::size_t>(dim)];
    const double best_block = largest * std::max(rest.elements / ranks, 1.0);
    if (!is_choosing_) {
      return best_block >= largest_;
    }
    // The sum of p/n for a given product of the p is minimal if all p/n are equal.
    const double m = limits_.ndims - dim;
    const double cuts = m * std::pow(ranks / rest.elements, 1.0 / m);
    const double error = 1e-9 * (area + cuts + rest.inverses);
    return best_block > bound() || (area + cuts - rest.inverses - error) * weight_ > best_area_;
  }

  void compare(double area) {
    const double node_area = nodes_.run(current_);
    if (is_less(best_area_, area) ||
        (!is_less(area, best_area_) && !is_less(node_area, best_node_area_))) {
      return;
    }
    best_area_ = area;
    best_node_area_ = node_area;
    best_ = current_;
    best_nodes_ = node_area < infinite ? nodes_.best() : Index();
  }

  const Limits& limits_;
  double slack_;
  NodeSearch nodes_;
  double elements_ = 1.0;
  std::vector<std::int64_t> divisors_;
  std::array<Rest, max_dims> rest_;
  bool is_choosing_ = false;
  double weight_ = 1.0;
  Index current_;
  double largest_ = infinite;
  double best_area_ = infinite;  // weighted
  double best_node_area_ = infinite;
  Index best_;
  Index best_nodes_;
};

Status check(const Extents& extents, std::int64_t nranks, const ProcessGridOptions& options) {
  TESSERA_RETURN_IF_ERROR(check_extents(extents));
  if (nranks < 1) {
    return Status::error(Code::invalid_argument,
                         fmt::format("{} ranks: at least 1 is needed", nranks));
  }
  const struct {
    const char* name;
    const Extents& entries;
  } lists[] = {{"minimum block", options.min_block}, {"process grid", options.fixed}};
  for (const auto& [name, entries] : lists) {
    if (!entries.is_empty() && entries.ndims() != extents.ndims()) {
      return Status::error(
          Code::invalid_argument,
          fmt::format("the {} {} has {} dimensions, the array {} has {}", name, to_string(entries),
                      entries.ndims(), to_string(extents), extents.ndims()));
    }
    if (std::any_of(entries.begin(), entries.end(), [](std::int64_t e) { return e < 0; })) {
      return Status::error(Code::invalid_argument,
                           fmt::format("the {} {} has a negative entry", name, to_string(entries)))
          .hint("0 leaves the choice to the library");
    }
  }
  Extents fixed = options.fixed;
  for (int dim = 0; dim < fixed.ndims(); ++dim) {
    fixed[dim] = std::max<std::int64_t>(fixed[dim], 1);
  }
  std::int64_t product = 0;
  if (!checked_product(fixed, product) || product > nranks) {
    return Status::error(Code::invalid_argument,
                         fmt::format("the process grid {} needs more ranks than the {} available",
                                     to_string(options.fixed), nranks));
  }
  return {};
}

int dimension_by_speed(int position, int ndims, MemoryOrder order) {
  return order == MemoryOrder::row_major ? position : ndims - 1 - position;
}

Limits limits_of(const Extents& extents, std::int64_t nranks, const ProcessGridOptions& options) {
  Limits limits;
  limits.ndims = extents.ndims();
  for (int position = 0; position < limits.ndims; ++position) {
    const int dim = dimension_by_speed(position, limits.ndims, options.order);
    const std::int64_t extent = std::max<std::int64_t>(extents[dim], 1);
    const std::int64_t chunk =
        options.min_block.is_empty() ? 1 : std::max<std::int64_t>(options.min_block[dim], 1);
    const std::int64_t fixed = options.fixed.is_empty() ? 0 : options.fixed[dim];
    limits.extent[position] = extent;
    limits.least[position] = fixed > 0 ? fixed : 1;
    limits.most[position] = fixed > 0 ? fixed : std::clamp<std::int64_t>(extent / chunk, 1, nranks);
    limits.equal_dim[position] = -1;
    for (int other = 0; other < position; ++other) {
      if (limits.extent[other] == extent && limits.least[other] == limits.least[position] &&
          limits.most[other] == limits.most[position]) {
        limits.equal_dim[position] = other;
      }
    }
  }
  return limits;
}

// The largest number of ranks that any grid can use.
std::int64_t usable_ranks(const Limits& limits, std::int64_t nranks) {
  std::int64_t ranks = 1;
  for (int position = 0; position < limits.ndims; ++position) {
    if (__builtin_mul_overflow(ranks, limits.most[position], &ranks)) {
      return nranks;
    }
  }
  return std::min(ranks, nranks);
}

}  // namespace

std::int64_t ranks_per_node(std::span<const rma::NodeId> nodes) noexcept {
  std::int64_t common = 0;
  std::int64_t run = 0;
  for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
    ++run;
    if (rank + 1 == nodes.size() || nodes[rank + 1] != nodes[rank]) {
      common = std::gcd(common, run);
      run = 0;
    }
  }
  return common;
}

Result<ProcessGrid> choose_process_grid(const Extents& extents, std::int64_t nranks,
                                        const ProcessGridOptions& options) {
  TESSERA_RETURN_IF_ERROR(check(extents, nranks, options)
                              .context(fmt::format("choosing a process grid for {} on {} ranks",
                                                   to_string(extents), nranks)));
  const Limits limits = limits_of(extents, nranks, options);
  GridSearch search(limits, options.ranks_per_node, std::max(options.slack, 0.0));
  const std::int64_t most = usable_ranks(limits, nranks);
  std::int64_t fewest = most;
  search.balance(most);
  if (!search.has_balance() || options.may_idle) {
    // A grid of one rank in each dimension (or as fixed) always exists, so this loop ends.
    while (fewest > 1 && (!search.has_balance() || search.can_balance(fewest - 1))) {
      search.balance(--fewest);
    }
  }
  for (std::int64_t ranks = most; ranks >= fewest; --ranks) {
    if (search.can_balance(ranks)) {
      search.choose(ranks);
    }
  }

  ProcessGrid result;
  const int ndims = extents.ndims();
  result.grid = Extents::filled(ndims, 1);
  const bool has_nodes = !search.node_grid().is_empty();
  result.node_grid = has_nodes ? result.grid : Extents();
  for (int position = 0; position < ndims; ++position) {
    const int dim = dimension_by_speed(position, ndims, options.order);
    result.grid[dim] = search.grid()[position];
    if (has_nodes) {
      result.node_grid[dim] = search.node_grid()[position];
    }
  }
  return result;
}

}  // namespace tessera::arrays
