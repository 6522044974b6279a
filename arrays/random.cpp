// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/random.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "arrays/transform.hpp"

namespace tessera::arrays {

using rma::Code;
using rma::Status;

namespace {

constexpr std::uint32_t multiplier_0 = 0xD2511F53;
constexpr std::uint32_t multiplier_1 = 0xCD9E8D57;
constexpr std::uint32_t key_step_0 = 0x9E3779B9;
constexpr std::uint32_t key_step_1 = 0xBB67AE85;
constexpr int rounds = 10;

// Uniform in [0, 1), with all 53 bits of a double.
double unit(std::uint32_t high, std::uint32_t low) noexcept {
  const std::uint64_t bits = (std::uint64_t{high} << 32U | low) >> 11U;
  return static_cast<double>(bits) * 0x1p-53;
}

// Rounding may give the upper end, which is not in the range, or a value below the lower end.
template <class Real>
Real within(double x, const RandomRange& range) noexcept {
  const auto value = static_cast<Real>(range.low + x * (range.high - range.low));
  const auto low = static_cast<Real>(range.low);
  const auto high = static_cast<Real>(range.high);
  if (double{value} < range.low) {
    return std::nextafter(low, high);
  }
  return value < high ? value : std::nextafter(high, low);
}

template <rma::Element T>
T element(std::uint64_t position, std::uint64_t seed, const RandomRange& range) noexcept {
  const auto words = philox(
      {static_cast<std::uint32_t>(position), static_cast<std::uint32_t>(position >> 32U), 0, 0},
      {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32U)});
  if constexpr (rma::ComplexElement<T>) {
    using Real = rma::RealOf<T>;
    return T(within<Real>(unit(words[0], words[1]), range),
             within<Real>(unit(words[2], words[3]), range));
  } else if constexpr (rma::IntegerElement<T>) {
    const double count = range.high - range.low + 1;
    return static_cast<T>(range.low + std::floor(unit(words[0], words[1]) * count));
  } else {
    return within<T>(unit(words[0], words[1]), range);
  }
}

template <rma::Element T>
Status check_range(const RandomRange& range) {
  bool is_good = std::isfinite(range.low) && std::isfinite(range.high) &&
                 std::isfinite(range.high - range.low);
  if constexpr (rma::IntegerElement<T>) {
    constexpr double max_exact = 0x1p53;
    is_good =
        is_good && range.low <= range.high && range.low == std::floor(range.low) &&
        range.high == std::floor(range.high) && range.high - range.low < max_exact &&
        range.low >= std::max(-max_exact, static_cast<double>(std::numeric_limits<T>::min())) &&
        range.high <= std::min(max_exact, static_cast<double>(std::numeric_limits<T>::max()));
  } else {
    constexpr double most = std::numeric_limits<rma::RealOf<T>>::max();
    is_good = is_good && range.low < range.high && range.low >= -most && range.high <= most;
  }
  return is_good ? Status()
                 : Status::error(
                       Code::invalid_argument,
                       fmt::format("random elements of type {} can't be between {} and {}",
                                   rma::to_string(rma::element_type<T>()), range.low, range.high))
                       .hint(
                           "the lower bound must come first; both must fit the type; bounds of "
                           "integers must be whole numbers of at most 53 bits");
}

}  // namespace

std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                    std::array<std::uint32_t, 2> key) noexcept {
  for (int round = 0; round < rounds; ++round) {
    const std::uint64_t product_0 = std::uint64_t{multiplier_0} * counter[0];
    const std::uint64_t product_1 = std::uint64_t{multiplier_1} * counter[2];
    counter = {static_cast<std::uint32_t>(product_1 >> 32U) ^ counter[1] ^ key[0],
               static_cast<std::uint32_t>(product_1),
               static_cast<std::uint32_t>(product_0 >> 32U) ^ counter[3] ^ key[1],
               static_cast<std::uint32_t>(product_0)};
    key[0] += key_step_0;
    key[1] += key_step_1;
  }
  return counter;
}

template <rma::Element T>
Status detail::fill_random(const Subarray<T>& part, std::uint64_t seed, const RandomRange& range) {
  const Strides strides = dense_strides(part.array().extents());
  const Index origin = Index::zeros(part.array().ndims());
  const auto set = [&](const Index& at, T& value) {
    value = element<T>(static_cast<std::uint64_t>(distance(origin, at, strides)), seed, range);
  };
  return visit_elements(
      "fill_random", part, set, check_range<T>(range).context("fill_random"),
      CallSignature().add_scalar(seed).add_scalar(range.low).add_scalar(range.high));
}

template Status detail::fill_random(const Subarray<std::int8_t>&, std::uint64_t,
                                    const RandomRange&);
template Status detail::fill_random(const Subarray<std::int16_t>&, std::uint64_t,
                                    const RandomRange&);
template Status detail::fill_random(const Subarray<std::int32_t>&, std::uint64_t,
                                    const RandomRange&);
template Status detail::fill_random(const Subarray<std::int64_t>&, std::uint64_t,
                                    const RandomRange&);
template Status detail::fill_random(const Subarray<std::uint8_t>&, std::uint64_t,
                                    const RandomRange&);
template Status detail::fill_random(const Subarray<std::uint16_t>&, std::uint64_t,
                                    const RandomRange&);
template Status detail::fill_random(const Subarray<std::uint32_t>&, std::uint64_t,
                                    const RandomRange&);
template Status detail::fill_random(const Subarray<std::uint64_t>&, std::uint64_t,
                                    const RandomRange&);
template Status detail::fill_random(const Subarray<float>&, std::uint64_t, const RandomRange&);
template Status detail::fill_random(const Subarray<double>&, std::uint64_t, const RandomRange&);
template Status detail::fill_random(const Subarray<std::complex<float>>&, std::uint64_t,
                                    const RandomRange&);
template Status detail::fill_random(const Subarray<std::complex<double>>&, std::uint64_t,
                                    const RandomRange&);

}  // namespace tessera::arrays
