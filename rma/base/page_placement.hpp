// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

namespace tessera::rma {

enum class PagePlacement : std::uint8_t {
  local,        ///< on the NUMA node of the process that commits the memory
  interleaved,  ///< page by page on all NUMA nodes that this process may use
};

/// Local. Sets where the pages of [from, from + bytes) are placed that are committed from now on.
/// Shared memory keeps the placement until it is set again. No effect if the kernel does not
/// support it.
void place_pages(std::byte* from, std::size_t bytes, PagePlacement placement) noexcept;

}  // namespace tessera::rma
