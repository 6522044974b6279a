// SPDX-License-Identifier: BSD-3-Clause
//
// FileImage: the file as libhdf5 sees it: in memory, and only the part that describes the arrays,
// without their elements.
//
// libhdf5 therefore never accesses the disk. It can't fail halfway if space runs out, and gets no
// damaged bytes (trailer.hpp), which can crash it.
//
//     written     the fragments that libhdf5 wrote, by offset; nothing else takes memory. After
//                 begin_at() all but the superblock, which is at 0, lies after that offset, so that
//                 a new description never overwrites an old one
//     verified    the same, read from a file whose trailer has the right checksum
//     unverified  a file without a trailer: every read goes to the file
//
// Threads: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "arrays/checkpoint/file.hpp"

namespace tessera::arrays::detail {

struct ByteRange {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

class FileImage {
 public:
  using Fragments = std::map<std::uint64_t, std::vector<std::byte>>;

  /// An empty image.
  FileImage() = default;
  /// An unverified image. Requires: `file` outlives the image.
  FileImage(const File& file, std::uint64_t bytes) noexcept : file_(&file), end_(bytes) {}

  /// Copies bytes in, over existing ones. Errors: no_memory.
  rma::Status write(std::uint64_t offset, std::span<const std::byte> from) noexcept;
  /// True if a write found no memory; libhdf5 does not report that.
  [[nodiscard]] bool lacked_memory() const noexcept { return lacked_memory_; }
  /// Copies bytes out; zeros where nothing was written. Errors: those of the file.
  rma::Status read(std::uint64_t offset, std::span<std::byte> to) const noexcept;

  /// The end of the file, in bytes.
  [[nodiscard]] std::uint64_t end() const noexcept { return end_; }
  void set_end(std::uint64_t end) noexcept { end_ = end; }
  /// The end of the file as libhdf5 writes it into the superblock.
  [[nodiscard]] std::uint64_t superblock_end() const noexcept { return superblock_end_; }
  void set_superblock_end(std::uint64_t end) noexcept { superblock_end_ = end; }
  /// Where descriptions begin; see above. Unset again after the last one.
  void begin_at(std::optional<std::uint64_t> offset) noexcept { start_ = offset; }
  [[nodiscard]] std::optional<std::uint64_t> start() const noexcept { return start_; }

  /// Until it is unset: the elements that libhdf5 makes room for have this range of the file, and
  /// what it writes there is discarded, since the ranks write elements themselves.
  void place_elements(std::optional<ByteRange> range) noexcept { placed_ = range; }
  [[nodiscard]] const std::optional<ByteRange>& placed_elements() const noexcept { return placed_; }
  /// In trace mode a read of elements by libhdf5 reads nothing; traced() is the range of the last
  /// one.
  void trace_elements(bool is_on) noexcept { is_traced_ = is_on; }
  [[nodiscard]] bool is_traced() const noexcept { return is_traced_; }
  void set_traced(const ByteRange& range) noexcept { traced_ = range; }
  [[nodiscard]] const ByteRange& traced() const noexcept { return traced_; }

  /// The written fragments; they neither overlap nor touch.
  [[nodiscard]] const Fragments& fragments() const noexcept { return fragments_; }

 private:
  void merge(std::uint64_t offset, std::span<const std::byte> from);

  const File* file_ = nullptr;
  std::uint64_t end_ = 0;
  std::uint64_t superblock_end_ = 0;
  std::optional<std::uint64_t> start_;
  std::optional<ByteRange> placed_;
  ByteRange traced_;
  bool is_traced_ = false;
  bool lacked_memory_ = false;
  Fragments fragments_;
};

}  // namespace tessera::arrays::detail
