// SPDX-License-Identifier: BSD-3-Clause
//
// Copying past the caches, for runs that no cache could hold.
//
// Ordinary stores read every line that they are going to overwrite; streaming (non-temporal) ones
// don't, which saves a third of the memory traffic. The C library streams too, but from three
// quarters of what it takes for the size of the cache. In a virtual machine, where that is often
// the cache of the whole host, it does so much too late.
#pragma once

#include <cstddef>

namespace tessera::rma::kernels {

/// From here copy_run() streams: the last-level cache that a few cores share on common servers.
/// On Zen 4 with 32 MiB it is 1.3 to 1.5 × as fast as memcpy, also when the result is read next.
inline constexpr std::size_t stream_from_bytes = std::size_t{32} << 20;

/// Copies one run past the caches. As far as later stores are concerned it is complete at return,
/// as with ordinary stores. Requires: no overlap.
void stream_run(void* to, const void* from, std::size_t bytes) noexcept;

}  // namespace tessera::rma::kernels
