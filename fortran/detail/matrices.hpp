// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. Converts the operands of linear algebra from C handles to matrices of their element
// type, which is known only at run time.
//
//     const auto act = [&]<class T>(Tag<T>, const auto& of) {
//       return linalg::gemm(of.template patch<T>(0), of.template patch<T>(1), …);
//     };
//     return on_matrices(std::array{c, a, b}, chosen.status(), act);
//
// The first matrix is the one whose team does the work. An error on one rank that the library below
// cannot see is reported to that team.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "arrays/array.hpp"
#include "arrays/box.hpp"
#include "fortran/c/linalg.h"
#include "linalg/matrix_patch.hpp"
#include "rma/base/status.hpp"
#include "rma/element.hpp"

namespace tessera::capi {

using rma::Tag;

/// A matrix without its element type.
struct AnyMatrix {
  arrays::ArrayBase* array = nullptr;
  arrays::Box box;
  linalg::MatrixDims dims;
};

template <std::size_t count>
class Matrices {
 public:
  explicit Matrices(const std::array<AnyMatrix, count>& all) : all_(all) {}
  template <class T>
  [[nodiscard]] arrays::Array<T>& array(std::size_t number) const {
    return static_cast<arrays::Array<T>&>(*all_[number].array);
  }
  template <class T>
  [[nodiscard]] linalg::MatrixPatch<T> patch(std::size_t number) const {
    return linalg::MatrixPatch<T>(array<T>(number), all_[number].box, all_[number].dims);
  }

 private:
  std::array<AnyMatrix, count> all_;
};

/// Checks `given` and writes the matrices to `matrices`: all of one type that supports arithmetic.
/// Collective over the first one's team if there is an error; `first_error` is an error found
/// before. Errors: invalid_argument, closed.
rma::Status check_operands(std::span<const tessera_matrix> given, rma::Status first_error,
                           std::span<AnyMatrix> matrices);

/// Calls `act`, which takes the element type and the matrices.
template <std::size_t count, class Act>
rma::Status on_matrices(const std::array<tessera_matrix, count>& given,
                        const rma::Status& first_error, const Act& act) {
  std::array<AnyMatrix, count> matrices;
  TESSERA_RETURN_IF_ERROR(check_operands(given, first_error, matrices));
  return rma::dispatch(*matrices[0].array->element().type, [&]<class T>(Tag<T> tag) -> rma::Status {
    if constexpr (linalg::Scalar<T>) {
      return act(tag, Matrices<count>(matrices));
    } else {
      return rma::Status::error(rma::Code::internal, "whole numbers as a matrix's elements");
    }
  });
}

}  // namespace tessera::capi
