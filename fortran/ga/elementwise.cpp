// SPDX-License-Identifier: BSD-3-Clause
//
// Operations on corresponding elements of arrays or patches.
#include "arrays/elementwise.hpp"

#include "fortran/ga/operands.hpp"
#include "fortran/ga/operations.hpp"

namespace tessera::ga {

Status elem_multiply(const Part& a, const Part& b, const Part& result) {
  return on_aligned(
      []<class T>(Tag<T>, const auto& of) {
        return arrays::multiply(of.template part<T>(1), of.template part<T>(2),
                                of.template part<T>(0));
      },
      result, a, b);
}

Status elem_divide(const Part& a, const Part& b, const Part& result) {
  return on_aligned(
      []<class T>(Tag<T>, const auto& of) -> Status {
        TESSERA_RETURN_IF_ERROR(check_divisors(of.template part<T>(2)));
        return arrays::divide(of.template part<T>(1), of.template part<T>(2),
                              of.template part<T>(0));
      },
      result, a, b);
}

Status elem_maximum(const Part& a, const Part& b, const Part& result) {
  return on_aligned(
      []<class T>(Tag<T>, const auto& of) {
        return arrays::maximum(of.template part<T>(1), of.template part<T>(2),
                               of.template part<T>(0));
      },
      result, a, b);
}

Status elem_minimum(const Part& a, const Part& b, const Part& result) {
  return on_aligned(
      []<class T>(Tag<T>, const auto& of) {
        return arrays::minimum(of.template part<T>(1), of.template part<T>(2),
                               of.template part<T>(0));
      },
      result, a, b);
}

Status median(const Part& a, const Part& b, const Part& c, const Part& result) {
  return on_aligned(
      []<class T>(Tag<T>, const auto& of) {
        return arrays::median(of.template part<T>(1), of.template part<T>(2),
                              of.template part<T>(3), of.template part<T>(0));
      },
      result, a, b, c);
}

}  // namespace tessera::ga
