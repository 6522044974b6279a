// SPDX-License-Identifier: BSD-3-Clause
//
// Random elements that depend on the seed and on their index alone, not on how the array is
// distributed nor over how many ranks: the same seed gives the same array everywhere.
//
//     fill_random(a, 42);                       // uniform in [0, 1)
//     fill_random(a, 42, {.low = -1, .high = 1});
//
// The numbers are those of Philox 4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers:
// as easy as 1, 2, 3", 2011), a function of a counter and a key: here the element's place in
// row-major order of the whole array, and the seed. A part of an array gets what it would get if
// all of the array were filled.
#pragma once

#include <array>
#include <complex>
#include <cstdint>

#include "arrays/elementwise.hpp"
#include "arrays/part.hpp"
#include "rma/result.hpp"

namespace tessera::arrays {

/// Four random words for each counter and key.
[[nodiscard]] std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                                  std::array<std::uint32_t, 2> key) noexcept;

/// Real elements are in [low, high), both parts of complex ones too, integers in [low, high].
struct RandomRange {
  double low = 0;
  double high = 1;
};

namespace detail {
template <rma::Element T>
rma::Status fill_random(const Part<T>& part, std::uint64_t seed, const RandomRange& range);
extern template rma::Status fill_random(const Part<std::int8_t>&, std::uint64_t,
                                        const RandomRange&);
extern template rma::Status fill_random(const Part<std::int16_t>&, std::uint64_t,
                                        const RandomRange&);
extern template rma::Status fill_random(const Part<std::int32_t>&, std::uint64_t,
                                        const RandomRange&);
extern template rma::Status fill_random(const Part<std::int64_t>&, std::uint64_t,
                                        const RandomRange&);
extern template rma::Status fill_random(const Part<std::uint8_t>&, std::uint64_t,
                                        const RandomRange&);
extern template rma::Status fill_random(const Part<std::uint16_t>&, std::uint64_t,
                                        const RandomRange&);
extern template rma::Status fill_random(const Part<std::uint32_t>&, std::uint64_t,
                                        const RandomRange&);
extern template rma::Status fill_random(const Part<std::uint64_t>&, std::uint64_t,
                                        const RandomRange&);
extern template rma::Status fill_random(const Part<float>&, std::uint64_t, const RandomRange&);
extern template rma::Status fill_random(const Part<double>&, std::uint64_t, const RandomRange&);
extern template rma::Status fill_random(const Part<std::complex<float>>&, std::uint64_t,
                                        const RandomRange&);
extern template rma::Status fill_random(const Part<std::complex<double>>&, std::uint64_t,
                                        const RandomRange&);
}  // namespace detail

/// Collective. Errors: as fill(); invalid_argument for a range that is empty, not finite, or beyond
/// what the type or, of integers, 53 bits can hold, and for seeds or ranges that differ among
/// members.
template <Operand A>
rma::Status fill_random(A&& result, std::uint64_t seed, const RandomRange& range = {}) {
  return detail::fill_random<NumberOf<A>>(part(result), seed, range);
}

}  // namespace tessera::arrays
