// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/elementwise.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "arrays/chunk_engine.hpp"
#include "arrays/detail/arithmetic.hpp"
#include "arrays/transform.hpp"

namespace tessera::arrays {

using rma::Code;
using rma::Status;

namespace {

// result = function(a, …); `verb` is the operation's name in messages.
template <class T, class Function, class... In>
Status compute(std::string_view verb, const Subarray<T>& result, Function&& function,
               const detail::CallSignature& scalars, const In&... in) {
  const std::array operands{writes(result), reads(in)...};
  const auto compute_chunk = [&](const Chunk& chunk) {
    detail::for_each_element_tuple<T, const typename In::value_type...>(
        chunk, [&](T& to, const auto&... values) { to = function(values...); });
    return Status();
  };
  return on_chunks(verb, operands, compute_chunk, {}, {}, scalars);
}

// element = function(element)
template <class T, class Function>
Status update(std::string_view verb, const Subarray<T>& result, Function&& function,
              const detail::CallSignature& scalars) {
  const std::array operands{writes(result)};
  const auto update_chunk = [&](const Chunk& chunk) {
    detail::for_each_element_tuple<T>(chunk, [&](T& element) { element = function(element); });
    return Status();
  };
  return on_chunks(verb, operands, update_chunk, {}, {}, scalars);
}

// Collective. Divides by all nonzero elements of one of the operands. `divide(chunk)` counts the
// zeros; the error about them is returned after everything else is done.
template <class Divide>
Status divide_on_chunks(std::string_view verb, std::span<const ChunkOperand> operands,
                        const ChunkOperand& divisors, Divide&& divide) {
  const detail::CallScope scope(verb, *operands[0].array);
  TESSERA_RETURN_IF_ERROR(begin_on_chunks(verb, operands));
  std::int64_t zeros = 0;
  Status own_status = for_each_chunk(operands, [&](const Chunk& chunk) {
    zeros += divide(chunk);
    return Status();
  });
  if (own_status.ok() && zeros > 0) {
    own_status =
        Status::error(
            Code::invalid_argument,
            fmt::format("integer division by zero in {} of {}: {} divisors of rank {} are zero",
                        to_string(divisors.box), divisors.array->describe(), zeros,
                        operands[0].array->job().rank().value))
            .hint(
                "these elements keep their values; all others "
                "are computed");
  }
  return operands[0].array->sync(std::move(own_status)).context(std::string(verb));
}

// Fetches what this rank owns of `to` from `from`, directly into place, with all transfers at the
// same time.
template <class T>
Status fetch_own(const Subarray<T>& from, const Subarray<T>& to) {
  rma::Handle fetches;
  const std::array operands{writes(to)};
  const Index shift = shift_between(to.box(), from.box());
  Status status = for_each_chunk(operands, [&](const Chunk& chunk) {
    fetches.collect(from.array().get_async(chunk.box.shifted(shift), chunk.template view<T>(0)));
    return Status();
  });
  Status fetched = fetches.wait();
  return status.ok() ? fetched : status;
}

}  // namespace

template <rma::Element T>
Status detail::Elementwise<T>::fill(const Subarray<T>& result, T value) {
  const std::array operands{writes(result)};
  const auto fill_chunk = [&](const Chunk& chunk) {
    for_each_element_tuple<T>(chunk, [value](T& element) { element = value; });
    return Status();
  };
  return on_chunks("fill", operands, fill_chunk, {}, {}, CallSignature().add_scalar(value));
}

template <rma::Element T>
Status detail::Elementwise<T>::scale(const Subarray<T>& result, T alpha) {
  return update(
      "scale", result, [alpha](T x) { return detail::multiply(alpha, x); },
      CallSignature().add_scalar(alpha));
}

template <rma::Element T>
Status detail::Elementwise<T>::add_constant(const Subarray<T>& result, T value) {
  return update(
      "add_constant", result, [value](T x) { return detail::add(x, value); },
      CallSignature().add_scalar(value));
}

template <rma::Element T>
Status detail::Elementwise<T>::absolute(const Subarray<T>& result) {
  return update("absolute", result, [](T x) { return detail::absolute(x); }, {});
}

template <rma::Element T>
Status detail::Elementwise<T>::reciprocal(const Subarray<T>& result) {
  const std::array operands{writes(result)};
  return divide_on_chunks("reciprocal", operands, operands[0], [](const Chunk& chunk) {
    std::int64_t zeros = 0;
    for_each_element_tuple<T>(chunk, [&zeros](T& x) {
      if (rma::IntegerElement<T> && x == T{0}) {
        ++zeros;
      } else {
        x = detail::divide(T{1}, x);
      }
    });
    return zeros;
  });
}

template <rma::Element T>
Status detail::Elementwise<T>::copy(const Subarray<T>& from, const Subarray<T>& to) {
  const std::array operands{writes(to), reads(from)};
  const CallScope scope("copy", to.array());
  TESSERA_RETURN_IF_ERROR(begin_on_chunks("copy", operands));
  return to.array().sync(fetch_own(from, to)).context("copy");
}

template <rma::Element T>
Status detail::Elementwise<T>::add(T alpha, const Subarray<T>& a, T beta, const Subarray<T>& b,
                                   const Subarray<T>& result) {
  return compute(
      "add", result,
      [=](T x, T y) { return detail::add(detail::multiply(alpha, x), detail::multiply(beta, y)); },
      CallSignature().add_scalar(alpha).add_scalar(beta), a, b);
}

template <rma::Element T>
Status detail::Elementwise<T>::multiply(const Subarray<T>& a, const Subarray<T>& b,
                                        const Subarray<T>& result) {
  return compute(
      "multiply", result, [](T x, T y) { return detail::multiply(x, y); }, {}, a, b);
}

template <rma::Element T>
Status detail::Elementwise<T>::divide(const Subarray<T>& a, const Subarray<T>& b,
                                      const Subarray<T>& result) {
  const std::array operands{writes(result), reads(a), reads(b)};
  return divide_on_chunks("divide", operands, operands[2], [](const Chunk& chunk) {
    std::int64_t zeros = 0;
    for_each_element_tuple<T, const T, const T>(chunk, [&zeros](T& to, const T& x, const T& y) {
      if (rma::IntegerElement<T> && y == T{0}) {
        ++zeros;
      } else {
        to = detail::divide(x, y);
      }
    });
    return zeros;
  });
}

template <rma::Element T>
Status detail::Elementwise<T>::maximum(const Subarray<T>& a, const Subarray<T>& b,
                                       const Subarray<T>& result) {
  return compute(
      "maximum", result,
      [](T x, T y) { return !is_nan(x) && (is_less(x, y) || is_nan(y)) ? y : x; }, {}, a, b);
}

template <rma::Element T>
Status detail::Elementwise<T>::minimum(const Subarray<T>& a, const Subarray<T>& b,
                                       const Subarray<T>& result) {
  return compute(
      "minimum", result,
      [](T x, T y) { return !is_nan(x) && (is_less(y, x) || is_nan(y)) ? y : x; }, {}, a, b);
}

template <rma::Element T>
Status detail::Elementwise<T>::median(const Subarray<T>& a, const Subarray<T>& b,
                                      const Subarray<T>& c, const Subarray<T>& result) {
  return compute(
      "median", result,
      [](T x, T y, T z) {
        if (is_nan(x) || is_nan(y)) {
          return is_nan(x) ? x : y;
        }
        const auto [low, high] = std::minmax(x, y, is_less<T>);
        return is_less(z, low) ? low : is_less(high, z) ? high : z;  // z if it is NaN
      },
      {}, a, b, c);
}

template struct detail::Elementwise<std::int8_t>;
template struct detail::Elementwise<std::int16_t>;
template struct detail::Elementwise<std::int32_t>;
template struct detail::Elementwise<std::int64_t>;
template struct detail::Elementwise<std::uint8_t>;
template struct detail::Elementwise<std::uint16_t>;
template struct detail::Elementwise<std::uint32_t>;
template struct detail::Elementwise<std::uint64_t>;
template struct detail::Elementwise<float>;
template struct detail::Elementwise<double>;
template struct detail::Elementwise<std::complex<float>>;
template struct detail::Elementwise<std::complex<double>>;

}  // namespace tessera::arrays
