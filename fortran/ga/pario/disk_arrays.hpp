// SPDX-License-Identifier: BSD-3-Clause
//
// DiskArrays: the disk resident arrays that are open. Indices and dimensions are in the internal
// form of fortran/ga: from 0, the last dimension fastest.
//
// All operations are collective over the default group, and all processes return the same error. A
// handle is -5000 + the number of a slot. The chunks that a section touches are divided among the
// processes; each reads or writes whole chunks, so no two processes write the same bytes.
//
// Threads: one at a time. Cost of a section: each chunk it touches is written once, and read before
// if the section covers a part of it only. Memory: one chunk in each process.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fortran/ga/pario/disk_layout.hpp"
#include "fortran/ga/pario/files.hpp"
#include "fortran/ga/records.hpp"

namespace tessera::ga::pario {

/// A section of a global array and one of a disk resident array.
struct SectionPair {
  std::int64_t array = 0;  ///< handles
  std::int64_t disk = 0;
  Box array_box = {};
  Box disk_box = {};
  bool is_transposed = false;
};

class DiskArrays {
 public:
  static constexpr std::int64_t first_handle = -5000;
  static constexpr std::int64_t max_arrays = 1000;

  /// The disk resident arrays of this process.
  static DiskArrays& all();

  /// Collective. The number of arrays that may be open, and the bytes of memory for a chunk; −1:
  /// defaults.
  Status begin(std::int64_t arrays, double most_memory);
  Status end();

  Result<std::int64_t> create(Type type, const Extents& extents, std::string_view name,
                              std::string_view file, std::int64_t mode, const Extents& typical);
  Result<std::int64_t> open(std::string_view file, std::int64_t mode);
  Status close(std::int64_t handle);
  Status remove(std::int64_t handle);

  struct Description {
    const DiskLayout& layout;
    const std::string& file;
  };
  Result<Description> inquire(std::int64_t handle) const;

  Status write(const SectionPair& pair);
  Status read(const SectionPair& pair);
  /// The pair of whole arrays.
  Result<SectionPair> whole(std::int64_t array, std::int64_t disk) const;

 private:
  struct Entry {
    DiskLayout layout;
    Access access = Access::read_write;
    File file;
    std::string name;
  };
  enum class Direction : unsigned char { to_disk, from_disk };

  [[nodiscard]] Result<Entry*> find(std::int64_t handle) const;
  Result<std::int64_t> add(std::unique_ptr<Entry> entry);
  Status check_begun() const;
  Status check(const SectionPair& pair, const Record& record, const Entry& entry,
               Direction direction) const;
  Status transfer(const SectionPair& pair, Direction direction);
  static Status transfer_chunks(const SectionPair& pair, const Record& record, const Entry& entry,
                                Direction direction);

  bool is_begun_ = false;
  std::int64_t most_arrays_ = 0;
  std::int64_t most_chunk_bytes_ = 0;
  std::vector<std::unique_ptr<Entry>> entries_;  ///< null: not in use
};

}  // namespace tessera::ga::pario
