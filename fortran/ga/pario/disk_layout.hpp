// SPDX-License-Identifier: BSD-3-Clause
//
// DiskLayout: where the elements of a disk resident array are in its file.
//
//     byte 0      the header: what the array is, and a checksum of that
//     byte 4096   chunk 0, chunk 1, … in row-major order of the grid of chunks
//
// A chunk is a box of elements in row-major order. All chunks have the same size in the file; those
// at the array's upper ends are padded. So each chunk is read or written at one place. The file has
// its full length from the beginning; what was never written reads as zeros and uses no space. The
// header is written last when the array is made, so a file that was not completed is refused.
//
// The file does not depend on the number of processes. It is not exchangeable with that of Global
// Arrays, nor with machines of another byte order.
//
//     at 0    8 bytes: "TSRADRA" and a zero.
//     at 8    4 bytes: version, 1.
//     at 12   4 bytes: 0x01020304, in the machine's byte order.
//     at 16   4 bytes: type, C's code.
//     at 20   4 bytes: number of dimensions.
//     at 24   8 bytes: bytes of an element.
//     at 32   64 bytes: extents, the last dimension is the fastest.
//     at 96   64 bytes: extents of a chunk.
//     at 160  128 bytes: name, a text that ends with a zero.
//     at 288  8 bytes: FNV-1a hash of the 288 bytes before.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "arrays/box.hpp"
#include "arrays/index.hpp"
#include "rma/base/result.hpp"

namespace tessera::ga::pario {

class DiskLayout {
 public:
  static constexpr std::size_t header_bytes = 296;
  static constexpr std::int64_t data_offset = 4096;
  static constexpr std::size_t name_bytes = 128;
  static constexpr int max_dims = 7;
  using Header = std::array<std::byte, header_bytes>;

  DiskLayout() = default;

  /// `typical` are the extents of a typical section; 0 or less: unknown. A chunk has at most
  /// `max_bytes`, but at least one element. Errors: invalid_argument, limit_exceeded.
  static rma::Result<DiskLayout> create(std::int32_t type, std::int64_t element_bytes,
                                        const arrays::Extents& extents,
                                        const arrays::Extents& typical, std::int64_t max_bytes,
                                        std::string name);

  [[nodiscard]] Header encode() const noexcept;
  /// Errors: protocol, with what is wrong with the header.
  static rma::Result<DiskLayout> decode(const Header& header);

  [[nodiscard]] std::int32_t type() const noexcept { return type_; }
  [[nodiscard]] std::int64_t element_bytes() const noexcept { return element_bytes_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const arrays::Extents& extents() const noexcept { return extents_; }
  [[nodiscard]] int ndims() const noexcept { return extents_.ndims(); }
  [[nodiscard]] const arrays::Extents& chunk() const noexcept { return chunk_; }
  [[nodiscard]] std::int64_t chunk_bytes() const noexcept {
    return volume(chunk_) * element_bytes_;
  }
  [[nodiscard]] std::int64_t file_bytes() const noexcept {
    return data_offset + volume(grid_) * chunk_bytes();
  }

  /// The chunks that a box touches, as a box of the grid.
  [[nodiscard]] arrays::Box chunks_of(const arrays::Box& box) const noexcept;
  /// The elements of a chunk, without the padding.
  [[nodiscard]] arrays::Box box_of(const arrays::Index& chunk) const noexcept;
  /// Where a chunk begins in the file.
  [[nodiscard]] std::int64_t offset_of(const arrays::Index& chunk) const noexcept;
  /// The strides of a chunk's elements.
  [[nodiscard]] arrays::Strides strides() const noexcept { return dense_strides(chunk_); }

 private:
  rma::Status check() const;
  void set_grid() noexcept;

  std::int32_t type_ = 0;
  std::int64_t element_bytes_ = 0;
  arrays::Extents extents_;
  arrays::Extents chunk_;
  arrays::Extents grid_;
  std::string name_;
};

}  // namespace tessera::ga::pario
