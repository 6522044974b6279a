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

/// Local. Threads of OpenBLAS's own that have no buffer yet, and will ask for one.
/// Cost: reads /proc/self/maps.
int openblas_threads_without_buffer();

/// Local. Makes OpenBLAS map the buffers of the calling thread and its own now, by a product of
/// zeros, if the program is linked with it. Later the address space may be in use by something
/// else.
void map_openblas_buffers();

}  // namespace tessera::apps
