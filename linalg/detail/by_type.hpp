// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. Templates over the type of numbers, for BLAS, LAPACK and ScaLAPACK, which have one
// routine for each type. All calls go through them, which keeps the caller's floating-point traps
// off.
#pragma once

#include <complex>
#include <type_traits>

#include "rma/base/floating_point_guard.hpp"

namespace tessera::linalg::detail {

/// A routine that is called under a guard.
template <class Guard, class Function>
struct GuardedRoutine {
  Function* function;

  template <class... Arguments>
  auto operator()(Arguments... arguments) const {
    const Guard guard;
    return function(arguments...);
  }
};

/// The one of the four routines that computes with T.
template <class T, class F, class D, class C, class Z>
auto routine_of(F of_float, D of_double, C of_complex, Z of_double_complex) {
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

template <class Guard, class Function>
GuardedRoutine<Guard, Function> shielded(Function* function) {
  return {function};
}

/// Use this in place of a routine's name in a call.
template <class T, class... Functions>
auto routine(Functions... functions) {
  return shielded<rma::FloatingPointGuard>(routine_of<T>(functions...));
}

/// As routine(), for matrix products and similar calls, which are often short. They use only vector
/// instructions.
template <class T, class... Functions>
auto product_routine(Functions... functions) {
  return shielded<rma::VectorUnitGuard>(routine_of<T>(functions...));
}

}  // namespace tessera::linalg::detail
