// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/checkpoint/hdf5_types.hpp"

#include <fmt/format.h>

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

Hdf5Id type_of_element(ElementType element) {
  return rma::dispatch(element, []<class T>(rma::Tag<T>) {
    if constexpr (std::is_arithmetic_v<T>) {
      return Hdf5Id(H5Tcopy(native_number<T>()));
    } else {
      return complex_of<typename T::value_type>();
    }
  });
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

void recognise(hid_t type, StoredArray& array) {
  const std::size_t bytes = H5Tget_size(type);
  if (bytes == 0) {  // libhdf5 could not even open it
    array.unreadable_reason = "its type is unknown";
    array.element_bytes = 1;
    return;
  }
  array.element_bytes = static_cast<std::int64_t>(bytes);
  for (int i = 0; i < rma::element_type_count; ++i) {
    const auto element = static_cast<ElementType>(i);
    if (H5Tequal(type, type_of_element(element).get()) > 0) {
      array.type = element;
      array.type_text = rma::to_string(element);
      return;
    }
  }
  array.is_opaque = H5Tget_class(type) == H5T_OPAQUE;
  array.type_text =
      array.is_opaque ? fmt::format("{}-byte elements", bytes) : describe(type, bytes);
}

}  // namespace tessera::arrays::detail
