// SPDX-License-Identifier: BSD-3-Clause
//
// The part of checkpoints that libhdf5 does: it writes and reads the descriptions of arrays, in a
// FileImage. Elements are moved without it. hdf5_absent.cpp replaces this in builds without HDF5.
//
// Layout of a file: each array is a contiguous data set in the root group, with its elements in
// row-major order of the global indices. Its attributes are
//
//     tessera_distribution           readable text
//     tessera_distribution_numbers   int64 list, see stored_distribution.hpp
//     tessera_piece_elements         int64, the number of elements for each checksum
//     tessera_checksums              uint64 list, XXH3 of each piece's bytes
//
// The root group has the user's attributes, and tessera_checkpoint, the number of the format.
//
// Threads: one at a time in a process, unless libhdf5 is built for threads (Debian's is).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "arrays/checkpoint/catalog.hpp"
#include "arrays/checkpoint/chunk_grid.hpp"
#include "arrays/checkpoint/chunk_place.hpp"
#include "arrays/checkpoint/image.hpp"

namespace tessera::arrays::detail {

/// Names with this prefix can't be used by users.
inline constexpr const char* reserved_prefix = "tessera_";

/// The value of tessera_checkpoint for the format above.
inline constexpr std::int64_t checkpoint_format = 1;

/// Ok if Tessera was built with libhdf5. Errors: unsupported, which names the package.
rma::Status check_hdf5();

class Hdf5Writer {
 public:
  /// Errors of all functions: internal, with libhdf5's message; no_memory.
  static rma::Result<Hdf5Writer> create();
  Hdf5Writer(Hdf5Writer&&) noexcept;
  Hdf5Writer& operator=(Hdf5Writer&&) noexcept;
  ~Hdf5Writer();

  /// Makes a data set with room for all elements. Returns the offset of the elements in the file,
  /// in bytes; −1 for an array without elements.
  rma::Result<std::int64_t> add_array(const StoredArray& array);
  rma::Status set_checksums(const std::string& array, const std::vector<std::uint64_t>& checksums);
  rma::Status add_attribute(const std::string& name, const AttributeValue& value);
  /// Ends writing. The image has everything except the elements.
  rma::Result<FileImage> finish();

 private:
  struct State;
  explicit Hdf5Writer(std::unique_ptr<State> state) noexcept;
  std::unique_ptr<State> state_;
};

/// Errors: protocol if libhdf5 can't read the image, or if its HDF5 part does not end where the
/// file or its trailer says; unsupported for another format.
rma::Result<Catalog> read_catalog(FileImage& image, const std::string& path);

/// Where chunks [first, last) of a range lie in the file. Errors: protocol for a chunk beyond the
/// end; internal, with libhdf5's message. Cost: about a microsecond for each chunk.
rma::Result<std::vector<ChunkPlace>> find_chunks(FileImage& image, const StoredArray& array,
                                                 const ChunkRange& range, std::int64_t first,
                                                 std::int64_t last);

}  // namespace tessera::arrays::detail
