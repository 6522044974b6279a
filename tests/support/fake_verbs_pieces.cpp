// SPDX-License-Identifier: BSD-3-Clause
#include "tests/support/fake_verbs_pieces.hpp"

#include <algorithm>

#include "tests/support/fake_verbs_memory.hpp"

namespace tessera::rma::test::fake {
namespace {

/// Calls `move(memory, position, bytes)` for each part of `pieces` in [offset, offset + bytes) of
/// the list's bytes; `position` counts from `offset`.
template <class Move>
void for_each_part(const std::vector<ibv_sge>& pieces, std::size_t offset, std::size_t bytes,
                   Move&& move) {
  std::size_t position = 0;
  for (const ibv_sge& piece : pieces) {
    if (offset >= piece.length) {
      offset -= piece.length;
      continue;
    }
    const std::size_t part = std::min(bytes - position, piece.length - offset);
    move(memory_at(piece.addr) + offset, position, part);
    offset = 0;
    position += part;
    if (position == bytes) {
      return;
    }
  }
}

}  // namespace

std::size_t total_bytes(const std::vector<ibv_sge>& pieces) noexcept {
  std::size_t bytes = 0;
  for (const ibv_sge& piece : pieces) {
    bytes += piece.length;
  }
  return bytes;
}

void gather(const Request& request, std::size_t offset, std::span<std::byte> to) {
  if ((request.wr.send_flags & IBV_SEND_INLINE) != 0) {
    std::copy_n(request.payload.begin() + static_cast<std::ptrdiff_t>(offset), to.size(),
                to.begin());
    return;
  }
  for_each_part(request.pieces, offset, to.size(),
                [&](const std::byte* memory, std::size_t position, std::size_t bytes) {
                  read_memory(to.data() + position, memory, bytes, WireOrder::none);
                });
}

void scatter(const std::vector<ibv_sge>& pieces, std::size_t offset,
             std::span<const std::byte> from) {
  for_each_part(pieces, offset, from.size(),
                [&](std::byte* memory, std::size_t position, std::size_t bytes) {
                  write_memory(memory, from.data() + position, bytes, WireOrder::none);
                });
}

}  // namespace tessera::rma::test::fake
