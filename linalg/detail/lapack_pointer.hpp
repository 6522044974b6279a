// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. Pointers to numbers in the types of lapacke's declarations.
#pragma once

#include <lapacke.h>

#include <complex>
#include <type_traits>

namespace tessera::linalg::detail {

/// lapacke's complex types are those of C, which have the same memory layout as those of C++.
template <class T>
auto lapack_pointer(T* data) {
  if constexpr (std::is_same_v<T, std::complex<float>>) {
    return reinterpret_cast<lapack_complex_float*>(data);
  } else if constexpr (std::is_same_v<T, std::complex<double>>) {
    return reinterpret_cast<lapack_complex_double*>(data);
  } else {
    return data;
  }
}

}  // namespace tessera::linalg::detail
