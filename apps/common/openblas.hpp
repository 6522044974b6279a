// SPDX-License-Identifier: BSD-3-Clause
//
// OpenBLAS in a process: each thread that calls it maps a buffer, and its own threads do so when
// the program is loaded. If the limit on address space (ulimit -v) refuses a buffer, the thread
// asks forever, and cannot be joined.
#pragma once

#include <cstdint>

namespace tessera::apps {

/// Size of a thread's buffer, on the processors that we know.
inline constexpr std::uint64_t openblas_buffer_bytes = std::uint64_t{128} << 20U;

/// Local. Whether this program is linked with OpenBLAS, used or not.
bool has_openblas() noexcept;

}  // namespace tessera::apps
