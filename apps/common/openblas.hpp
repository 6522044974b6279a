// SPDX-License-Identifier: BSD-3-Clause
//
// What OpenBLAS does to a process that it is loaded into: each thread that calls it maps a buffer,
// its own threads when the program is loaded. One that the limit on address space (ulimit -v)
// refuses is asked for again, for ever, and such a thread can't be waited for.
#pragma once

#include <cstdint>

namespace tessera::apps {

/// Of a thread's buffer, on the processors that we know.
inline constexpr std::uint64_t openblas_buffer_bytes = std::uint64_t{128} << 20U;

/// Local. Whether this program is linked with OpenBLAS, used or not.
bool has_openblas() noexcept;

}  // namespace tessera::apps
