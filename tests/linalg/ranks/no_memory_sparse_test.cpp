// SPDX-License-Identifier: BSD-3-Clause
//
// Lack of memory on one member, in operations on sparse matrices (no_memory.hpp).
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "linalg/count_sketch.hpp"
#include "linalg/sparse_builder.hpp"
#include "linalg/sparse_convert.hpp"
#include "linalg/sparse_dense.hpp"
#include "linalg/sparse_diagonal.hpp"
#include "linalg/sparse_product.hpp"
#include "linalg/spmv.hpp"
#include "tests/linalg/ranks/no_memory.hpp"

namespace tessera::linalg {
namespace {

using arrays::Array;
using arrays::Box;
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

constexpr std::int64_t n = 640;  // rows and columns of sparse matrices

// Element (i, j) of a sparse matrix; 0 if it is not an entry. Whole numbers: sums are exact.
double entry(std::int64_t i, std::int64_t j) {
  return (i + 3 * j) % 16 == 0 ? static_cast<double>(1 + (i * 7 + j * 3) % 5) : 0.0;
}

SparseBuilder<double> builder(Job& job, const SparseOptions& options = {}) {
  auto made = SparseBuilder<double>::create(job, n, n, options).value();
  for (std::int64_t i = job.rank().value; i < n; i += job.size()) {
    for (std::int64_t j = 0; j < n; ++j) {
      if (entry(i, j) != 0) {
        rma::require(made.add(i, j, entry(i, j)));
      }
    }
  }
  return made;
}
SparseMatrix<double> sparse(Job& job) {
  return builder(job).assemble().value();
}

// One-sided.
void expect_sparse(SparseMatrix<double>& matrix, const Element& element) {
  const auto all = matrix.get(Box::whole(matrix.extents())).value();
  for (std::int64_t i = 0; i < all.rows; i += 7) {
    std::vector<double> row(static_cast<std::size_t>(all.columns));
    for (auto k = all.row_starts[static_cast<std::size_t>(i)];
         k < all.row_starts[static_cast<std::size_t>(i) + 1]; ++k) {
      row[static_cast<std::size_t>(all.column[static_cast<std::size_t>(k)])] =
          all.value[static_cast<std::size_t>(k)];
    }
    for (std::int64_t j = 0; j < all.columns; ++j) {
      ASSERT_EQ(row[static_cast<std::size_t>(j)], element(i, j)) << i << ", " << j;
    }
  }
}

Operation assembly(Job& job, const SparseOptions& options) {
  struct State {
    std::optional<SparseBuilder<double>> builder;
    std::optional<SparseMatrix<double>> made;
  };
  const auto state = std::make_shared<State>();
  return {.prepare =
              [=, &job] {
                state->made.reset();
                state->builder.emplace(builder(job, options));
              },
          .run = [=] { return keep(state->builder->assemble(), state->made); },
          .check = [=] { expect_sparse(*state->made, entry); }};
}

TEST(NoMemory, InAssembly) {
  expect_all_report([](Job& job) { return assembly(job, {}); });
}
TEST(NoMemory, InBalancedAssembly) {
  expect_all_report([](Job& job) { return assembly(job, {.balance = RowBalance::entries}); });
}

// An operation that makes a sparse matrix from others, which it doesn't change.
Operation making(std::function<rma::Result<SparseMatrix<double>>()> make, Element element) {
  const auto made = std::make_shared<std::optional<SparseMatrix<double>>>();
  return {.prepare = [made] { made->reset(); },
          .run = [made, make = std::move(make)] { return keep(make(), *made); },
          .check = [made, element = std::move(element)] { expect_sparse(**made, element); }};
}

Operation reading_dense(Job& job, const SparseOptions& options) {
  const auto dense = std::make_shared<Array<double>>(matrix(job, n, n, entry));
  return making([=] { return from_dense(*dense, options); }, entry);
}

TEST(NoMemory, InFromDense) {
  expect_all_report([](Job& job) { return reading_dense(job, {}); });
}
TEST(NoMemory, InBalancedFromDense) {
  expect_all_report([](Job& job) { return reading_dense(job, {.balance = RowBalance::entries}); });
}

// As above; `from` is the matrix of entry().
Operation making_of_sparse(Job& job,
                           rma::Result<SparseMatrix<double>> (*make)(SparseMatrix<double>& from),
                           Element element) {
  const auto from = std::make_shared<SparseMatrix<double>>(sparse(job));
  return making([=] { return make(*from); }, std::move(element));
}

TEST(NoMemory, InTranspose) {
  expect_all_report([](Job& job) {
    return making_of_sparse(
        job, [](SparseMatrix<double>& from) { return transpose(from); },
        [](std::int64_t i, std::int64_t j) { return entry(j, i); });
  });
}
TEST(NoMemory, InProductsOfSparseMatrices) {
  expect_all_report([](Job& job) {
    return making_of_sparse(
        job, [](SparseMatrix<double>& from) { return multiply(from, from, "product"); },
        product(entry, entry, n));
  });
}
TEST(NoMemory, InSketches) {
  expect_all_report([](Job& job) {
    constexpr std::int64_t buckets = 20;
    const Element sketch = [](std::int64_t bucket, std::int64_t i) {
      const SketchBucket place = sketch_bucket(1, i, buckets);
      return place.bucket != bucket ? 0.0 : place.is_negative ? -1.0 : 1.0;
    };
    return making_of_sparse(
        job, [](SparseMatrix<double>& from) { return count_sketch(from, buckets, {.seed = 1}); },
        product(sketch, entry, n));
  });
}

TEST(NoMemory, InToDense) {
  expect_all_report([](Job& job) {
    const auto from = std::make_shared<SparseMatrix<double>>(sparse(job));
    const auto to = std::make_shared<Array<double>>(matrix(job, n, n, number_at));
    return writing(
        to, [=] { return to_dense(*from, *to); }, entry);
  });
}
TEST(NoMemory, InSparseTimesDense) {
  expect_all_report([](Job& job) {
    const auto a = std::make_shared<SparseMatrix<double>>(sparse(job));
    const auto b = std::make_shared<Array<double>>(matrix(job, n, 40, number_at));
    const auto c = std::make_shared<Array<double>>(matrix(job, n, 40, number_at));
    return writing(
        c, [=] { return multiply(*a, *b, *c); }, product(entry, number_at, n));
  });
}
TEST(NoMemory, InDenseTimesSparse) {
  expect_all_report([](Job& job) {
    const auto a = std::make_shared<Array<double>>(matrix(job, 40, n, number_at));
    const auto b = std::make_shared<SparseMatrix<double>>(sparse(job));
    const auto c = std::make_shared<Array<double>>(matrix(job, 40, n, number_at));
    return writing(
        c, [=] { return multiply(*a, *b, *c); }, product(number_at, entry, n));
  });
}

TEST(NoMemory, InScaleColumns) {
  expect_all_report([](Job& job) -> Operation {
    const auto a = std::make_shared<std::optional<SparseMatrix<double>>>();
    const auto factors = std::make_shared<Array<double>>(vector(job, n));
    return {.prepare = [=, &job] { *a = sparse(job); },
            .run = [=] { return scale_columns(**a, *factors); },
            .check =
                [=] {
                  expect_sparse(**a, [](std::int64_t i, std::int64_t j) {
                    return entry(i, j) * number_at(j, 0);
                  });
                }};
  });
}
TEST(NoMemory, InGetDiagonal) {
  expect_all_report([](Job& job) {
    const auto a = std::make_shared<SparseMatrix<double>>(sparse(job));
    const auto diagonal = std::make_shared<Array<double>>(vector(job, n));
    return writing(
        diagonal, [=] { return get_diagonal(*a, *diagonal); },
        [](std::int64_t i, std::int64_t) { return entry(i, i); });
  });
}

// y = A x, or x = transpose(A) y, with a new plan each time.
struct Spmv {
  Spmv(Job& job, const SpmvOptions& given)
      : options(given), a(sparse(job)), x(vector(job, n)), y(cyclic_vector(job, n)) {}
  Status make_plan() { return keep(SpmvPlan<double>::create(a, x, y, options), plan); }
  Status multiply() { return plan->multiply(a, x, y); }
  Status multiply_transposed() { return plan->multiply_transposed(a, y, x); }
  void set() {
    plan.reset();
    linalg::set(x, number_at);
    linalg::set(y, number_at);
  }

  SpmvOptions options;
  SparseMatrix<double> a;
  Array<double> x;
  Array<double> y;
  std::optional<SpmvPlan<double>> plan;
};

void expect_product(Job& job, Spmv& spmv) {
  rma::require(job.barrier());  // with neighbours_only some elements may not be complete yet
  expect_elements(spmv.y, product(entry, number_at, n));
}

Operation planning(Job& job, const SpmvOptions& options) {
  const auto spmv = std::make_shared<Spmv>(job, options);
  return {.prepare = [=] { spmv->set(); },
          .run = [=] { return spmv->make_plan(); },
          .check =
              [=, &job] {
                EXPECT_TRUE(ok(spmv->multiply()));
                expect_product(job, *spmv);
              }};
}
Operation multiplying(Job& job, const SpmvOptions& options) {
  const auto spmv = std::make_shared<Spmv>(job, options);
  return {.prepare =
              [=] {
                spmv->set();
                EXPECT_TRUE(ok(spmv->make_plan()));
              },
          .run = [=] { return spmv->multiply(); },
          .check = [=, &job] { expect_product(job, *spmv); },
          .is_collective = !options.neighbours_only};
}
Operation multiplying_transposed(Job& job, const SpmvOptions& options) {
  const auto spmv = std::make_shared<Spmv>(job, options);
  return {.prepare =
              [=] {
                spmv->set();
                EXPECT_TRUE(ok(spmv->make_plan()));
              },
          .run = [=] { return spmv->multiply_transposed(); },
          .check =
              [=] {
                const Element turned = [](std::int64_t i, std::int64_t j) { return entry(j, i); };
                expect_elements(spmv->x, product(turned, number_at, n));
              }};
}

const SpmvOptions kinds_of_spmv[] = {
    {},
    {.share_memory = false},
    {.share_memory = false, .neighbours_only = true},
    {.mode = SpmvMode::aggregate, .share_memory = false},
};

TEST(NoMemory, InPlans) {
  for (const SpmvOptions& options : kinds_of_spmv) {
    expect_all_report([&](Job& job) { return planning(job, options); });
  }
}
TEST(NoMemory, InSpmv) {
  for (const SpmvOptions& options : kinds_of_spmv) {
    expect_all_report([&](Job& job) { return multiplying(job, options); });
  }
}
TEST(NoMemory, InTransposedSpmv) {
  for (const SpmvOptions& options : kinds_of_spmv) {
    expect_all_report([&](Job& job) { return multiplying_transposed(job, options); });
  }
}

TEST(NoMemory, InGetOfSparseMatrices) {
  expect_all_report([](Job& job) -> Operation {
    const auto a = std::make_shared<SparseMatrix<double>>(sparse(job));
    const auto got = std::make_shared<std::optional<LocalCsr<double>>>();
    return {.prepare = nothing,
            .run = [=] { return keep(a->get(Box::whole(a->extents())), *got); },
            .check = [=] { EXPECT_EQ((*got)->entries(), a->entries()); },
            .is_collective = false};
  });
}
TEST(NoMemory, InAdd) {
  expect_all_report([](Job& job) -> Operation {
    const auto to = std::make_shared<std::optional<SparseBuilder<double>>>();
    const auto list = std::make_shared<std::vector<Triplet<double>>>(n);
    const auto add_all = [=]() -> Status {
      for (std::int64_t i = 0; i < n; ++i) {
        TESSERA_RETURN_IF_ERROR((*to)->add(i, 0, 1.0));
      }
      return (*to)->add(*list);
    };
    return {.prepare = [=, &job] { *to = SparseBuilder<double>::create(job, n, n).value(); },
            .run = add_all,
            .check = [=] { EXPECT_EQ((*to)->added(), 2 * n); },
            .is_collective = false};
  });
}

}  // namespace
}  // namespace tessera::linalg
