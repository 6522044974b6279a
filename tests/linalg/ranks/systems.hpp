// SPDX-License-Identifier: BSD-3-Clause
//
// Shared code of tests of factorisations, solvers and eigenvalues: matrices from functions of the
// indices, triangles and residuals of dense ones, and the loop over sizes, layouts and methods.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "linalg/method.hpp"
#include "tests/linalg/ranks/distributed.hpp"
#include "tests/support/rank_main.hpp"
#include "tests/support/shared_seed.hpp"

namespace tessera::linalg::test {

/// Collective. A matrix whose element (i, j) is `element_at(i, j)`.
template <class T, class Function>
Array<T> make_matrix(rma::Job& job, const Distribution& distribution,
                     const arrays::ArrayOptions& options, Function&& element_at) {
  auto array = Array<T>::create(job, distribution, options).value();
  for (const arrays::Patch& block : distribution.blocks(array.team().rank())) {
    std::vector<T> values;
    for (std::int64_t i = block.box.lo(0); i < block.box.hi(0); ++i) {
      for (std::int64_t j = block.box.lo(1); j < block.box.hi(1); ++j) {
        values.push_back(element_at(i, j));
      }
    }
    rma::require(array.put(block.box, values));
  }
  rma::require(array.sync());
  return array;
}

/// An element of a matrix without structure.
template <class T>
T general(std::int64_t i, std::int64_t j, std::uint64_t seed) {
  return element<T>({i, j}, seed);
}
/// An element of a Hermitian matrix.
template <class T>
T hermitian(std::int64_t i, std::int64_t j, std::uint64_t seed) {
  const T value = element<T>({std::max(i, j), std::min(i, j)}, seed);
  return i > j ? value : (i < j ? conjugate(value) : T(std::real(value)));
}
/// An element of a positive definite matrix of order n.
template <class T>
T definite(std::int64_t i, std::int64_t j, std::int64_t n, std::uint64_t seed) {
  return hermitian<T>(i, j, seed) + (i == j ? T(static_cast<float>(2 * n + 1)) : T{});
}

inline Dense adjoint(const Dense& a) {
  Dense result(a.columns, a.rows);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t j = 0; j < a.columns; ++j) {
      result(j, i) = std::conj(a(i, j));
    }
  }
  return result;
}
inline Dense transposed(const Dense& a) {
  Dense result = adjoint(a);
  for (Wide& value : result.values) {
    value = std::conj(value);
  }
  return result;
}
inline Dense operator*(const Dense& a, const Dense& b) {
  return product(1, a, b, 0, Dense(a.rows, b.columns));
}
inline Dense identity(std::int64_t n) {
  Dense result(n, n);
  for (std::int64_t i = 0; i < n; ++i) {
    result(i, i) = 1;
  }
  return result;
}

/// The elements on and below (lower) or above the diagonal, the others 0; min(m, n) wide.
inline Dense triangle_of(const Dense& a, Triangle triangle, Diagonal diagonal = Diagonal::stored) {
  const std::int64_t k = std::min(a.rows, a.columns);
  const bool is_lower = triangle == Triangle::lower;
  Dense result(is_lower ? a.rows : k, is_lower ? k : a.columns);
  for (std::int64_t i = 0; i < result.rows; ++i) {
    for (std::int64_t j = 0; j < result.columns; ++j) {
      if (is_lower ? i >= j : i <= j) {
        result(i, j) = i == j && diagonal == Diagonal::unit ? Wide(1) : a(i, j);
      }
    }
  }
  return result;
}

/// The distance of two matrices, in units of n epsilon |size|.
template <class T>
double distance_in_epsilons(const Dense& a, const Dense& b, double size) {
  const auto n = static_cast<double>(std::max<std::int64_t>({a.rows, a.columns, 1}));
  return largest_difference(a, b) / (n * epsilon<T>() * std::max(size, 1.0));
}

/// A layout and a method of factorisation.
struct Setting {
  std::int64_t n;
  Kind kind;
  MemoryOrder order;
  MethodOptions how;
};

/// Collective. The methods that are possible on a team.
inline std::vector<Method> methods(const rma::Job& job, const rma::Team& team) {
  std::vector<Method> possible{Method::own};
  if (check_scalapack(job, team).ok()) {
    possible.push_back(Method::scalapack);
  }
  return possible;
}

/// Collective. Calls `body(setting, random)` for sizes and layouts of all kinds, with blocks small
/// enough that each rank has several.
template <class Body>
void for_each_setting(rma::Job& job, const rma::Team& team, Random& random, Body&& body) {
  for (const Method method : methods(job, team)) {
    for (const std::int64_t n : {0, 1, 2, 7, 37}) {
      for (const Kind kind : all_kinds) {
        const MemoryOrder order =
            pick(random, 0, 1) == 0 ? MemoryOrder::row_major : MemoryOrder::column_major;
        const Setting setting{n, kind, order, {.method = method, .block = pick(random, 0, 1) * 5}};
        SCOPED_TRACE(testing::Message()
                     << to_string(method) << ", n = " << n << ", kind " << static_cast<int>(kind)
                     << ", block " << setting.how.block
                     << (order == MemoryOrder::row_major ? ", row-major" : ", column-major"));
        body(setting, random);
      }
    }
  }
}

inline Distribution layout(const Setting& setting, const Extents& extents, const rma::Team& team,
                           Random& random) {
  return make_distribution(setting.kind, extents, team.size(), 4, setting.order, random);
}

/// `body(job, team, random)` with the team of all ranks.
template <class Body>
void on_the_world(Body&& body) {
  rma::test::on_ranks([&](rma::Job& job) {
    const rma::test::SharedSeed seed(job);
    body(job, job.world(), seed.generator(-1));
  });
}

/// As above, with teams of some ranks, whose team ranks differ from their ranks; skips the test
/// unless the job has 4 ranks.
template <class Body>
void on_teams_behind_rank_zero(Body&& body) {
  if (rma::test::rank_count() != 4) {
    GTEST_SKIP() << "for 4 ranks";
  }
  using Members = std::vector<rma::WorldRank>;
  for (const Members& members : {Members{{2}, {3}}, Members{{0}, {2}, {3}}}) {
    rma::test::on_ranks([&](rma::Job& job) {
      const rma::test::SharedSeed seed(job);
      if (std::find(members.begin(), members.end(), job.rank()) != members.end()) {
        rma::Team team = rma::Team::create(job, members).value();
        body(job, team, seed.generator(-1));
      }
    });
  }
}

}  // namespace tessera::linalg::test
