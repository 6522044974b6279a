// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/checkpoint/hdf5_types.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>

namespace tessera::arrays::detail {
namespace {

using rma::ElementType;

template <class T>
hid_t native_number() {
  if constexpr (std::is_floating_point_v<T>) {
    return sizeof(T) == sizeof(float) ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
  } else {
    constexpr bool has_sign = std::is_signed_v<T>;
    switch (sizeof(T)) {
      case 1:
        return has_sign ? H5T_NATIVE_INT8 : H5T_NATIVE_UINT8;
      case 2:
        return has_sign ? H5T_NATIVE_INT16 : H5T_NATIVE_UINT16;
      case 4:
        return has_sign ? H5T_NATIVE_INT32 : H5T_NATIVE_UINT32;
      default:
        return has_sign ? H5T_NATIVE_INT64 : H5T_NATIVE_UINT64;
    }
  }
}

template <class Real>
Hdf5Id complex_of() {
  Hdf5Id type(H5Tcreate(H5T_COMPOUND, 2 * sizeof(Real)));
  const hid_t part = native_number<Real>();
  const bool is_made = type.is_valid() && H5Tinsert(type.get(), "r", 0, part) >= 0 &&
                       H5Tinsert(type.get(), "i", sizeof(Real), part) >= 0;
  return is_made ? std::move(type) : Hdf5Id();
}

// The range of a type of numbers: integers of some bits, or floats.
struct NumberRange {
  bool is_float = false;
  bool has_sign = true;
  std::int64_t bits = 0;  // of an integer, including its sign, or of a float's fraction
  std::int64_t min_exponent = 0;
  std::int64_t max_exponent = 0;
};

NumberRange range_of(hid_t type) {
  NumberRange range;
  if (H5Tget_class(type) == H5T_INTEGER) {
    range.has_sign = H5Tget_sign(type) != H5T_SGN_NONE;
    range.bits = static_cast<std::int64_t>(H5Tget_precision(type));
    return range;
  }
  std::size_t sign = 0;
  std::size_t exponent = 0;
  std::size_t exponent_bits = 0;
  std::size_t fraction = 0;
  std::size_t fraction_bits = 0;
  H5Tget_fields(type, &sign, &exponent, &exponent_bits, &fraction, &fraction_bits);
  const auto bias = static_cast<std::int64_t>(std::min<std::size_t>(H5Tget_ebias(type), 1U << 30U));
  range.is_float = true;
  range.bits = static_cast<std::int64_t>(fraction_bits);
  range.min_exponent = 1 - bias;
  range.max_exponent = (std::int64_t{1} << std::min<std::size_t>(exponent_bits, 30)) - 2 - bias;
  return range;
}

template <class T>
NumberRange range_of() {
  if constexpr (std::is_integral_v<T>) {
    return {.has_sign = std::is_signed_v<T>, .bits = 8 * std::int64_t{sizeof(T)}};
  } else {
    using Limits = std::numeric_limits<T>;
    return {.is_float = true,
            .bits = Limits::digits - 1,
            .min_exponent = Limits::min_exponent - 1,
            .max_exponent = Limits::max_exponent - 1};
  }
}

// True if each value of one type is a value of the other.
bool holds_all(const NumberRange& to, const NumberRange& from) {
  const std::int64_t digits = from.bits - (from.has_sign ? 1 : 0);
  if (from.is_float) {
    return to.is_float && from.bits <= to.bits && from.min_exponent >= to.min_exponent &&
           from.max_exponent <= to.max_exponent;
  }
  if (to.is_float) {
    return digits <= to.bits + 1;
  }
  return (to.has_sign || !from.has_sign) && digits <= to.bits - (to.has_sign ? 1 : 0);
}

// The type of both parts of {r, i}, which h5py uses for complex numbers; invalid for other types.
Hdf5Id part_of_complex(hid_t type) {
  if (H5Tget_class(type) != H5T_COMPOUND || H5Tget_nmembers(type) != 2 ||
      H5Tget_member_index(type, "r") != 0 || H5Tget_member_index(type, "i") != 1) {
    return {};
  }
  Hdf5Id real(H5Tget_member_type(type, 0));
  const Hdf5Id imaginary(H5Tget_member_type(type, 1));
  const bool is_pair =
      H5Tequal(real.get(), imaginary.get()) > 0 && H5Tget_class(real.get()) == H5T_FLOAT;
  return is_pair ? std::move(real) : Hdf5Id();
}

// Bit i: ElementType(i) can hold every value of the type; 0 for types other than numbers.
std::uint32_t compatible_types_of(hid_t type) {
  const H5T_class_t kind = H5Tget_class(type);
  const Hdf5Id part = part_of_complex(type);
  if (kind != H5T_INTEGER && kind != H5T_FLOAT && !part.is_valid()) {
    return 0;
  }
  const NumberRange from = range_of(part.is_valid() ? part.get() : type);
  std::uint32_t types = 0;
  for (int i = 0; i < rma::element_type_count; ++i) {
    const bool holds = rma::dispatch(static_cast<ElementType>(i), [&]<class T>(rma::Tag<T>) {
      if constexpr (rma::ComplexElement<T>) {
        return part.is_valid() && holds_all(range_of<typename T::value_type>(), from);
      } else {
        return !part.is_valid() && holds_all(range_of<T>(), from);
      }
    });
    types |= holds ? 1U << static_cast<unsigned>(i) : 0U;
  }
  return types;
}

// The smallest type that holds each value; of an integer and a float of the same size, the integer.
std::optional<ElementType> smallest(std::uint32_t compatible_types) {
  std::optional<ElementType> best;
  for (int i = 0; i < rma::element_type_count; ++i) {
    const auto element = static_cast<ElementType>(i);
    const bool is_possible = (compatible_types >> static_cast<unsigned>(i) & 1U) != 0;
    if (is_possible && (!best || rma::size_of(element) < rma::size_of(*best) ||
                        (rma::size_of(element) == rma::size_of(*best) && rma::is_integer(element) &&
                         !rma::is_integer(*best)))) {
      best = element;
    }
  }
  return best;
}

std::vector<std::byte> encode(hid_t type) {
  std::size_t bytes = 0;
  if (H5Tencode(type, nullptr, &bytes) < 0) {
    return {};
  }
  std::vector<std::byte> encoded(bytes);
  return H5Tencode(type, encoded.data(), &bytes) < 0 ? std::vector<std::byte>() : encoded;
}

// The properties of a number, besides its size, that differ from those of this machine.
std::string describe_bits(hid_t type, std::size_t bytes) {
  const std::size_t precision = H5Tget_precision(type);
  const int first = H5Tget_offset(type);
  return precision == 8 * bytes && first == 0
             ? std::string()
             : fmt::format(" with {} significant bits, from bit {} on", precision, first);
}

std::string describe_fields(hid_t type) {
  std::size_t sign = 0;
  std::size_t exponent = 0;
  std::size_t exponent_bits = 0;
  std::size_t fraction = 0;
  std::size_t fraction_bits = 0;
  H5Tget_fields(type, &sign, &exponent, &exponent_bits, &fraction, &fraction_bits);
  return fmt::format(" with {} bits of exponent (bias {}) and {} of fraction", exponent_bits,
                     H5Tget_ebias(type), fraction_bits);
}

// Requires: the type is not one of this machine's own.
std::string describe(hid_t type, std::size_t bytes) {
  const bool is_big = H5Tget_order(type) == H5T_ORDER_BE;
  const char* const order = is_big && bytes > 1 ? "big-endian " : "";
  switch (H5Tget_class(type)) {
    case H5T_INTEGER:
      return fmt::format("{}{}int{}{}", order, H5Tget_sign(type) == H5T_SGN_NONE ? "u" : "",
                         8 * bytes, describe_bits(type, bytes));
    case H5T_FLOAT:
      return fmt::format("{}float{}{}{}", order, 8 * bytes, describe_bits(type, bytes),
                         is_big ? std::string() : describe_fields(type));
    case H5T_STRING:
      return "text";
    case H5T_COMPOUND:
      return fmt::format("a compound of {} bytes", bytes);
    default:
      return fmt::format("another type of {} bytes", bytes);
  }
}

}  // namespace

Hdf5Id type_of_element(ElementType element) {
  return rma::dispatch(element, []<class T>(rma::Tag<T>) {
    if constexpr (std::is_arithmetic_v<T>) {
      return Hdf5Id(H5Tcopy(native_number<T>()));
    } else {
      return complex_of<typename T::value_type>();
    }
  });
}

Hdf5Id type_of(const StoredArray& array) {
  if (array.type) {
    return type_of_element(*array.type);
  }
  const auto bytes = static_cast<std::size_t>(array.element_bytes);
  Hdf5Id type(H5Tcreate(H5T_OPAQUE, bytes));
  const std::string tag = fmt::format("tessera element of {} bytes", bytes);
  const bool is_made = type.is_valid() && H5Tset_tag(type.get(), tag.c_str()) >= 0;
  return is_made ? std::move(type) : Hdf5Id();
}

void recognise(hid_t given, StoredArray& array) {
  // An enumeration, such as a bool, is read as its numbers.
  const Hdf5Id numbers(H5Tget_class(given) == H5T_ENUM ? H5Tget_super(given) : H5Tcopy(given));
  const hid_t type = numbers.get();
  const std::size_t bytes = H5Tget_size(type);
  if (bytes == 0) {  // libhdf5 could not even open it
    array.unreadable_reason = "its type is unknown";
    array.element_bytes = 1;
    return;
  }
  array.element_bytes = static_cast<std::int64_t>(bytes);
  array.encoded_type = encode(type);
  for (int i = 0; i < rma::element_type_count; ++i) {
    const auto element = static_cast<ElementType>(i);
    if (H5Tequal(type, type_of_element(element).get()) > 0) {
      array.type = element;
      array.is_native = true;
      array.compatible_types = compatible_types_of(type);
      array.type_text = rma::to_string(element);
      return;
    }
  }
  array.is_opaque = H5Tget_class(type) == H5T_OPAQUE;
  array.type_text =
      array.is_opaque ? fmt::format("{}-byte elements", bytes) : describe(type, bytes);
  array.compatible_types = array.encoded_type.empty() ? 0 : compatible_types_of(type);
  array.type = smallest(array.compatible_types);
}

}  // namespace tessera::arrays::detail
