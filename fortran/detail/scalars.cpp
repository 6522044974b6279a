// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/detail/scalars.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <complex>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>

#include "rma/element.hpp"

namespace tessera::fapi {

using arrays::ElementKind;
using rma::Result;
using rma::Status;

namespace {

/// A given number before its conversion.
struct Number {
  bool is_integer = false;
  bool is_single = false;  ///< a real32, or two of them
  bool is_complex = false;
  std::int64_t integer = 0;
  double real = 0;
  double imaginary = 0;
};

template <class T>
T read(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class Real>
Number complex_at(const void* from) {
  const auto value = read<std::complex<Real>>(from);
  return {.is_single = std::is_same_v<Real, float>,
          .is_complex = true,
          .real = value.real(),
          .imaginary = value.imag()};
}

/// Empty if the descriptor is not a number of a Fortran kind.
std::optional<Number> number_at(const Descriptor& given) {
  const void* const from = given.base_addr;
  switch (given.type) {
    case CFI_type_int8_t:
      // gfortran 12 may describe a text in this way.
      return given.elem_len == 1
                 ? std::optional(Number{.is_integer = true, .integer = read<std::int8_t>(from)})
                 : std::nullopt;
    case CFI_type_int16_t:
      return Number{.is_integer = true, .integer = read<std::int16_t>(from)};
    case CFI_type_int32_t:
      return Number{.is_integer = true, .integer = read<std::int32_t>(from)};
    case CFI_type_int64_t:
      return Number{.is_integer = true, .integer = read<std::int64_t>(from)};
    case CFI_type_float:
      return Number{.is_single = true, .real = read<float>(from)};
    case CFI_type_double:
      return Number{.real = read<double>(from)};
    case CFI_type_float_Complex:
      return complex_at<float>(from);
    case CFI_type_double_Complex:
      return complex_at<double>(from);
    default:
      return std::nullopt;
  }
}

/// The shortest decimal number for a real32: what the program wrote as a literal.
std::string digits_of(double value, bool is_single) {
  return is_single ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value);
}

std::string text_of(const Number& number) {
  if (number.is_integer) {
    return fmt::format("{}", number.integer);
  }
  const std::string real = digits_of(number.real, number.is_single);
  return number.is_complex
             ? fmt::format("({}, {})", real, digits_of(number.imaginary, number.is_single))
             : real;
}

/// Converts a part of a number to a Real, if that has the same digits.
template <class Real>
std::optional<Real> same_real(double part, bool is_single) {
  if (std::isnan(part)) {
    return std::numeric_limits<Real>::quiet_NaN();
  }
  if (is_single && std::is_same_v<Real, double> && std::isfinite(part)) {
    const std::string digits = digits_of(part, true);
    double written = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), written);
    return written == part ? std::optional<Real>(static_cast<Real>(part)) : std::nullopt;
  }
  const auto same = static_cast<Real>(part);
  return static_cast<double>(same) == part ? std::optional(same) : std::nullopt;
}

template <class Real>
std::optional<Real> as_real(const Number& number) {
  if (!number.is_integer) {
    return same_real<Real>(number.real, number.is_single);
  }
  // A long double holds every 64-bit integer.
  const auto same = static_cast<Real>(number.integer);
  return static_cast<long double>(same) == static_cast<long double>(number.integer)
             ? std::optional(same)
             : std::nullopt;
}

template <class Whole>
std::optional<Whole> as_integer(const Number& number) {
  std::int64_t value = number.integer;
  if (!number.is_integer) {
    constexpr double limit = 9223372036854775808.0;  // 2^63
    if (!(number.real >= -limit && number.real < limit) || number.real != std::trunc(number.real)) {
      return std::nullopt;
    }
    value = static_cast<std::int64_t>(number.real);
  }
  const auto same = static_cast<Whole>(value);
  const bool is_same =
      static_cast<std::int64_t>(same) == value && (value >= 0 || std::is_signed_v<Whole>);
  return is_same ? std::optional(same) : std::nullopt;
}

template <class T>
std::optional<T> converted(const Number& number) {
  if constexpr (requires { typename T::value_type; }) {
    using Real = typename T::value_type;
    const auto real = as_real<Real>(number);
    const auto imaginary = same_real<Real>(number.imaginary, number.is_single);
    return real && imaginary ? std::optional(T(*real, *imaginary)) : std::nullopt;
  } else if constexpr (std::is_floating_point_v<T>) {
    return number.is_complex ? std::nullopt : as_real<T>(number);
  } else {
    return number.is_complex ? std::nullopt : as_integer<T>(number);
  }
}

Status other_digits(const Number& number, const Descriptor& given, const ElementKind& kind,
                    std::string_view what) {
  return wrong(fmt::format("{} is {} of {}, but {} is needed, which cannot represent these digits",
                           what, text_of(number), type_text(given), type_text(kind)))
      .hint("write the number in that kind, for example 0.1_real64");
}

Status check_single(const Descriptor* given, std::string_view what) {
  TESSERA_RETURN_IF_ERROR(check_allocated(given, what));
  return given->rank == 0
             ? Status()
             : wrong(fmt::format("{} has rank {}; it must be a scalar", what, int{given->rank}));
}

}  // namespace

Result<Scalar> scalar_of(const ElementKind& kind, const Descriptor* given, std::string_view what) {
  if (given == nullptr) {
    return Scalar();
  }
  const Status own = check_elements(kind, given, what);
  if (own.ok()) {
    TESSERA_RETURN_IF_ERROR(check_single(given, what));
    return Scalar(given->base_addr);
  }
  TESSERA_RETURN_IF_ERROR(check_single(given, what));
  const auto number = number_at(*given);
  if (!number || !kind.type) {
    return own;
  }
  return rma::dispatch(*kind.type, [&]<class T>(rma::Tag<T>) -> Result<Scalar> {
    const std::optional<T> same = converted<T>(*number);
    if (!same) {
      return other_digits(*number, *given, kind, what);
    }
    return Scalar::converted(*same);
  });
}

Result<std::int64_t> integer_of(const Descriptor* given, std::string_view what,
                                std::int64_t absent) {
  if (given == nullptr) {
    return absent;
  }
  TESSERA_RETURN_IF_ERROR(check_single(given, what));
  const auto number = number_at(*given);
  if (!number || !number->is_integer) {
    return wrong(fmt::format("{} is {}; it must be an integer", what, type_text(*given)));
  }
  return number->integer;
}

Result<double> real_of(const Descriptor* given, std::string_view what) {
  TESSERA_RETURN_IF_ERROR(check_single(given, what));
  const auto number = number_at(*given);
  if (!number || number->is_complex) {
    return wrong(fmt::format("{} is {}; it must be a real number", what, type_text(*given)));
  }
  const std::optional<double> same = as_real<double>(*number);
  if (!same) {
    return other_digits(*number, *given, ElementKind::of<double>(), what);
  }
  return *same;
}

}  // namespace tessera::fapi
