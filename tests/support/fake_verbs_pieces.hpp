// SPDX-License-Identifier: BSD-3-Clause
//
// Copies between the pieces of a scatter/gather list, which are memory of a rank, and the data in
// transit. Posting a request and its completion order these copies, so they use relaxed accesses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tests/support/fake_verbs_objects.hpp"

namespace tessera::rma::test::fake {

/// The most bytes of a request that move in one step; then another queue pair may be served.
inline constexpr std::size_t step_bytes = std::size_t{64} << 10;

inline std::byte* memory_at(std::uint64_t address) noexcept {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): verbs pass addresses as numbers
  return reinterpret_cast<std::byte*>(address);
}

std::size_t total_bytes(const std::vector<ibv_sge>& pieces) noexcept;
/// Copies the request's data from `offset` on to `to`.
void gather(const Request& request, std::size_t offset, std::span<std::byte> to);
/// Copies `from` to the pieces, from `offset` of their bytes on.
void scatter(const std::vector<ibv_sge>& pieces, std::size_t offset,
             std::span<const std::byte> from);

}  // namespace tessera::rma::test::fake
