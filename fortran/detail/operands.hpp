// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. Converts the operands of an operation on parts of arrays from C handles to arrays of
// their element type, which is known only at run time.
//
//     const auto act = [&]<class T>(Tag<T>, const auto& given) {
//       return arrays::fill(given.template part<T>(0), number<T>(value));
//     };
//     return on_parts(__func__, std::array{result}, {value}, act);
//
// The first part is the one whose team does the work. An error on one rank that the library below
// cannot see is reported to that team.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <span>
#include <utility>

#include "arrays/array.hpp"
#include "arrays/subarray.hpp"
#include "fortran/c/types.h"
#include "fortran/detail/call.hpp"
#include "rma/base/result.hpp"
#include "rma/element.hpp"

namespace tessera::capi {

using rma::Tag;

/// A part without its element type; also an operand of the library's templates.
class AnyPart {
 public:
  AnyPart() = default;
  AnyPart(const arrays::ArrayBase& array, const arrays::Box& box) : array_(&array), box_(box) {}
  [[nodiscard]] const arrays::ArrayBase& array() const noexcept { return *array_; }
  [[nodiscard]] const arrays::Box& box() const noexcept { return box_; }

 private:
  const arrays::ArrayBase* array_ = nullptr;
  arrays::Box box_;
};
inline const AnyPart& part(const AnyPart& already) noexcept {
  return already;
}

template <std::size_t count>
class Operands {
 public:
  explicit Operands(const std::array<AnyPart, count>& parts) : parts_(parts) {}
  [[nodiscard]] const AnyPart& any(std::size_t number) const { return parts_[number]; }
  /// Requires: it is among the parts whose type was checked.
  template <class T>
  [[nodiscard]] arrays::Subarray<T> part(std::size_t number) const {
    return arrays::Subarray<T>(static_cast<const arrays::Array<T>&>(any(number).array()),
                               any(number).box());
  }

 private:
  std::array<AnyPart, count> parts_;
};

/// Checks `given`, of which the first `alike` must have one element type, and writes the parts to
/// `parts`. Collective over the first one's team if there is an error; `first_error` is an error
/// found before. Errors: invalid_argument, closed.
rma::Status check_operands(std::span<const tessera_part> given, std::size_t alike,
                           rma::Status first_error, std::span<AnyPart> parts);

/// Errors: invalid_argument if one of them is null.
rma::Status check_numbers(std::initializer_list<const void*> numbers);

/// The number at a C pointer.
template <class T>
T number(const void* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}
/// Copies a result to a C pointer.
template <class T>
rma::Status write_number(const rma::Result<T>& result, void* to) {
  if (result.ok()) {
    std::memcpy(to, &*result, sizeof(T));
  }
  return result.status();
}

/// Calls `act`, which takes the first part's element type and the operands. `numbers` must not be
/// null. All parts except the last `masks` have one element type.
template <std::size_t count, class Act>
int on_parts(const char* function, const std::array<tessera_part, count>& given,
             std::initializer_list<const void*> numbers, const Act& act, std::size_t masks = 0) {
  return call(function, [&]() -> rma::Status {
    std::array<AnyPart, count> parts;
    TESSERA_RETURN_IF_ERROR(check_operands(given, count - masks, check_numbers(numbers), parts));
    return rma::dispatch(*parts[0].array().element().type, [&]<class T>(Tag<T> tag) -> rma::Status {
      return act(tag, Operands<count>(parts));
    });
  });
}

}  // namespace tessera::capi
