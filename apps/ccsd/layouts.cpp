// SPDX-License-Identifier: BSD-3-Clause
#include "apps/ccsd/layouts.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "rma/handle.hpp"

namespace tessera::apps::ccsd {
namespace {

using arrays::Box;
using arrays::LocalView;
using arrays::Section;
using rma::Status;

/// Starts `fetch(row, destination)` for each own row and waits for all of them.
template <class Fetch>
Status fill_rows(RowMatrix& out, Fetch&& fetch) {
  TESSERA_ASSIGN_OR_RETURN(const OwnRows rows, OwnRows::of(out));
  rma::Handle fetching;
  for (std::int64_t row = rows.first(); row < rows.last(); ++row) {
    fetching.collect(fetch(row, rows.row(row)));
  }
  return fetching.wait();
}

}  // namespace

Status to_pair(RowMatrix& in, RowMatrix& out, const OrbitalSpace& space) {
  const std::int64_t o = space.occupied;
  const std::int64_t v = space.virtuals;
  return out.sync(fill_rows(out, [&](std::int64_t row, double* to) {
    const std::int64_t i = row / o;
    const std::int64_t j = row % o;
    return in.get_async(Box({i * v, j * v}, {(i + 1) * v, (j + 1) * v}),
                        LocalView<double>(to, {v, v}));
  }));
}

Status to_ring(RowMatrix& in, RowMatrix& out, const OrbitalSpace& space) {
  const std::int64_t o = space.occupied;
  const std::int64_t v = space.virtuals;
  return out.sync(fill_rows(out, [&](std::int64_t row, double* to) {
    const std::int64_t i = row / v;
    const std::int64_t a = row % v;
    return in.get_async(Box({i * o, a * v}, {(i + 1) * o, (a + 1) * v}),
                        LocalView<double>(to, {o, v}));
  }));
}

Status swap_occupied(RowMatrix& in, RowMatrix& out, const OrbitalSpace& space) {
  const std::int64_t o = space.occupied;
  const std::int64_t v = space.virtuals;
  return out.sync(fill_rows(out, [&](std::int64_t row, double* to) {
    const std::int64_t i = row / v;
    const std::int64_t a = row % v;
    // The rows ja of all j.
    const Section rows(Box({a, i * v}, {(o - 1) * v + a + 1, (i + 1) * v}), {v, 1});
    return in.get_async(rows, LocalView<double>(to, {o, v}));
  }));
}

Status transpose(RowMatrix& in, RowMatrix& out) {
  // A limited number of columns at a time, so that the fetched runs have some length.
  constexpr std::int64_t max_columns = 64;
  const auto fill = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(const OwnRows rows, OwnRows::of(out));
    const std::int64_t n = out.extents()[1];
    std::vector<double> fetched(static_cast<std::size_t>(n * max_columns));
    for (std::int64_t first = rows.first(); first < rows.last(); first += max_columns) {
      const std::int64_t count = std::min(max_columns, rows.last() - first);
      TESSERA_RETURN_IF_ERROR(
          in.get(Box({0, first}, {n, first + count}), std::span<double>(fetched)));
      for (std::int64_t row = 0; row < count; ++row) {
        for (std::int64_t column = 0; column < n; ++column) {
          rows.row(first + row)[column] = fetched[static_cast<std::size_t>(column * count + row)];
        }
      }
    }
    return {};
  };
  return out.sync(fill());
}

}  // namespace tessera::apps::ccsd
