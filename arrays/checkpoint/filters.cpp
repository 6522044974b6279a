// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/checkpoint/filters.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace tessera::arrays::detail {
namespace {

using rma::Code;
using rma::Result;
using rma::Status;

constexpr std::size_t fletcher_bytes = 4;

Status bad_chunk(std::string what) {
  return Status::error(Code::protocol, std::move(what))
      .hint("the file is damaged; use another one");
}

const Bytef* for_zlib(std::span<const std::byte> bytes) noexcept {
  return reinterpret_cast<const Bytef*>(bytes.data());
}
Bytef* for_zlib(std::byte* bytes) noexcept {
  return reinterpret_cast<Bytef*>(bytes);
}

// Byte b of element e moves to b · count + e, or back from there; the bytes after the last whole
// element stay.
template <class Move>
void for_each_byte(std::size_t all, std::size_t element_bytes, const Move& move) {
  const std::size_t count = all / element_bytes;
  for (std::size_t b = 0; b < element_bytes; ++b) {
    for (std::size_t e = 0; e < count; ++e) {
      move(e * element_bytes + b, b * count + e);
    }
  }
  for (std::size_t rest = count * element_bytes; rest < all; ++rest) {
    move(rest, rest);
  }
}

Status shuffle(std::uint32_t element_bytes, bool is_back, ChunkBuffer& chunk, ChunkBuffer& spare) {
  const std::size_t all = chunk.bytes().size();
  if (element_bytes < 2) {
    return {};
  }
  TESSERA_RETURN_IF_ERROR(spare.reserve(all));
  const std::byte* const from = chunk.data();
  std::byte* const to = spare.data();
  if (is_back) {
    for_each_byte(all, element_bytes,
                  [&](std::size_t plain, std::size_t mixed) { to[plain] = from[mixed]; });
  } else {
    for_each_byte(all, element_bytes,
                  [&](std::size_t plain, std::size_t mixed) { to[mixed] = from[plain]; });
  }
  spare.set_size(all);
  std::swap(chunk, spare);
  return {};
}

// Fletcher's checksum of 16-bit words, whose first byte is the higher one.
std::uint32_t fletcher32(std::span<const std::byte> bytes) noexcept {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  const auto add = [&](std::uint64_t word) {
    low = (low + word) % 65535;
    high = (high + low) % 65535;
  };
  const std::size_t even = bytes.size() / 2 * 2;
  for (std::size_t i = 0; i < even; i += 2) {
    add(std::to_integer<std::uint64_t>(bytes[i]) << 8U |
        std::to_integer<std::uint64_t>(bytes[i + 1]));
  }
  if (even < bytes.size()) {
    add(std::to_integer<std::uint64_t>(bytes[even]) << 8U);
  }
  return static_cast<std::uint32_t>(high << 16U | low);
}

// Each half of the checksum counts modulo 65535, which other programs also store as 65535.
bool is_same_fletcher(std::uint32_t a, std::uint32_t b) noexcept {
  return (a & 0xffffU) % 65535 == (b & 0xffffU) % 65535 && (a >> 16U) % 65535 == (b >> 16U) % 65535;
}

Status check_fletcher(ChunkBuffer& chunk) {
  const std::size_t all = chunk.bytes().size();
  if (all < fletcher_bytes) {
    return bad_chunk(fmt::format("a chunk of {} bytes has no room for its checksum", all));
  }
  std::uint32_t stored = 0;
  for (std::size_t i = 0; i < fletcher_bytes; ++i) {
    stored |= std::to_integer<std::uint32_t>(chunk.data()[all - fletcher_bytes + i]) << (8 * i);
  }
  chunk.set_size(all - fletcher_bytes);
  return is_same_fletcher(stored, fletcher32(chunk.bytes()))
             ? Status()
             : bad_chunk("the checksum of the chunk differs");
}

Status add_fletcher(ChunkBuffer& chunk, ChunkBuffer& spare) {
  const std::size_t all = chunk.bytes().size();
  const std::uint32_t sum = fletcher32(chunk.bytes());
  TESSERA_RETURN_IF_ERROR(spare.reserve(all + fletcher_bytes));
  std::memcpy(spare.data(), chunk.data(), all);
  for (std::size_t i = 0; i < fletcher_bytes; ++i) {
    spare.data()[all + i] = static_cast<std::byte>(sum >> (8 * i) & 0xffU);
  }
  spare.set_size(all + fletcher_bytes);
  std::swap(chunk, spare);
  return {};
}

Status zlib_error(int code, std::string what) {
  return code == Z_MEM_ERROR ? Status::error(Code::no_memory, "no memory for zlib")
                             : bad_chunk(std::move(what));
}

// Returns false if the chunk would not become smaller.
Result<bool> compress(int level, ChunkBuffer& chunk, ChunkBuffer& spare) {
  const std::size_t all = chunk.bytes().size();
  TESSERA_RETURN_IF_ERROR(spare.reserve(compressBound(all)));
  uLongf size = spare.room();
  const int code = compress2(for_zlib(spare.data()), &size, for_zlib(chunk.bytes()), all, level);
  if (code != Z_OK) {
    return zlib_error(code, fmt::format("zlib can't compress a chunk (code {})", code));
  }
  if (size >= all) {
    return false;
  }
  spare.set_size(size);
  std::swap(chunk, spare);
  return true;
}

Status decompress(std::size_t max_bytes, ChunkBuffer& chunk, ChunkBuffer& spare) {
  TESSERA_RETURN_IF_ERROR(spare.reserve(max_bytes));
  uLongf size = max_bytes;
  const int code =
      uncompress(for_zlib(spare.data()), &size, for_zlib(chunk.bytes()), chunk.bytes().size());
  if (code != Z_OK) {
    return zlib_error(code, code == Z_BUF_ERROR
                                ? "the compressed chunk is cut off, or too large for its data set"
                                : "the compressed chunk is damaged");
  }
  spare.set_size(size);
  std::swap(chunk, spare);
  return {};
}

}  // namespace

Result<std::uint32_t> apply_filters(std::span<const StoredFilter> filters, ChunkBuffer& chunk,
                                    ChunkBuffer& spare) {
  std::uint32_t mask = 0;
  for (std::size_t i = 0; i < filters.size(); ++i) {
    const StoredFilter& filter = filters[i];
    if (filter.kind == FilterKind::shuffle) {
      TESSERA_RETURN_IF_ERROR(shuffle(filter.parameter, false, chunk, spare));
    } else if (filter.kind == FilterKind::fletcher32) {
      TESSERA_RETURN_IF_ERROR(add_fletcher(chunk, spare));
    } else {
      TESSERA_ASSIGN_OR_RETURN(const bool is_smaller,
                               compress(static_cast<int>(filter.parameter), chunk, spare));
      mask |= is_smaller ? 0U : 1U << i;
    }
  }
  return mask;
}

Status undo_filters(std::span<const StoredFilter> filters, std::uint32_t mask,
                    std::size_t chunk_bytes, ChunkBuffer& chunk, ChunkBuffer& spare) {
  // Filters before a deflate may have added checksums to what it compressed.
  const std::size_t max_bytes = chunk_bytes + fletcher_bytes * filters.size();
  for (std::size_t i = filters.size(); i-- > 0;) {
    if ((mask >> i & 1U) != 0) {
      continue;
    }
    if (filters[i].kind == FilterKind::shuffle) {
      TESSERA_RETURN_IF_ERROR(shuffle(filters[i].parameter, true, chunk, spare));
    } else if (filters[i].kind == FilterKind::fletcher32) {
      TESSERA_RETURN_IF_ERROR(check_fletcher(chunk));
    } else {
      TESSERA_RETURN_IF_ERROR(decompress(max_bytes, chunk, spare));
    }
  }
  const std::size_t all = chunk.bytes().size();
  return all == chunk_bytes
             ? Status()
             : bad_chunk(fmt::format("a chunk has {} bytes instead of {}", all, chunk_bytes));
}

}  // namespace tessera::arrays::detail
