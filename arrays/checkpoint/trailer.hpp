// SPDX-License-Identifier: BSD-3-Clause
//
// The guard: a trailer after the HDF5 part of a checkpoint. It verifies the bytes that describe the
// arrays before libhdf5 reads them. Elements have checksums of their own.
//
// All numbers are 64 bits, little-endian:
//
//     HDF5 part            up to the end that its superblock states
//     table                offset and length of each fragment of metadata, ascending
//     footer, 40 bytes     "TESSERA\n" · format · number of fragments · checksum of the fragments'
//                          bytes · checksum of table and footer up to here
//
// HDF5's own tools ignore bytes after the end. If such a tool changes the file, it removes the
// guard, and the file is then read without it.
//
// Output, which appends to files, puts a front of 16 bytes before the table: "tessera\n" and the
// length of table and footer. The guard then begins where the superblock says that the HDF5 part
// ends, and whatever follows it, after a crash, doesn't matter.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "arrays/checkpoint/file.hpp"
#include "arrays/checkpoint/image.hpp"

namespace tessera::arrays::detail {

/// Writes the image's fragments at their offsets, and the guard after the image's end; nothing
/// else.
rma::Status write_with_trailer(const File& file, const FileImage& image);

/// The guard of an image with a front. It belongs at the image's end, before its superblock is
/// written.
std::vector<std::uint64_t> trailer_with_front(const FileImage& image);

/// The image of a file: guarded if it has a guard, and otherwise unguarded. Requires: the file
/// outlives the image. Errors: as read_with_trailer().
rma::Result<FileImage> read_image(const File& file);

/// The end of a file without what may follow its guard with a front.
rma::Result<std::uint64_t> description_end(const File& file);

/// The image of a file that has a guard; unset for a file without one. Errors: protocol for damage,
/// unsupported for an unknown format, and those of reading.
rma::Result<std::optional<FileImage>> read_with_trailer(const File& file);

}  // namespace tessera::arrays::detail
