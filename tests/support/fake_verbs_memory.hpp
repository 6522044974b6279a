// SPDX-License-Identifier: BSD-3-Clause
//
// How the wire accesses the memory of ranks: by atomic accesses only, as wide as the alignment
// allows, so that threads that read that memory at the same time see no torn words.
#pragma once

#include <cstddef>

namespace tessera::rma::test {

/// Whether a change of a word also publishes the rank's earlier changes, and vice versa.
enum class WireOrder : bool { none, release_acquire };

/// Copies from a rank's memory into the wire's.
void read_memory(std::byte* to, const void* memory, std::size_t bytes, WireOrder order) noexcept;
/// Copies from the wire's memory into a rank's.
void write_memory(void* memory, const std::byte* from, std::size_t bytes, WireOrder order) noexcept;

}  // namespace tessera::rma::test
