// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. Numbers as lapacke's declarations want to see them.
#pragma once

#include <lapacke.h>

#include <complex>
#include <type_traits>

namespace tessera::linalg::detail {

/// lapacke's complex types are C's, which lie in memory as C++'s do.
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
