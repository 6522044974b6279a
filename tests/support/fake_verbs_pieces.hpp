// SPDX-License-Identifier: BSD-3-Clause
//
// Copies between the pieces of a scatter/gather list, in a rank's memory, and the wire's memory.
// Posting a request and its completion order these copies, so they need no ordering of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tests/support/fake_verbs_objects.hpp"

namespace tessera::rma::test::fake {

/// The most bytes that move before another queue pair has its turn.
inline constexpr std::size_t step_bytes = std::size_t{64} << 10;

inline std::byte* memory_at(std::uint64_t address) noexcept {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): verbs say addresses as numbers
  return reinterpret_cast<std::byte*>(address);
}

std::size_t total_bytes(const std::vector<ibv_sge>& pieces) noexcept;
/// Fills `to` with what the request sends, from `offset` of it.
void gather(const Request& request, std::size_t offset, std::span<std::byte> to);
/// Copies `from` into the pieces, from `offset` on.
void scatter(const std::vector<ibv_sge>& pieces, std::size_t offset,
             std::span<const std::byte> from);

}  // namespace tessera::rma::test::fake
