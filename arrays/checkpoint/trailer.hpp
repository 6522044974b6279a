// SPDX-License-Identifier: BSD-3-Clause
//
// The trailer after the HDF5 part of a checkpoint: a checksum of the bytes that describe the
// arrays. They are verified before libhdf5 reads them. Elements have checksums of their own.
//
// All numbers are 64 bits, little-endian:
//
//     HDF5 part            up to the end that its superblock states
//     table                offset and length of each fragment of metadata, ascending
//     footer, 40 bytes     "TESSERA\n" · format · number of fragments · checksum of the fragments'
//                          bytes · checksum of table and footer up to here
//
// HDF5's own tools ignore bytes after the end. If such a tool changes the file, it removes the
// trailer, and the file is then read unverified.
//
// Output, which appends to files, puts a header of 16 bytes before the table: "tessera\n" and the
// length of table and footer. Such a trailer begins where the superblock says that the HDF5 part
// ends. Bytes after the trailer, which a crash may leave there, are ignored.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "arrays/checkpoint/file.hpp"
#include "arrays/checkpoint/image.hpp"

namespace tessera::arrays::detail {

/// Writes the image's fragments at their offsets, and the trailer, without a header, after the
/// image's end; nothing else.
rma::Status write_with_trailer(const File& file, const FileImage& image);

/// The trailer of an image, with a header. It must be written at the image's end before the
/// image's superblock is written.
std::vector<std::uint64_t> trailer_with_header(const FileImage& image);

/// The image of a file: verified if it has a trailer, and otherwise unverified. Requires: the file
/// outlives the image. Errors: as read_with_trailer().
rma::Result<FileImage> read_image(const File& file);

/// The end of a file without bytes after a trailer with a header.
rma::Result<std::uint64_t> description_end(const File& file);

/// The image of a file that has a trailer; unset for a file without one. Errors: protocol for
/// damage, unsupported for an unknown format, and those of reading.
rma::Result<std::optional<FileImage>> read_with_trailer(const File& file);

}  // namespace tessera::arrays::detail
