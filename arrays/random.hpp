// SPDX-License-Identifier: BSD-3-Clause
//
// Random elements that depend only on the seed and on their index, not on the distribution of the
// array or the number of ranks: the same seed gives the same array everywhere.
//
//     fill_random(a, 42);                       // uniform in [0, 1)
//     fill_random(a, 42, {.low = -1, .high = 1});
//
// The numbers are those of Philox 4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers:
// as easy as 1, 2, 3", 2011). Philox is a function of a counter and a key: here the key is the seed
// argument and the counter is the element's number in row-major order of the whole array. A part of
// an array gets the values that it would get if the whole array were filled.
#pragma once

#include <array>
#include <complex>
#include <cstdint>

#include "arrays/elementwise.hpp"
#include "arrays/subarray.hpp"
#include "rma/base/result.hpp"

namespace tessera::arrays {

/// Four random words for each counter and key.
[[nodiscard]] std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                                  std::array<std::uint32_t, 2> key) noexcept;

/// Real elements, and both parts of complex ones, are in [low, high); integers are in [low, high].
struct RandomRange {
  double low = 0;
  double high = 1;
};

namespace detail {
template <rma::Element T>
rma::Status fill_random(const Subarray<T>& part, std::uint64_t seed, const RandomRange& range);
extern template rma::Status fill_random(const Subarray<std::int8_t>&, std::uint64_t,
                                        const RandomRange&);
extern template rma::Status fill_random(const Subarray<std::int16_t>&, std::uint64_t,
                                        const RandomRange&);
extern template rma::Status fill_random(const Subarray<std::int32_t>&, std::uint64_t,
                                        const RandomRange&);
extern template rma::Status fill_random(const Subarray<std::int64_t>&, std::uint64_t,
                                        const RandomRange&);
extern template rma::Status fill_random(const Subarray<std::uint8_t>&, std::uint64_t,
                                        const RandomRange&);
extern template rma::Status fill_random(const Subarray<std::uint16_t>&, std::uint64_t,
                                        const RandomRange&);
extern template rma::Status fill_random(const Subarray<std::uint32_t>&, std::uint64_t,
                                        const RandomRange&);
extern template rma::Status fill_random(const Subarray<std::uint64_t>&, std::uint64_t,
                                        const RandomRange&);
extern template rma::Status fill_random(const Subarray<float>&, std::uint64_t, const RandomRange&);
extern template rma::Status fill_random(const Subarray<double>&, std::uint64_t, const RandomRange&);
extern template rma::Status fill_random(const Subarray<std::complex<float>>&, std::uint64_t,
                                        const RandomRange&);
extern template rma::Status fill_random(const Subarray<std::complex<double>>&, std::uint64_t,
                                        const RandomRange&);
}  // namespace detail

/// Collective. Fills an array, or a part of one. Errors: as fill(); invalid_argument for seeds or
/// ranges that differ among members, and for a range that is empty, not finite, or too large for
/// the type. Integer ranges are also limited to 53 bits.
template <Operand A>
rma::Status fill_random(A&& result, std::uint64_t seed, const RandomRange& range = {}) {
  return detail::fill_random<NumberOf<A>>(part(result), seed, range);
}

}  // namespace tessera::arrays
