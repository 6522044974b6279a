// SPDX-License-Identifier: BSD-3-Clause
#include "linalg/detail/gemm_steps.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "linalg/detail/panel.hpp"

namespace tessera::linalg::detail {
namespace {

// With panels of this many summed indices, kernels run at full speed.
constexpr std::int64_t full_inner = 384;
// Pieces shorter than this are not worth a separate call.
constexpr std::int64_t min_piece = 128;

bool is_grid(const MatrixMap& map) {
  const arrays::BlockMapKind kind = map.array->distribution().block_map().kind();
  return kind == arrays::BlockMapKind::grid || kind == arrays::BlockMapKind::cyclic_grid;
}

rma::WorldRank world(const MatrixMap& map, rma::TeamRank rank) {
  return map.array->team().world_rank(rank);
}

// The positions in `list` at which a line continues in other memory, and the end. Only for lines
// with parts on this node: others are fetched with any tile.
std::vector<std::int64_t> memory_changes(const MatrixMap& map, Axis axis,
                                         const IntervalList& list) {
  std::vector<std::int64_t> changes;
  bool touches_node = false;
  std::int64_t position = 0;
  LinePart previous;
  for_each_line_part(map, axis, list, 0, [&](const LinePart& part) {
    if (position > 0 && !previous.continues_with(part)) {
      changes.push_back(position);
    }
    touches_node = touches_node || map.array->job().shares_node(world(map, part.owner));
    position += part.range.length();
    previous = part;
    return true;
  });
  if (!touches_node) {
    changes.clear();
  }
  changes.push_back(position);
  return changes;
}

// Cuts a list where memory changes, unless pieces would be short, and into equal parts of at most
// `longest`.
std::vector<IntervalList> cut_list(const MatrixMap& map, Axis axis, const IntervalList& list,
                                   std::int64_t longest) {
  std::vector<IntervalList> pieces;
  const std::vector<std::int64_t> changes = memory_changes(map, axis, list);
  const std::int64_t end = changes.back();
  std::int64_t from = 0;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const std::int64_t to = changes[i];
    const std::int64_t next = i + 1 < changes.size() ? changes[i + 1] : end;
    if (to < end && (to - from < min_piece || next - to < min_piece)) {
      continue;
    }
    const std::int64_t count = (to - from + longest - 1) / longest;
    for (std::int64_t k = 0; k < count; ++k) {
      pieces.push_back(
          slice(list, from + (to - from) * k / count, from + (to - from) * (k + 1) / count));
    }
    from = to;
  }
  return pieces;
}

using Owners = std::pair<rma::TeamRank, rma::TeamRank>;

// The summed indices, grouped by their owners in A and in B; one group for all if a line doesn't
// determine the owner.
std::map<Owners, IntervalList> by_owners(const Factors& factors, const OwnPart& tile) {
  const IntervalList all{{0, factors.a.columns()}};
  std::vector<LinePart> of_b;
  for_each_line_part(factors.b, Axis::rows, all, tile.columns.front().lo,
                     [&](const LinePart& part) {
                       of_b.push_back(part);
                       return true;
                     });
  const bool has_owners_of_a = is_grid(factors.a);
  const bool has_owners_of_b = is_grid(factors.b);
  std::map<Owners, IntervalList> classes;
  auto b = of_b.begin();
  for_each_line_part(factors.a, Axis::columns, all, tile.rows.front().lo, [&](const LinePart& a) {
    for (std::int64_t lo = a.range.lo; lo < a.range.hi;) {
      const std::int64_t hi = std::min(a.range.hi, b->range.hi);
      append_merged(classes[{has_owners_of_a ? a.owner : rma::TeamRank{},
                             has_owners_of_b ? b->owner : rma::TeamRank{}}],
                    {lo, hi});
      lo = hi;
      b += b->range.hi == hi ? 1 : 0;
    }
    return true;
  });
  return classes;
}

// The groups in the order in which this rank uses them.
std::vector<IntervalList> rotated_by_rank(const Factors& factors,
                                          std::map<Owners, IntervalList> classes) {
  rma::Job& job = factors.a.array->job();
  const auto turn = [&](const Owners& owners) {
    const rma::WorldRank a = world(factors.a, owners.first);
    const rma::WorldRank b = world(factors.b, owners.second);
    const int remote = (job.shares_node(a) ? 0 : 1) + (job.shares_node(b) ? 0 : 1);
    const auto steps = [&](rma::WorldRank owner) {
      return (owner.value - job.rank().value + job.size()) % job.size();
    };
    return std::tuple(remote, steps(a), steps(b));
  };
  std::vector<std::pair<Owners, IntervalList>> sorted(std::make_move_iterator(classes.begin()),
                                                      std::make_move_iterator(classes.end()));
  std::sort(sorted.begin(), sorted.end(),
            [&](const auto& x, const auto& y) { return turn(x.first) < turn(y.first); });
  std::vector<IntervalList> lists;
  for (auto& [owners, list] : sorted) {
    lists.push_back(std::move(list));
  }
  return lists;
}

bool is_in_place(const MatrixMap& map, const IntervalList& rows, const IntervalList& columns) {
  const auto location = locate(map, rows, columns);
  return location &&
         direct_pointer(map, *location, total_length(rows), total_length(columns)) != nullptr;
}

void cut_evenly(const IntervalList& list, std::int64_t longest, std::vector<IntervalList>& panels) {
  const std::int64_t length = total_length(list);
  const std::int64_t count = (length + longest - 1) / longest;
  for (std::int64_t k = 0; k < count; ++k) {
    panels.push_back(slice(list, length * k / count, length * (k + 1) / count));
  }
}

}  // namespace

StepSizes choose_step_sizes(const OwnPart& part, std::int64_t inner, std::int64_t elements,
                            bool has_scratch_tile) {
  const std::int64_t least = 8;
  StepSizes sizes{.rows = total_length(part.rows),
                  .columns = total_length(part.columns),
                  .inner = std::min(inner, full_inner)};
  const std::int64_t for_panels = elements / 2;
  const auto is_too_large = [&] {
    const bool exceeds_panels =
        padded(sizes.inner) * (padded(sizes.rows) + padded(sizes.columns)) > for_panels;
    const bool exceeds_tile =
        has_scratch_tile && padded(sizes.rows) * padded(sizes.columns) > 2 * elements;
    return exceeds_panels || exceeds_tile;
  };
  // Halved, not cut to fit, so that pieces have equal sizes.
  while (is_too_large()) {
    std::int64_t& longest = std::max(sizes.rows, sizes.columns) >= sizes.inner / 2
                                ? (sizes.rows > sizes.columns ? sizes.rows : sizes.columns)
                                : sizes.inner;
    if (longest <= least) {
      break;
    }
    longest = std::max((longest + 1) / 2, least);
  }
  return sizes;
}

std::vector<OwnPart> cut_into_tiles(const Factors& factors, const OwnPart& part,
                                    const StepSizes& sizes) {
  const auto rows = cut_list(factors.a, Axis::rows, part.rows, sizes.rows);
  const auto columns = cut_list(factors.b, Axis::columns, part.columns, sizes.columns);
  std::vector<OwnPart> tiles;
  for (const IntervalList& in_rows : rows) {
    for (const IntervalList& in_columns : columns) {
      tiles.push_back({.rows = in_rows, .columns = in_columns});
    }
  }
  return tiles;
}

std::vector<IntervalList> inner_panels(const Factors& factors, const OwnPart& tile,
                                       const StepSizes& sizes) {
  std::vector<IntervalList> panels;
  IntervalList rest;
  for (IntervalList& list : rotated_by_rank(factors, by_owners(factors, tile))) {
    if (total_length(list) < min_piece) {
      rest.insert(rest.end(), list.begin(), list.end());
    } else if (is_in_place(factors.a, tile.rows, list) &&
               is_in_place(factors.b, list, tile.columns)) {
      panels.push_back(std::move(list));
    } else {
      cut_evenly(list, sizes.inner, panels);
    }
  }
  std::sort(rest.begin(), rest.end());
  cut_evenly(merged(rest), sizes.inner, panels);
  return panels;
}

}  // namespace tessera::linalg::detail
