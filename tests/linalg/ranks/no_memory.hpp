// SPDX-License-Identifier: BSD-3-Clause
//
// Shared code of tests in which memory runs out. Each allocation of each rank fails in turn, until
// an operation completes without a failure; its result must be right then:
//
//     expect_all_report([](Job& job) -> Operation { … });
//
// All members return, all with an error or all without one, and continue with the next operation.
// Two kinds of allocations don't fail: those within rma, where a wait makes progress for others
// too, and small ones, which are objects of fixed size and messages. Tessera makes no such promise
// for them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "arrays/elementwise.hpp"
#include "arrays/transform.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/failing_operation.hpp"
#include "tests/support/rank_main.hpp"

namespace tessera::linalg::test {

using arrays::Array;
using arrays::Index;
using rma::Code;
using rma::Job;
using rma::Status;
using rma::test::ok;
using rma::test::on_ranks;

inline constexpr char library_of_rma[] = "libtessera_rma";
inline constexpr rma::test::FailingKind kind_of_failures{.min_bytes = 1024,
                                                         .except_within = library_of_rma};
/// The limit for one rank in one operation.
inline constexpr std::int64_t max_failures = 200;

using Operation = rma::test::FailingOperation;

/// Collective. Returns the number of allocations that failed.
inline std::int64_t fail_each_allocation(Job& job, const Operation& operation, std::int32_t rank) {
  std::int64_t number = 1;
  try {
    while (number <= max_failures &&
           rma::test::fail_allocation(job, operation, rank, number, kind_of_failures).has_failed) {
      ++number;
    }
  } catch (const std::bad_alloc&) {
    ADD_FAILURE() << "an exception leaves it, of allocation " << number;
    throw;  // the others don't wait any longer
  }
  return number - 1;
}

/// All members get an error for each failure, and the operation is right without one.
inline void expect_all_report(const std::function<Operation(Job&)>& make) {
  if (!rma::test::is_shared_library(library_of_rma)) {
    GTEST_SKIP() << "allocations of rma cannot be distinguished from others";
  }
  on_ranks([&](Job& job) {
    const Operation operation = make(job);
    std::int64_t failures = 0;
    for (std::int32_t rank = 0; rank < job.size(); ++rank) {
      failures += fail_each_allocation(job, operation, rank);
    }
    EXPECT_TRUE(failures > 0 || operation.may_need_nothing);
    operation.prepare();
    EXPECT_TRUE(ok(operation.run()));
    operation.check();
  });
}

// ---- Operands and oracles

inline double number_at(std::int64_t i, std::int64_t j) {
  return static_cast<double>((i * 5 + j * 3) % 7 - 3);
}

/// The element (i, j) of a matrix, or (i, 0) of a vector.
using Element = std::function<double(std::int64_t, std::int64_t)>;

/// Collective.
inline void set(Array<double>& array, const Element& element) {
  EXPECT_TRUE(ok(arrays::for_each_element(array, [&](const Index& at, double& value) {
    value = element(at[0], at.ndims() > 1 ? at[1] : 0);
  })));
}
inline Array<double> matrix(Job& job, std::int64_t rows, std::int64_t columns,
                            const Element& element) {
  auto array = Array<double>::create(job, {rows, columns}).value();
  set(array, element);
  return array;
}
inline Array<double> vector(Job& job, std::int64_t length) {
  auto array = Array<double>::create(job, {length}).value();
  set(array, number_at);
  return array;
}

/// As above, in blocks that are not contiguous on any rank.
inline Array<double> cyclic_vector(Job& job, std::int64_t length) {
  const auto partition = arrays::BlockPartition1D::by_size(length, 100).value();
  const auto block_map = arrays::BlockMap::round_robin({partition.blocks()}, job.size()).value();
  auto array = Array<double>::create(
                   job, arrays::Distribution::create(std::span(&partition, 1), block_map).value())
                   .value();
  set(array, number_at);
  return array;
}

/// One-sided.
inline std::vector<double> elements(const Array<double>& array) {
  std::vector<double> values(static_cast<std::size_t>(array.box().volume()));
  rma::require(array.get(array.box(), values));
  return values;
}
inline void expect_elements(const Array<double>& array, const Element& element,
                            double tolerance = 0) {
  const std::vector<double> values = elements(array);
  const std::int64_t columns = array.ndims() > 1 ? array.extents()[1] : 1;
  double most = 0;
  for (std::int64_t at = 0; at < std::ssize(values); ++at) {
    const double difference =
        values[static_cast<std::size_t>(at)] - element(at / columns, at % columns);
    most = std::max(most, std::abs(difference));
  }
  EXPECT_LE(most, tolerance);
}

/// Sum over k of a(i, k) b(k, j).
inline Element product(const Element& a, const Element& b, std::int64_t length) {
  return [=](std::int64_t i, std::int64_t j) {
    double sum = 0;
    for (std::int64_t k = 0; k < length; ++k) {
      sum += a(i, k) * b(k, j);
    }
    return sum;
  };
}

/// Stores the value of a result for a later check.
template <class T>
Status keep(rma::Result<T> result, std::optional<T>& kept) {
  Status status = result.status();
  if (result.ok()) {
    kept = std::move(result).take();
  }
  return status;
}

inline const auto nothing = [] {};

/// An operation that writes `result`, a dense array.
inline Operation writing(std::shared_ptr<Array<double>> result, std::function<Status()> run,
                         Element element, double tolerance = 0) {
  return {.prepare = nothing, .run = std::move(run), .check = [=] {
            expect_elements(*result, element, tolerance);
          }};
}

}  // namespace tessera::linalg::test
