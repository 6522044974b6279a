// SPDX-License-Identifier: BSD-3-Clause
//
// Lack of memory on one member, in operations on dense matrices and arrays (no_memory.hpp).
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <numbers>
#include <optional>
#include <vector>

#include "arrays/gather.hpp"
#include "arrays/reductions.hpp"
#include "arrays/scan.hpp"
#include "linalg/eigen.hpp"
#include "linalg/factor.hpp"
#include "linalg/gemm.hpp"
#include "linalg/least_squares.hpp"
#include "linalg/solve.hpp"
#include "linalg/svd.hpp"
#include "tests/linalg/ranks/no_memory.hpp"

namespace tessera::linalg {
namespace {

using arrays::Array;
using arrays::Index;
using rma::Job;
using rma::Status;
using test::cyclic_vector;
using test::Element;
using test::elements;
using test::expect_all_report;
using test::expect_elements;
using test::keep;
using test::matrix;
using test::nothing;
using test::number_at;
using test::ok;
using test::Operation;
using test::product;
using test::set;
using test::vector;
using test::writing;

// ---- Dense matrices

constexpr std::int64_t order = 300;
constexpr double tolerance = 1e-10;
constexpr MethodOptions by_blocks{.block = 32};

double well_conditioned(std::int64_t i, std::int64_t j) {
  return number_at(i, j) + (i == j ? 4.0 * order : 0.0);
}
double definite(std::int64_t i, std::int64_t j) {
  return number_at(std::max(i, j), std::min(i, j)) + (i == j ? 4.0 * order : 0.0);
}
double one(std::int64_t /*i*/, std::int64_t /*j*/) {
  return 1;
}

// An operation on A, and B = A X with X of ones.
struct System {
  System(Job& job, Element element)
      : element_of_a(std::move(element)),
        a(matrix(job, order, order, element_of_a)),
        b(matrix(job, order, 3, one)),
        x(matrix(job, order, 3, number_at)) {}
  void set() {
    linalg::set(a, element_of_a);
    linalg::set(b, product(element_of_a, one, order));
  }

  Element element_of_a;
  Array<double> a;
  Array<double> b;
  Array<double> x;
  std::optional<Pivots> pivots;
  std::optional<std::vector<double>> values;
};

Operation on_system(Job& job, Element element, std::function<Status(System&)> run,
                    std::function<void(System&)> check) {
  const auto system = std::make_shared<System>(job, std::move(element));
  return {.prepare = [=] { system->set(); },
          .run = [=] { return run(*system); },
          .check = [=] { check(*system); }};
}

void expect_ones(System& system) {
  expect_elements(system.b, one, tolerance);
}

TEST(NoMemory, InLu) {
  expect_all_report([](Job& job) {
    return on_system(
        job, well_conditioned,
        [](System& system) { return keep(lu(system.a, by_blocks), system.pivots); },
        [](System& system) {
          EXPECT_TRUE(ok(solve_lu(system.a, *system.pivots, system.b)));
          expect_ones(system);
        });
  });
}
TEST(NoMemory, InCholesky) {
  expect_all_report([](Job& job) {
    auto operation = on_system(
        job, definite, [](System& system) { return cholesky(system.a, {.how = by_blocks}); },
        [](System& system) {
          EXPECT_TRUE(ok(solve_cholesky(system.a, system.b)));
          expect_ones(system);
        });
    operation.may_need_nothing = true;
    return operation;
  });
}
// A = QR implies AᵀA = RᵀR.
void expect_factor_of_qr(const System& system) {
  const std::vector<double> values = elements(system.a);
  const Element r = [&](std::int64_t i, std::int64_t j) {
    return i <= j ? values[static_cast<std::size_t>(i * order + j)] : 0.0;
  };
  const auto gram = [](const Element& a) {
    return product([=](std::int64_t i, std::int64_t k) { return a(k, i); }, a, order);
  };
  const Element of_a = gram(system.element_of_a);
  const Element of_r = gram(r);
  for (std::int64_t i = 0; i < order; ++i) {
    EXPECT_NEAR(of_a(i, (i * 7) % order), of_r(i, (i * 7) % order), 1e-6);
  }
}
TEST(NoMemory, InQr) {
  expect_all_report([](Job& job) {
    return on_system(
        job, well_conditioned, [](System& system) { return qr(system.a, by_blocks).status(); },
        expect_factor_of_qr);
  });
}
TEST(NoMemory, InSolve) {
  expect_all_report([](Job& job) {
    return on_system(
        job, well_conditioned, [](System& system) { return solve(system.a, system.b); },
        expect_ones);
  });
}
TEST(NoMemory, InSolvePositiveDefinite) {
  expect_all_report([](Job& job) {
    return on_system(
        job, definite, [](System& system) { return solve_positive_definite(system.a, system.b); },
        expect_ones);
  });
}
TEST(NoMemory, InLeastSquares) {
  expect_all_report([](Job& job) {
    return on_system(
        job, well_conditioned,
        [](System& system) { return least_squares(system.a, system.b, system.x); },
        [](System& system) { expect_elements(system.x, one, tolerance); });
  });
}
TEST(NoMemory, InInvertPositiveDefinite) {
  expect_all_report([](Job& job) {
    return on_system(
        job, definite, [](System& system) { return invert_positive_definite(system.a); },
        [](System& system) {
          EXPECT_TRUE(ok(gemm(system.a, system.b, system.x)));  // A⁻¹ B
          expect_elements(system.x, one, tolerance);
        });
  });
}

// −1 2 −1 around the diagonal: eigenvalues, and singular values, are known.
double second_difference(std::int64_t i, std::int64_t j) {
  return i == j ? 2.0 : std::abs(i - j) == 1 ? -1.0 : 0.0;
}
double eigenvalue_of_it(std::int64_t k) {
  return 2 - 2 * std::cos(static_cast<double>(k + 1) * std::numbers::pi / (order + 1));
}
TEST(NoMemory, InEigenvalues) {
  expect_all_report([](Job& job) {
    return on_system(
        job, second_difference,
        [](System& system) { return keep(eigenvalues(system.a), system.values); },
        [](System& system) {
          for (std::int64_t k = 0; k < order; ++k) {
            EXPECT_NEAR(system.values->at(static_cast<std::size_t>(k)), eigenvalue_of_it(k),
                        tolerance);
          }
        });
  });
}
TEST(NoMemory, InSingularValues) {
  expect_all_report([](Job& job) {
    return on_system(
        job, second_difference,
        [](System& system) { return keep(singular_values(system.a), system.values); },
        [](System& system) {
          for (std::int64_t k = 0; k < order; ++k) {
            EXPECT_NEAR(system.values->at(static_cast<std::size_t>(order - 1 - k)),
                        eigenvalue_of_it(k), tolerance);
          }
        });
  });
}
TEST(NoMemory, InGemm) {
  expect_all_report([](Job& job) {
    const auto a = std::make_shared<Array<double>>(matrix(job, order, order, number_at));
    const auto c = std::make_shared<Array<double>>(matrix(job, order, order, one));
    auto operation = writing(
        c, [=] { return gemm(*a, *a, *c); }, product(number_at, number_at, order));
    operation.may_need_nothing = true;
    return operation;
  });
}

// ---- Arrays

constexpr std::int64_t length = 5000;

// Vectors of number_at(i, 0), and a mask of every third element.
struct Vectors {
  explicit Vectors(Job& job)
      : from(vector(job, length)),
        to(cyclic_vector(job, length)),
        mask(Array<std::int32_t>::create(job, {length}).value()) {
    rma::require(arrays::for_each_element(
        mask, [](const Index& at, std::int32_t& value) { value = at[0] % 3 == 0 ? 1 : 0; }));
  }
  Array<double> from;
  Array<double> to;
  Array<std::int32_t> mask;
};

Operation on_vectors(Job& job, std::function<Status(Vectors&)> run,
                     std::function<double(std::int64_t)> element) {
  const auto vectors = std::make_shared<Vectors>(job);
  return {.prepare = [=] { EXPECT_TRUE(ok(arrays::fill(vectors->to, 0.0))); },
          .run = [=] { return run(*vectors); },
          .check =
              [=] {
                expect_elements(vectors->to,
                                [&](std::int64_t i, std::int64_t) { return element(i); });
              }};
}

TEST(NoMemory, InTransform) {
  expect_all_report([](Job& job) {
    auto operation = on_vectors(
        job,
        [](Vectors& vectors) {
          return arrays::transform(
              vectors.to, [](double x) { return 2 * x; }, vectors.from);
        },
        [](std::int64_t i) { return 2 * number_at(i, 0); });
    operation.may_need_nothing = true;
    return operation;
  });
}
TEST(NoMemory, InScans) {
  expect_all_report([](Job& job) {
    return on_vectors(
        job,
        [](Vectors& vectors) { return arrays::scan_add(vectors.from, vectors.mask, vectors.to); },
        [](std::int64_t i) {
          double sum = 0;
          for (std::int64_t k = i - i % 3; k <= i; ++k) {
            sum += number_at(k, 0);
          }
          return sum;
        });
  });
}
TEST(NoMemory, InPack) {
  expect_all_report([](Job& job) {
    return on_vectors(
        job,
        [](Vectors& vectors) {
          return arrays::pack(vectors.from, vectors.mask, vectors.to).status();
        },
        [](std::int64_t i) { return 3 * i < length ? number_at(3 * i, 0) : 0.0; });
  });
}
TEST(NoMemory, InUnpack) {
  expect_all_report([](Job& job) {
    return on_vectors(
        job,
        [](Vectors& vectors) {
          return arrays::unpack(vectors.from, vectors.mask, vectors.to).status();
        },
        [](std::int64_t i) { return i % 3 == 0 ? number_at(i / 3, 0) : 0.0; });
  });
}
TEST(NoMemory, InReductions) {
  expect_all_report([](Job& job) -> Operation {
    const auto a = std::make_shared<Array<double>>(vector(job, length));
    const auto b = std::make_shared<Array<double>>(cyclic_vector(job, length));
    const auto wide = std::make_shared<Array<double>>(matrix(job, 4, length, number_at));
    const auto found = std::make_shared<std::vector<double>>(3);
    return {.prepare = nothing,
            .run = [=]() -> Status {
              TESSERA_ASSIGN_OR_RETURN((*found)[0], arrays::sum(*a));
              TESSERA_ASSIGN_OR_RETURN((*found)[1], arrays::dot(*a, *b));
              TESSERA_ASSIGN_OR_RETURN((*found)[2], arrays::norm1(*wide));
              return {};
            },
            .check =
                [=] {
                  double sum = 0;
                  double squares = 0;
                  for (std::int64_t i = 0; i < length; ++i) {
                    sum += number_at(i, 0);
                    squares += number_at(i, 0) * number_at(i, 0);
                  }
                  EXPECT_EQ((*found)[0], sum);
                  EXPECT_EQ((*found)[1], squares);
                  double largest = 0;
                  for (std::int64_t j = 0; j < 7; ++j) {  // the period of number_at()
                    double column = 0;
                    for (std::int64_t i = 0; i < 4; ++i) {
                      column += std::abs(number_at(i, j));
                    }
                    largest = std::max(largest, column);
                  }
                  EXPECT_EQ((*found)[2], largest);
                }};
  });
}
TEST(NoMemory, InGather) {
  expect_all_report([](Job& job) -> Operation {
    const auto vectors = std::make_shared<Vectors>(job);
    const auto values = std::make_shared<std::vector<double>>(length);
    const auto places = std::make_shared<std::vector<Index>>();
    for (std::int64_t i = 0; i < length; ++i) {
      places->push_back(Index{length - 1 - i});
    }
    return {.prepare = nothing,
            .run = [=] { return arrays::gather(vectors->from, *places, *values); },
            .check =
                [=] {
                  for (std::int64_t i = 0; i < length; ++i) {
                    ASSERT_EQ((*values)[static_cast<std::size_t>(i)], number_at(length - 1 - i, 0));
                  }
                },
            .is_collective = false,
            .may_need_nothing = true};
  });
}

}  // namespace
}  // namespace tessera::linalg
