// SPDX-License-Identifier: BSD-3-Clause
//
// Type: GA's codes of element types, as its C interface has them. Fortran's codes are converted
// where a call comes in and where a code goes out, so that only these are inside.
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
  first_own = 1017,  ///< of types that the program registers
  last_own = 1255,
  /// The type of Fortran INTEGER.
  fortran_integer = sizeof(F) == sizeof(int) ? c_int : c_long,
};

/// C's code of the same elements; other codes are returned as they are.
Type from_fortran(std::int64_t code) noexcept;
std::int64_t to_fortran(Type type) noexcept;

/// The bytes of an element; 0 for a code that is none.
std::size_t size_of(Type type) noexcept;
/// "double", "int" and the like, for messages and for GA's texts.
std::string_view to_string(Type type) noexcept;
/// Errors: invalid_argument for a code that is none.
rma::Result<arrays::ElementKind> element_kind(Type type);
/// The arithmetic type of elements. Errors: invalid_argument for other types.
rma::Result<rma::ElementType> element_type(Type type);

/// Types of the program's own, all of them.
class OwnTypes {
 public:
  /// The lowest free code; -1 if all are used.
  static std::int64_t add(std::int64_t bytes) noexcept;
  /// 0, or -1 for a code that can't be one, or -2 for one that is free.
  static std::int64_t remove(std::int64_t code) noexcept;
};

}  // namespace tessera::ga
