// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. Functions about the BLAS library itself.
#pragma once

namespace tessera::linalg::detail {

/// Local. Sets the number of threads in all later BLAS calls of this process.
void set_library_threads(int threads);
/// Local. The number of threads that BLAS uses.
int library_threads();

/// Local. The library's name, version and kernels.
const char* library_description();

}  // namespace tessera::linalg::detail
