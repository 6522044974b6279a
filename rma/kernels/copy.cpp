// SPDX-License-Identifier: BSD-3-Clause
#include "rma/kernels/copy.hpp"

#include <cstring>
#include <vector>

#include "rma/kernels/stream.hpp"
#include "rma/kernels/walk.hpp"

namespace tessera::rma::kernels {
namespace {

// Copies one line: `count` rows of `row_bytes`. All arguments fit into registers. In memory they
// would be read again for each row, since the compiler must assume that a row overwrites them.
using CopyLine = void (*)(std::byte* to, const std::byte* from, std::int64_t count,
                          std::int64_t to_stride, std::int64_t from_stride,
                          std::size_t row_bytes) noexcept;

// Kernels begin at a multiple of this, so that their short loops don't straddle the 64 bytes that
// the processor fetches at once; a loop of one cycle per row would take two. Nor are the loops
// unrolled, since the processor predicts strides by the address of the instruction. With four
// alternating stores, 16-byte rows 8 KiB apart took 1.3 times as long on Zen 4.
constexpr std::size_t kernel_alignment = 64;

// Rows that are words, with everything aligned.
template <std::size_t Bytes>
[[gnu::aligned(kernel_alignment), gnu::noinline]] void copy_aligned_words(
    std::byte* to, const std::byte* from, std::int64_t count, std::int64_t to_stride,
    std::int64_t from_stride) noexcept {
  for (std::int64_t i = 0; i < count; ++i) {
    copy_aligned_word<Bytes>(to + i * to_stride, from + i * from_stride);
  }
}

// Rows that are words.
template <std::size_t Bytes>
void copy_words(std::byte* to, const std::byte* from, std::int64_t count, std::int64_t to_stride,
                std::int64_t from_stride, std::size_t) noexcept {
  const auto strides = static_cast<std::uintptr_t>(to_stride | from_stride);
  if (is_multiple<Bytes>(address_of(to) | address_of(from) | strides)) {
    copy_aligned_words<Bytes>(to, from, count, to_stride, from_stride);
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    copy_word<Bytes>(to + i * to_stride, from + i * from_stride);
  }
}

// Rows of exactly `Bytes` bytes.
template <std::size_t Bytes>
[[gnu::aligned(kernel_alignment)]] void copy_blocks(std::byte* to, const std::byte* from,
                                                    std::int64_t count, std::int64_t to_stride,
                                                    std::int64_t from_stride,
                                                    std::size_t) noexcept {
  for (std::int64_t i = 0; i < count; ++i) {
    copy_block<Bytes>(to + i * to_stride, from + i * from_stride);
  }
}

// Rows of `Half` … 2 × `Half` bytes.
template <std::size_t Half>
[[gnu::aligned(kernel_alignment)]] void copy_row_ends(std::byte* to, const std::byte* from,
                                                      std::int64_t count, std::int64_t to_stride,
                                                      std::int64_t from_stride,
                                                      std::size_t row_bytes) noexcept {
  for (std::int64_t i = 0; i < count; ++i) {
    copy_ends<Half>(to + i * to_stride, from + i * from_stride, row_bytes);
  }
}

// Block size for rows of medium length. Wider blocks straddle two cache lines too often, since at
// least one side's rows are seldom aligned.
constexpr std::size_t block_bytes = 32;

// Rows of as many whole blocks as there are indices, and a last block that ends at the row's end.
template <std::size_t... Index>
[[gnu::aligned(kernel_alignment)]] void copy_block_rows(std::byte* to, const std::byte* from,
                                                        std::int64_t count, std::int64_t to_stride,
                                                        std::int64_t from_stride,
                                                        std::size_t row_bytes) noexcept {
  const std::size_t last = row_bytes - block_bytes;
  for (std::int64_t i = 0; i < count; ++i) {
    std::byte* const to_row = to + i * to_stride;
    const std::byte* const from_row = from + i * from_stride;
    (copy_block<block_bytes>(to_row + Index * block_bytes, from_row + Index * block_bytes), ...);
    copy_block<block_bytes>(to_row + last, from_row + last);
  }
}

void copy_long_rows(std::byte* to, const std::byte* from, std::int64_t count,
                    std::int64_t to_stride, std::int64_t from_stride,
                    std::size_t row_bytes) noexcept {
  for (std::int64_t i = 0; i < count; ++i) {
    std::memcpy(to + i * to_stride, from + i * from_stride, row_bytes);
  }
}

// The kernel for rows of 1 … 16 bytes.
CopyLine line_kernel_up_to_16(std::size_t row_bytes) noexcept {
  switch (row_bytes) {
    case 1:
      return copy_words<1>;
    case 2:
      return copy_words<2>;
    case 3:
      return copy_row_ends<2>;
    case 4:
      return copy_words<4>;
    case 8:
      return copy_words<8>;
    case 16:
      return copy_blocks<16>;
    default:
      return row_bytes < 8 ? copy_row_ends<4> : copy_row_ends<8>;
  }
}

// The kernel for rows of 33 … 256 bytes.
CopyLine line_kernel_up_to_256(std::size_t row_bytes) noexcept {
  switch ((row_bytes - 1) / block_bytes) {
    case 1:
      return copy_block_rows<0>;
    case 2:
      return copy_block_rows<0, 1>;
    case 3:
      return copy_block_rows<0, 1, 2>;
    case 4:
      return copy_block_rows<0, 1, 2, 3>;
    case 5:
      return copy_block_rows<0, 1, 2, 3, 4>;
    case 6:
      return copy_block_rows<0, 1, 2, 3, 4, 5>;
    default:
      return copy_block_rows<0, 1, 2, 3, 4, 5, 6>;
  }
}

// Longer rows are worth a call of memcpy each.
CopyLine line_kernel(std::size_t row_bytes) noexcept {
  if (row_bytes <= 16) {
    return line_kernel_up_to_16(row_bytes);
  }
  if (row_bytes <= 32) {
    return row_bytes == 32 ? copy_blocks<32> : copy_row_ends<16>;
  }
  return row_bytes <= 256 ? line_kernel_up_to_256(row_bytes) : copy_long_rows;
}

// The general case of copy_shape. A separate function, so that the usual case, a single line, needs
// no stack.
[[gnu::noinline]] void copy_lines(std::byte* local, std::byte* remote, const CopyShape& shape,
                                  bool is_put) noexcept {
  const std::size_t row_bytes = shape.run_bytes;
  const CopyShape::Level line = line_of(shape);
  const CopyLine copy_line = line_kernel(row_bytes);
  for_each_line(shape, [&](std::int64_t local_offset, std::int64_t remote_offset) {
    std::byte* const at_local = local + local_offset;
    std::byte* const at_remote = remote + remote_offset;
    if (is_put) {
      copy_line(at_remote, at_local, line.count, line.remote_stride, line.local_stride, row_bytes);
    } else {
      copy_line(at_local, at_remote, line.count, line.local_stride, line.remote_stride, row_bytes);
    }
  });
}

}  // namespace

void move_run(void* to, const void* from, std::size_t bytes) noexcept {
  if (bytes <= short_run_bytes) {
    copy_short(to, from, bytes);
  } else {
    std::memmove(to, from, bytes);
  }
}

void copy_shape(std::byte* local, std::byte* remote, const CopyShape& shape,
                Direction direction) noexcept {
  const bool is_put = direction == Direction::to_remote;
  if (shape.levels == 0) {
    copy_run(is_put ? remote : local, is_put ? local : remote, shape.run_bytes);
    return;
  }
  if (shape.levels > 1 || shape.run_bytes == 0) {
    copy_lines(local, remote, shape, is_put);
    return;
  }
  const auto [count, local_stride, remote_stride] = shape.level[0];
  const CopyLine copy_line = line_kernel(shape.run_bytes);
  if (is_put) {
    copy_line(remote, local, count, remote_stride, local_stride, shape.run_bytes);
  } else {
    copy_line(local, remote, count, local_stride, remote_stride, shape.run_bytes);
  }
}

namespace {

bool do_sides_overlap(const std::byte* local, const std::byte* remote, const CopyShape& shape) {
  const CopyShape::Extent here = shape.local_extent();
  const CopyShape::Extent there = shape.remote_extent();
  const auto start = [](const std::byte* at, std::int64_t distance) {
    return address_of(at) + static_cast<std::uintptr_t>(distance);
  };
  return start(local, here.lowest) < start(remote, there.highest) &&
         start(remote, there.lowest) < start(local, here.highest);
}

}  // namespace

void move_shape(std::byte* local, std::byte* remote, const CopyShape& shape, Direction direction) {
  if (!do_sides_overlap(local, remote, shape)) [[likely]] {
    copy_shape(local, remote, shape, direction);
    return;
  }
  const bool is_put = direction == Direction::to_remote;
  if (shape.levels == 0) {
    move_run(is_put ? remote : local, is_put ? local : remote, shape.run_bytes);
    return;
  }
  std::vector<std::byte> kept(shape.total_bytes());
  std::byte* at = kept.data();
  for_each_run(shape, [&](std::int64_t here, std::int64_t there) {
    copy_run(at, is_put ? local + here : remote + there, shape.run_bytes);
    at += shape.run_bytes;
  });
  at = kept.data();
  for_each_run(shape, [&](std::int64_t here, std::int64_t there) {
    copy_run(is_put ? remote + there : local + here, at, shape.run_bytes);
    at += shape.run_bytes;
  });
}

}  // namespace tessera::rma::kernels
