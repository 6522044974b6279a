// SPDX-License-Identifier: BSD-3-Clause
//
// The other half of language_cases.f90: the same arrays in C++.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "arrays/array.hpp"
#include "fortran/c/tessera.h"
#include "fortran/detail/handles.hpp"
#include "tests/support/heap.h"

namespace {

using tessera::arrays::Array;
using tessera::arrays::Box;

Array<double>& array_of(tessera_array* handle) {
  return static_cast<Array<double>&>(tessera::capi::array_of(handle));
}

/// The generator of both programs: numbers from 0 below `limit`.
class Numbers {
 public:
  explicit Numbers(std::int64_t seed) : state_(seed) {}
  std::int64_t below(std::int64_t limit) {
    state_ = (state_ * 1103515245 + 12345) % 2147483648;
    return state_ / 65536 % limit;
  }

 private:
  std::int64_t state_;
};

}  // namespace

extern "C" {

/// Whether element (i, j) of Fortran's n x m array is 100 i + j for C++, which sees it as m x n.
int other_sees_rule(tessera_array* handle, int n, int m) {
  Array<double>& array = array_of(handle);
  if (array.extents() != tessera::arrays::Extents({m, n})) {
    return 0;
  }
  std::vector<double> seen(static_cast<std::size_t>(n * m));
  if (!array.get(array.box(), std::span(seen)).ok()) {
    return 0;
  }
  for (int j = 0; j < m; ++j) {
    for (int i = 0; i < n; ++i) {
      if (seen[static_cast<std::size_t>(j) * static_cast<std::size_t>(n) +
               static_cast<std::size_t>(i)] != 100.0 * (i + 1) + (j + 1)) {
        return 0;
      }
    }
  }
  return 1;
}

/// Collective. Makes an n x m array for Fortran with 100 i + j in it; null if that fails.
tessera_array* other_makes(tessera_job* job, tessera_team* team, int n, int m) {
  const std::array<std::int64_t, 2> extents = {m, n};
  tessera_array_options options;
  tessera_array_options_init(&options);
  options.team = team;
  options.name = "made in C++";
  tessera_array* made = nullptr;
  if (tessera_array_create(job, TESSERA_F64, 2, extents.data(), &options, &made) != 0) {
    return nullptr;
  }
  Array<double>& array = array_of(made);
  std::vector<double> values;
  for (int j = 1; j <= m; ++j) {
    for (int i = 1; i <= n; ++i) {
      values.push_back(100.0 * i + j);
    }
  }
  const bool is_first = array.team().rank().value == 0;
  const bool is_put = !is_first || array.put(array.box(), std::span<const double>(values)).ok();
  return array.sync().ok() && is_put ? made : nullptr;
}

int other_frees(tessera_array* made) {
  return tessera_array_free(&made);
}

/// One-sided. What random_operations of language_cases.f90 does, in C++.
int other_random_operations(tessera_array* handle, std::int64_t seed, int count) {
  Array<double>& array = array_of(handle);
  const std::int64_t m = array.extents()[0];
  const std::int64_t n = array.extents()[1];
  Numbers numbers(seed);
  for (int k = 0; k < count; ++k) {
    const std::int64_t kind = numbers.below(3);
    const std::int64_t i0 = numbers.below(n);
    const std::int64_t j0 = numbers.below(m);
    const std::int64_t i1 = i0 + numbers.below(n - i0) + 1;
    const std::int64_t j1 = j0 + numbers.below(m - j0) + 1;
    const Box box({j0, i0}, {j1, i1});
    std::vector<double> values(static_cast<std::size_t>(box.volume()));
    for (double& value : values) {
      value = static_cast<double>(numbers.below(1000)) / 7.0;
    }
    tessera::rma::Status status;
    if (kind == 0) {
      status = array.put(box, std::span<const double>(values));
    } else if (kind == 1) {
      status = array.accumulate(box, std::span<const double>(values), 0.3);
    } else {
      status = array.get(box, std::span(values));
      std::reverse(values.begin(), values.end());
      if (status.ok()) {
        status = array.put(box, std::span<const double>(values));
      }
    }
    if (!status.ok()) {
      return 1;
    }
  }
  return 0;
}

/// Local. What this process has allocated.
double test_megabytes_in_use() {
  return static_cast<double>(heap_bytes()) / (1 << 20);
}

/// Local. Whether this rank's memory of both has the same bytes.
int other_compares(tessera_array* a, tessera_array* b) {
  std::array<tessera_local_block, 2> blocks = {};
  std::array<tessera_access*, 2> access = {};
  if (tessera_access_begin(a, 0, &blocks[0], &access[0]) != 0 ||
      tessera_access_begin(b, 0, &blocks[1], &access[1]) != 0) {
    return 0;
  }
  const auto& [first, second] = blocks;
  std::size_t bytes = first.data == nullptr ? 0 : sizeof(double);
  bool is_same = (first.data == nullptr) == (second.data == nullptr);
  for (std::size_t dim = 0; dim < 2 && bytes > 0; ++dim) {
    is_same = is_same && first.lo[dim] == second.lo[dim] && first.hi[dim] == second.hi[dim] &&
              first.strides[dim] == second.strides[dim];
    bytes *= static_cast<std::size_t>(first.hi[dim] - first.lo[dim]);
  }
  is_same = is_same && (bytes == 0 || std::memcmp(first.data, second.data, bytes) == 0);
  tessera_access_end(&access[0]);
  tessera_access_end(&access[1]);
  return is_same ? 1 : 0;
}

}  // extern "C"
