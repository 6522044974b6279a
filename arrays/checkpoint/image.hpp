// SPDX-License-Identifier: BSD-3-Clause
//
// FileImage: what libhdf5 sees instead of a file: only that part of it which describes the arrays,
// without their elements, and in memory.
//
// libhdf5 so never touches the disk. It can't be left with half a file when space runs out, nor
// be given bytes that are damaged (guard.hpp), which it does not always survive.
//
//     written     fragments by place, of what libhdf5 wrote; nothing else takes memory
//     guarded     the same, read from a file and proved
//     unguarded   of a file that others wrote: everything is read from there when asked for
//
// Threads: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "arrays/checkpoint/file.hpp"

namespace tessera::arrays::detail {

class FileImage {
 public:
  using Fragments = std::map<std::uint64_t, std::vector<std::byte>>;

  /// Nothing written yet.
  FileImage() = default;
  /// Unguarded. Requires: `file` outlives the image.
  FileImage(const File& file, std::uint64_t bytes) noexcept : file_(&file), end_(bytes) {}

  /// Copies bytes in, over what was there. Errors: no_memory.
  rma::Status write(std::uint64_t offset, std::span<const std::byte> from) noexcept;
  /// Copies bytes out; zeros where nothing was written. Errors: those of the file.
  rma::Status read(std::uint64_t offset, std::span<std::byte> to) const noexcept;

  /// Where the file ends, in bytes.
  [[nodiscard]] std::uint64_t end() const noexcept { return end_; }
  void set_end(std::uint64_t end) noexcept { end_ = end; }
  /// Where libhdf5 says that it ends: as the file itself tells.
  [[nodiscard]] std::uint64_t stated_end() const noexcept { return stated_end_; }
  void set_stated_end(std::uint64_t end) noexcept { stated_end_ = end; }
  /// What was written; they neither overlap nor touch.
  [[nodiscard]] const Fragments& fragments() const noexcept { return fragments_; }

 private:
  void merge(std::uint64_t offset, std::span<const std::byte> from);

  const File* file_ = nullptr;
  std::uint64_t end_ = 0;
  std::uint64_t stated_end_ = 0;
  Fragments fragments_;
};

}  // namespace tessera::arrays::detail
