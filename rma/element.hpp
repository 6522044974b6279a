// SPDX-License-Identifier: BSD-3-Clause
//
// The element types of accumulate and reductions, as run-time tags and as a concept, and
// dispatch(), the one place that turns a tag into a type.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "rma/base/status.hpp"

namespace tessera::rma {

/// The numbers are also used on the wire, so new types are added at the end.
enum class ElementType : std::uint8_t {
  i32,
  i64,
  f32,
  f64,
  c64,   ///< two float
  c128,  ///< two double
  i8,
  i16,
  u8,
  u16,
  u32,
  u64
};
inline constexpr int element_type_count = 12;

/// Carries a type through a generic lambda: `[]<class T>(Tag<T>) { … }`.
template <class T>
struct Tag {
  using type = T;
};

template <class T>
concept IntegerElement = std::same_as<T, std::int8_t> || std::same_as<T, std::int16_t> ||
    std::same_as<T, std::int32_t> || std::same_as<T, std::int64_t> ||
    std::same_as<T, std::uint8_t> || std::same_as<T, std::uint16_t> ||
    std::same_as<T, std::uint32_t> || std::same_as<T, std::uint64_t>;
template <class T>
concept ComplexElement =
    std::same_as<T, std::complex<float>> || std::same_as<T, std::complex<double>>;
template <class T>
concept RealElement = IntegerElement<T> || std::same_as<T, float> || std::same_as<T, double>;
template <class T>
concept Element = RealElement<T> || ComplexElement<T>;

/// The type of an element's real part; a real type is its own.
template <Element T>
requires(!IntegerElement<T>) using RealOf = decltype(std::real(T{}));

/// The unsigned type in which integers of type T wrap as defined. make_unsigned alone does not do:
/// types shorter than int are promoted to int, and their products can overflow it.
template <class T>
using Wrapping = std::common_type_t<std::make_unsigned_t<T>, unsigned>;

/// Calls `body(Tag<T>{})` with the type that `type` names, and returns its result.
/// Requires: `type` is one of the enumerators (is_valid).
template <class Body>
decltype(auto) dispatch(ElementType type, Body&& body) {
  switch (type) {
    case ElementType::i32:
      return body(Tag<std::int32_t>{});
    case ElementType::i64:
      return body(Tag<std::int64_t>{});
    case ElementType::f32:
      return body(Tag<float>{});
    case ElementType::f64:
      return body(Tag<double>{});
    case ElementType::c64:
      return body(Tag<std::complex<float>>{});
    case ElementType::i8:
      return body(Tag<std::int8_t>{});
    case ElementType::i16:
      return body(Tag<std::int16_t>{});
    case ElementType::u8:
      return body(Tag<std::uint8_t>{});
    case ElementType::u16:
      return body(Tag<std::uint16_t>{});
    case ElementType::u32:
      return body(Tag<std::uint32_t>{});
    case ElementType::u64:
      return body(Tag<std::uint64_t>{});
    case ElementType::c128:
      break;
  }
  return body(Tag<std::complex<double>>{});
}

/// The tag of T.
template <Element T>
constexpr ElementType element_type() noexcept {
  if constexpr (std::same_as<T, float>) {
    return ElementType::f32;
  } else if constexpr (std::same_as<T, double>) {
    return ElementType::f64;
  } else if constexpr (ComplexElement<T>) {
    return sizeof(T) == 8 ? ElementType::c64 : ElementType::c128;
  } else if constexpr (std::signed_integral<T>) {
    constexpr std::array types{ElementType::i8, ElementType::i16, ElementType::i32,
                               ElementType::i64};
    return types[static_cast<std::size_t>(std::countr_zero(sizeof(T)))];
  } else {
    constexpr std::array types{ElementType::u8, ElementType::u16, ElementType::u32,
                               ElementType::u64};
    return types[static_cast<std::size_t>(std::countr_zero(sizeof(T)))];
  }
}

/// True for integers, signed or unsigned.
constexpr bool is_integer(ElementType type) noexcept {
  return type == ElementType::i32 || type == ElementType::i64 || type > ElementType::c128;
}
constexpr bool is_unsigned(ElementType type) noexcept {
  return type >= ElementType::u8 && type <= ElementType::u64;
}
constexpr bool is_complex(ElementType type) noexcept {
  return type == ElementType::c64 || type == ElementType::c128;
}

/// True for the enumerators; false for other numbers that were cast to the tag.
constexpr bool is_valid(ElementType type) noexcept {
  return static_cast<int>(type) < element_type_count;
}

/// Bytes of one element.
inline std::size_t size_of(ElementType type) {
  return dispatch(type, []<class T>(Tag<T>) { return sizeof(T); });
}

/// "float64 complex" and the like, for messages.
std::string_view to_string(ElementType type) noexcept;

/// How an accumulate combines each target element with its source element. The numbers are also
/// used on the wire.
enum class AccumulateOp : std::uint8_t {
  sum,      ///< target + scale × source
  min,      ///< not complex; a NaN in the target or the source gives NaN
  max,      ///< not complex; a NaN in the target or the source gives NaN
  bit_or,   ///< integers only
  bit_and,  ///< integers only
  bit_xor   ///< integers only
};
inline constexpr int accumulate_op_count = 6;

/// True if elements of `type` can be combined by `op`.
constexpr bool is_defined(ElementType type, AccumulateOp op) noexcept {
  return is_valid(type) &&
         (op == AccumulateOp::sum ||
          (op <= AccumulateOp::max ? !is_complex(type)
                                   : op <= AccumulateOp::bit_xor && is_integer(type)));
}

/// "min" and the like, for messages.
std::string_view to_string(AccumulateOp op) noexcept;

/// What an accumulate does: the element type, the operation, and for sums the factor of the source.
///
/// `Scale::of(2.0)` is `target += 2 × source` for double elements; the factor one is exact for
/// every type. `Scale::by(AccumulateOp::max, ElementType::f64)` is `target = max(target, source)`.
class Scale {
 public:
  template <Element T>
  static Scale of(T factor) noexcept {
    Scale scale(element_type<T>());
    static_assert(sizeof(T) <= sizeof(scale.bytes_));
    __builtin_memcpy(scale.bytes_, &factor, sizeof(T));
    scale.form_ = factor == T{1} ? Form::plain_sum : Form::scaled_sum;
    return scale;
  }
  /// The factor 1 for elements of `type`.
  static Scale one(ElementType type) {
    return dispatch(type, []<class T>(Tag<T>) { return of(T{1}); });
  }
  /// The operation `op` for elements of `type`; a sum has the factor 1. An accumulate refuses it
  /// with `unsupported` if is_defined(type, op) is false.
  static Scale by(AccumulateOp op, ElementType type) {
    Scale scale = one(type);
    const int number = std::min(static_cast<int>(op), accumulate_op_count);
    scale.form_ = static_cast<Form>(static_cast<int>(Form::plain_sum) + number);
    const int undefined = is_defined(type, op) ? 0 : undefined_bit;
    scale.type_ = static_cast<ElementType>(static_cast<int>(type) | undefined);
    return scale;
  }

  /// Not is_valid() if the operation is not defined for the type.
  [[nodiscard]] ElementType type() const noexcept { return type_; }
  /// The type that was asked for, also if the operation is not defined for it.
  [[nodiscard]] ElementType requested_type() const noexcept {
    return static_cast<ElementType>(static_cast<int>(type_) & ~undefined_bit);
  }
  [[nodiscard]] AccumulateOp op() const noexcept {
    return form_ == Form::scaled_sum ? AccumulateOp::sum
                                     : static_cast<AccumulateOp>(static_cast<int>(form_) -
                                                                 static_cast<int>(Form::plain_sum));
  }
  /// True if elements are combined as they are, without a factor.
  [[nodiscard]] bool is_one() const noexcept { return form_ != Form::scaled_sum; }
  /// True for `target += source`.
  [[nodiscard]] bool is_plain_sum() const noexcept { return form_ == Form::plain_sum; }
  /// True for sums, with any factor.
  [[nodiscard]] bool is_sum() const noexcept { return form_ <= Form::plain_sum; }
  /// The factor as a T. Requires: T is the type that type() names.
  template <Element T>
  [[nodiscard]] T as() const noexcept {
    T factor;
    __builtin_memcpy(&factor, bytes_, sizeof(T));
    return factor;
  }
  /// True for the same type, operation and factor, bit by bit.
  friend bool operator==(const Scale&, const Scale&) = default;

 private:
  // One number for operation and factor, so that sums need one comparison. Forms from plain_sum on
  // are the operations in their order.
  enum class Form : std::uint8_t { scaled_sum, plain_sum };
  // Makes a type invalid, so that the check of the type also finds undefined operations.
  static constexpr int undefined_bit = 0x80;
  explicit Scale(ElementType type) noexcept : type_(type) {}
  alignas(16) unsigned char bytes_[16] = {};
  ElementType type_;
  Form form_ = Form::scaled_sum;
};

}  // namespace tessera::rma
