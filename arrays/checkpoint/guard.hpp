// SPDX-License-Identifier: BSD-3-Clause
//
// The guard: what stands behind the HDF5 part of a checkpoint, and proves the bytes that describe
// the arrays before libhdf5 is given them. Elements have checksums of their own.
//
// All numbers are 64 bits, little-endian:
//
//     HDF5 part            up to the end that its superblock tells
//     table                offset and length of each fragment of metadata, ascending
//     footer, 40 bytes     "TESSERA\n" · format · number of fragments · checksum of the fragments'
//                          bytes · checksum of table and footer up to here
//
// HDF5's own tools don't look behind the end. When one of them changes the file it cuts the guard
// off, and the file is then read without.
#pragma once

#include <cstdint>
#include <optional>

#include "arrays/checkpoint/file.hpp"
#include "arrays/checkpoint/image.hpp"

namespace tessera::arrays::detail {

/// Writes the image's fragments to their places, the guard behind its end, and nothing else.
rma::Status write_guarded(const File& file, const FileImage& image);

/// The image of a file that has a guard; none for a file without. Errors: protocol for damage,
/// unsupported for a format that is not known here, and those of reading.
rma::Result<std::optional<FileImage>> read_guarded(const File& file);

}  // namespace tessera::arrays::detail
