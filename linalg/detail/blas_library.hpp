// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. What is asked of the BLAS library itself.
#pragma once

namespace tessera::linalg::detail {

/// Local. Makes the library use `threads` threads in all calls of this process from now on.
void set_library_threads(int threads);
/// Local. How many it uses.
int library_threads();

/// Local. The library's name, version and kernels.
const char* library_description();

}  // namespace tessera::linalg::detail
