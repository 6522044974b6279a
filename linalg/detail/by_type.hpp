// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. BLAS, LAPACK and ScaLAPACK have a routine for each type of numbers; here are templates.
#pragma once

#include <complex>
#include <type_traits>

namespace tessera::linalg::detail {

/// What stands where a call takes one of the types' routines.
template <class T, class F, class D, class C, class Z>
auto routine(F of_float, D of_double, C of_complex, Z of_double_complex) {
  if constexpr (std::is_same_v<T, float>) {
    return of_float;
  } else if constexpr (std::is_same_v<T, double>) {
    return of_double;
  } else if constexpr (std::is_same_v<T, std::complex<float>>) {
    return of_complex;
  } else {
    return of_double_complex;
  }
}

}  // namespace tessera::linalg::detail
