// SPDX-License-Identifier: BSD-3-Clause
#include "apps/ccsd/integrals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace tessera::apps::ccsd {
namespace {

using rma::Result;
using rma::Status;

// Files may list an integral once for each permutation of its indices. Rounding differs between
// these, because the program that wrote the file summed them in different orders.
constexpr double same_value_tolerance = 1e-9;

}  // namespace

Result<Integrals> Integrals::create(const rma::Job& job, const OrbitalSpace& space) {
  const std::int64_t o = space.occupied;
  const std::int64_t v = space.virtuals;
  TESSERA_ASSIGN_OR_RETURN(auto vvvv, create_row_matrix(job, "vvvv", pair_count(v), v * v));
  TESSERA_ASSIGN_OR_RETURN(auto ovvv, create_row_matrix(job, "ovvv", o * v, v * v));
  TESSERA_ASSIGN_OR_RETURN(auto ovov, create_row_matrix(job, "ovov", o * v, o * v));
  TESSERA_ASSIGN_OR_RETURN(auto oovv, create_row_matrix(job, "oovv", o * o, v * v));
  TESSERA_ASSIGN_OR_RETURN(auto ooov, create_row_matrix(job, "ooov", o * o, o * v));
  TESSERA_ASSIGN_OR_RETURN(auto oooo, create_row_matrix(job, "oooo", o * o, o * o));
  return Integrals{std::move(oooo), std::move(ooov), std::move(oovv),
                   std::move(ovov), std::move(ovvv), std::move(vvvv)};
}

Status store_once(double& element, double value, const TwoElectron& integral) {
  if (std::isnan(element)) {
    element = value;
    return {};
  }
  if (std::abs(element - value) <= same_value_tolerance * std::max(1.0, std::abs(value))) {
    return {};
  }
  const auto& [p, q, r, s] = integral;
  return Status::error(rma::Code::invalid_argument,
                       fmt::format("the integral {} {} {} {} is given twice, as {} and as {}",
                                   p + 1, q + 1, r + 1, s + 1, element, value))
      .hint("remove the wrong line from the file of integrals");
}

Result<IntegralCollector> IntegralCollector::create(Integrals& integrals, const OrbitalSpace& space,
                                                    std::vector<std::int64_t> order) {
  constexpr Kind o = Kind::occupied;
  constexpr Kind v = Kind::virtuals;
  struct MatrixKinds {
    RowMatrix* matrix;
    std::array<Kind, 4> kinds;
  };
  const std::array<MatrixKinds, 6> matrices{{{&integrals.oooo, {o, o, o, o}},
                                             {&integrals.ooov, {o, o, o, v}},
                                             {&integrals.oovv, {o, o, v, v}},
                                             {&integrals.ovov, {o, v, o, v}},
                                             {&integrals.ovvv, {o, v, v, v}},
                                             {&integrals.vvvv, {v, v, v, v}}}};
  IntegralCollector collector(space, std::move(order));
  for (const MatrixKinds& each : matrices) {
    TESSERA_ASSIGN_OR_RETURN(OwnRows rows, OwnRows::of(*each.matrix));
    std::fill(rows.all().begin(), rows.all().end(), std::numeric_limits<double>::quiet_NaN());
    collector.blocks_.push_back({std::move(rows), each.kinds, each.matrix == &integrals.vvvv});
  }
  return collector;
}

double* IntegralCollector::element_of(const Block& block,
                                      const std::array<std::int64_t, 4>& xyzw) const {
  std::array<std::int64_t, 4> index{};
  for (std::size_t i = 0; i < xyzw.size(); ++i) {
    index[i] = xyzw[i] - first_orbital(block.kinds[i]);
    if (index[i] < 0 || index[i] >= extent(block.kinds[i])) {
      return nullptr;
    }
  }
  const auto [x, y, z, w] = index;
  if (block.is_packed && x < y) {
    return nullptr;
  }
  const std::int64_t row = block.is_packed ? pair_index(x, y) : x * extent(block.kinds[1]) + y;
  return block.rows.holds(row) ? block.rows.row(row) + z * extent(block.kinds[3]) + w : nullptr;
}

Status IntegralCollector::add(const TwoElectron& integral, double value) {
  const TwoElectron reordered{new_number(integral.p), new_number(integral.q),
                              new_number(integral.r), new_number(integral.s)};
  return for_each_permutation(reordered, [&](const TwoElectron& each) -> Status {
    const auto& [p, q, r, s] = each;
    for (const Block& block : blocks_) {
      // Matrices have ⟨xy|zw⟩ = (xz|yw): q and r change places.
      if (double* const element = element_of(block, {p, r, q, s}); element != nullptr) {
        TESSERA_RETURN_IF_ERROR(store_once(*element, value, integral));
      }
    }
    return {};
  });
}

void IntegralCollector::fill(const std::function<double(const TwoElectron&)>& value_of) {
  for (const Block& block : blocks_) {
    const std::int64_t y_extent = extent(block.kinds[1]);
    const std::int64_t w_extent = extent(block.kinds[3]);
    for (std::int64_t row = block.rows.first(); row < block.rows.last(); ++row) {
      const OrbitalPair xy =
          block.is_packed ? pair_at(row) : OrbitalPair{row / y_extent, row % y_extent};
      const std::int64_t x = first_orbital(block.kinds[0]) + xy.x;
      const std::int64_t y = first_orbital(block.kinds[1]) + xy.y;
      double* element = block.rows.row(row);
      for (std::int64_t z = 0; z < extent(block.kinds[2]); ++z) {
        for (std::int64_t w = 0; w < w_extent; ++w) {
          *element++ = value_of(
              {x, first_orbital(block.kinds[2]) + z, y, first_orbital(block.kinds[3]) + w});
        }
      }
    }
  }
}

void IntegralCollector::finish() {
  for (const Block& block : blocks_) {
    for (double& value : block.rows.all()) {
      value = std::isnan(value) ? 0.0 : value;
    }
    if (block.is_packed) {
      std::vector<double> scratch(static_cast<std::size_t>(block.rows.columns()));
      for (std::int64_t row = block.rows.first(); row < block.rows.last(); ++row) {
        fold_row(block.rows.row(row), space_.virtuals, 2.0, scratch.data());
      }
    }
  }
}

void fold_row(double* row, std::int64_t n, double diagonal, double* scratch) {
  double* const sums = scratch;
  double* const differences = scratch + pair_count(n);
  for (std::int64_t c = 0; c < n; ++c) {
    for (std::int64_t d = 0; d < c; ++d) {
      sums[pair_index(c, d)] = row[c * n + d] + row[d * n + c];
      differences[strict_pair_index(c, d)] = row[c * n + d] - row[d * n + c];
    }
    sums[pair_index(c, c)] = diagonal * row[c * n + c];
  }
  std::copy_n(scratch, n * n, row);
}

}  // namespace tessera::apps::ccsd
