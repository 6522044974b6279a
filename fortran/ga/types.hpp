// SPDX-License-Identifier: BSD-3-Clause
//
// Type: GA's codes of element types, as its C interface has them. Entry points and outputs convert
// Fortran's codes, so all other code has C's codes only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "arrays/array_base.hpp"
#include "rma/base/result.hpp"

namespace tessera::ga {

/// GA's Fortran INTEGER and LOGICAL. The library with four-byte integers is compiled with int.
#ifdef TESSERA_GA_I4
using F = int;
#else
using F = long;
#endif
/// The hidden length of a CHARACTER argument.
using Length = std::size_t;

enum class Type : std::int32_t {
  c_char = 1000,
  c_int,
  c_long,
  c_float,
  c_double,
  c_ldouble,
  c_scpl,
  c_dcpl,
  c_ldcpl,
  f_byte,
  f_int,
  f_log,
  f_real,
  f_double,
  f_scpl,
  f_dcpl,
  c_longlong,
  first_own = 1017,  ///< first code of types that the program registers
  last_own = 1255,
  /// The type of Fortran INTEGER.
  fortran_integer = sizeof(F) == sizeof(int) ? c_int : c_long,
};

/// C's code for the same elements; other codes are returned as they are.
Type from_fortran(std::int64_t code) noexcept;
std::int64_t to_fortran(Type type) noexcept;

/// The bytes of an element; 0 for an invalid code.
std::size_t size_of(Type type) noexcept;
/// "double", "int" and the like, for messages and for GA's texts.
std::string_view to_string(Type type) noexcept;
/// Errors: invalid_argument for an invalid code.
rma::Result<arrays::ElementKind> element_kind(Type type);
/// The arithmetic type of elements. Errors: invalid_argument for other types.
rma::Result<rma::ElementType> element_type(Type type);

/// The types that the program has registered.
class OwnTypes {
 public:
  /// The lowest free code; -1 if all are used.
  static std::int64_t add(std::int64_t bytes) noexcept;
  /// Returns 0; −1 if the code is outside the range of such types; −2 if no type has it.
  static std::int64_t remove(std::int64_t code) noexcept;
};

}  // namespace tessera::ga
