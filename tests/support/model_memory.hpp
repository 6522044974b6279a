// SPDX-License-Identifier: BSD-3-Clause
//
// ModelMemory: the expected bytes of a region, computed serially, one byte and one element at a
// time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "rma/element.hpp"
#include "rma/shape.hpp"
#include "tests/support/random_shape.hpp"

namespace tessera::rma::test {

class ModelMemory {
 public:
  /// Zeroed, as a new region is.
  ModelMemory(std::int32_t ranks, std::size_t slice_bytes)
      : slices_(static_cast<std::size_t>(ranks), std::vector<std::byte>(slice_bytes)) {}

  [[nodiscard]] std::vector<std::byte>& slice(std::int32_t rank) {
    return slices_[static_cast<std::size_t>(rank)];
  }

  void put(std::int32_t rank, std::uint64_t offset, const std::byte* from, const CopyShape& shape) {
    if (shape.run_bytes == 0) {
      return;
    }
    std::byte* const to = slice(rank).data() + offset;
    for (const Run& run : runs_of(shape)) {
      std::copy_n(from + run.local, shape.run_bytes, to + run.remote);
    }
  }

  void get(std::int32_t rank, std::uint64_t offset, std::byte* to, const CopyShape& shape) {
    if (shape.run_bytes == 0) {
      return;
    }
    const std::byte* const from = slice(rank).data() + offset;
    for (const Run& run : runs_of(shape)) {
      std::copy_n(from + run.remote, shape.run_bytes, to + run.local);
    }
  }

  void accumulate(std::int32_t rank, std::uint64_t offset, const std::byte* from,
                  const CopyShape& shape, const Scale& scale) {
    std::byte* const to = slice(rank).data() + offset;
    dispatch(scale.type(), [&]<class T>(Tag<T>) {
      for (const Run& run : runs_of(shape)) {
        for (std::size_t at = 0; at < shape.run_bytes; at += sizeof(T)) {
          T target;
          T source;
          std::memcpy(&target, to + run.remote + at, sizeof target);
          std::memcpy(&source, from + run.local + at, sizeof source);
          add_product(target, scale.as<T>(), source);
          std::memcpy(to + run.remote + at, &target, sizeof target);
        }
      }
    });
  }

 private:
  // Integers wrap around.
  template <class T>
  static void add_product(T& target, T factor, T source) {
    if constexpr (std::is_integral_v<T>) {
      using Wide = Wrapping<T>;
      target = static_cast<T>(static_cast<Wide>(target) +
                              static_cast<Wide>(factor) * static_cast<Wide>(source));
    } else {
      target += factor * source;
    }
  }

  std::vector<std::vector<std::byte>> slices_;
};

/// Fills `bytes` with random values.
inline void fill(std::mt19937_64& random, std::vector<std::byte>& bytes) {
  for (std::byte& byte : bytes) {
    byte = static_cast<std::byte>(random());
  }
}

/// Fills memory with elements of `type` that are small whole numbers, so that their sums are exact
/// in any order.
inline void fill_small(std::mt19937_64& random, ElementType type, std::byte* to,
                       std::size_t bytes) {
  dispatch(type, [&]<class T>(Tag<T>) {
    for (std::size_t at = 0; at + sizeof(T) <= bytes; at += sizeof(T)) {
      T value{};
      if constexpr (std::is_arithmetic_v<T>) {
        value = static_cast<T>(random_in(random, -9, 9));
      } else {
        using Part = typename T::value_type;
        value = T(static_cast<Part>(random_in(random, -9, 9)),
                  static_cast<Part>(random_in(random, -9, 9)));
      }
      std::memcpy(to + at, &value, sizeof value);
    }
  });
}

/// A factor for elements of `type`: a small whole number, sometimes one.
inline Scale random_scale(std::mt19937_64& random, ElementType type) {
  return dispatch(type, [&]<class T>(Tag<T>) {
    if (random_in(random, 0, 2) == 0) {
      return Scale::of(T{1});
    }
    T factor{};
    fill_small(random, type, reinterpret_cast<std::byte*>(&factor), sizeof factor);
    return Scale::of(factor);
  });
}

}  // namespace tessera::rma::test
