// SPDX-License-Identifier: BSD-3-Clause
//
// What libhdf5 does for checkpoints: it writes and reads what describes the arrays, in a FileImage.
// Elements are moved without it. hdf5_absent.cpp stands here where Tessera is built without.
//
// Layout of a file: each array is a contiguous data set in the root group, of its elements in
// row-major order of the global indices; with the attributes
//
//     tessera_distribution           text, for people
//     tessera_distribution_numbers   int64 list, see stored_distribution.hpp
//     tessera_piece_elements         int64, elements of which each checksum tells
//     tessera_checksums              uint64 list, XXH3 of each piece's bytes
//
// The root group has the user's attributes, and tessera_checkpoint, the format.
//
// Threads: one at a time in a process, unless libhdf5 is built for threads (Debian's is).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "arrays/checkpoint/catalog.hpp"
#include "arrays/checkpoint/image.hpp"

namespace tessera::arrays::detail {

/// Names that begin so are not the user's.
inline constexpr const char* reserved_prefix = "tessera_";

/// What tessera_checkpoint says of files that are as told above.
inline constexpr std::int64_t checkpoint_format = 1;

/// Ok where libhdf5 is built in. Errors: unsupported, which names the package.
rma::Status check_hdf5();

class Hdf5Writer {
 public:
  /// Errors of all functions: internal, with libhdf5's words; no_memory.
  static rma::Result<Hdf5Writer> create();
  Hdf5Writer(Hdf5Writer&&) noexcept;
  Hdf5Writer& operator=(Hdf5Writer&&) noexcept;
  ~Hdf5Writer();

  /// Makes a data set with room for all elements. Returns where in the file that is, in bytes; −1
  /// for an array without elements.
  rma::Result<std::int64_t> add_array(const StoredArray& array);
  rma::Status set_checksums(const std::string& array, const std::vector<std::uint64_t>& checksums);
  rma::Status add_attribute(const std::string& name, const StoredValue& value);
  /// Ends the writing. The image has all but the elements.
  rma::Result<FileImage> finish();

 private:
  struct State;
  explicit Hdf5Writer(std::unique_ptr<State> state) noexcept;
  std::unique_ptr<State> state_;
};

/// Errors: protocol for what libhdf5 can't read, or for an HDF5 part that does not end where the
/// file or its guard says; unsupported for another format.
rma::Result<Catalog> read_catalog(FileImage& image, const std::string& path);

}  // namespace tessera::arrays::detail
