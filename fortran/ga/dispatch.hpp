// SPDX-License-Identifier: BSD-3-Clause
//
// From records, whose element type is known only at run time, to arrays of that type: the one place
// of the layer where that happens.
//
//     return on_parts(std::array{part_of(a), part_of(c)}, [&]<class T>(Tag<T>, const auto& of) {
//       return arrays::copy(of.template part<T>(0), of.template part<T>(1));
//     });
//
// Matrices are those that Fortran sees: rows are the fastest dimension. In C's names the generated
// code swaps operands where GA does (functions, C:order), so operations know only this view.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <span>

#include "fortran/detail/matrices.hpp"
#include "fortran/detail/operands.hpp"
#include "fortran/ga/records.hpp"
#include "linalg/matrix_patch.hpp"
#include "rma/element.hpp"

namespace tessera::ga {

using rma::Tag;

/// Fortran's view of a 2-D array.
inline constexpr linalg::MatrixDims fortran_view = {1, 0};

/// The common arithmetic type of the parts; GA's codes may differ (C_LONG and C_LONGLONG). Errors:
/// invalid_argument, which names two arrays, or the one whose elements are only moved.
Result<rma::ElementType> common_type(std::span<const Part> parts);
/// The same for types that linear algebra supports.
Result<rma::ElementType> common_scalar_type(std::span<const Part> parts);

/// Calls `act` with the element type and the parts, of which the last `masks` may have another one.
template <std::size_t count, class Act>
Status on_parts(const std::array<Part, count>& given, const Act& act, std::size_t masks = 0) {
  TESSERA_ASSIGN_OR_RETURN(const rma::ElementType type,
                           common_type(std::span(given).first(count - masks)));
  std::array<capi::AnyPart, count> parts;
  for (std::size_t i = 0; i < count; ++i) {
    parts[i] = capi::AnyPart(given[i].record->array(), given[i].box);
  }
  return rma::dispatch(
      type, [&]<class T>(Tag<T> tag) -> Status { return act(tag, capi::Operands<count>(parts)); });
}

/// Calls `act` with the element type and the matrices, as Fortran sees them.
template <std::size_t count, class Act>
Status on_matrices(const std::array<Part, count>& given, const Act& act) {
  TESSERA_ASSIGN_OR_RETURN(const rma::ElementType type, common_scalar_type(given));
  std::array<capi::AnyMatrix, count> matrices;
  for (std::size_t i = 0; i < count; ++i) {
    matrices[i] = {&given[i].record->array(), given[i].box, fortran_view};
  }
  return rma::dispatch(type, [&]<class T>(Tag<T> tag) -> Status {
    if constexpr (linalg::Scalar<T>) {
      return act(tag, capi::Matrices<count>(matrices));
    } else {
      return Status::error(Code::internal, "whole numbers as a matrix's elements");
    }
  });
}

/// The number at an address of the caller, which need not be aligned.
template <class T>
T number_at(const void* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

}  // namespace tessera::ga
