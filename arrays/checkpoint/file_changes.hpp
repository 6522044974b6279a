// SPDX-License-Identifier: BSD-3-Clause
//
// What an Output has written since its last flush, and the new description of the file that has it.
//
// A description is never changed in place: the new one is written after all elements, beside the
// old one. Only then the superblock, 48 bytes at the beginning of the file, refers to it. So the
// file is complete at every instant (docs/decisions/0076).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arrays/attribute_value.hpp"
#include "arrays/checkpoint/catalog.hpp"
#include "arrays/checkpoint/chunk_place.hpp"
#include "arrays/checkpoint/image.hpp"
#include "rma/base/result.hpp"

namespace tessera::arrays::detail {

/// A data set that is new, or has more steps.
struct ChangedArray {
  StoredArray stored;
  bool is_new = false;
  std::vector<ChunkPlace> chunks;  ///< the new ones
};

struct ChangedAttribute {
  std::string object;  ///< "/" for the file
  std::string name;
  AttributeValue value;
};

struct FileChanges {
  std::vector<std::string> groups;
  std::vector<ChangedArray> arrays;
  std::vector<ChangedAttribute> attributes;

  [[nodiscard]] bool is_empty() const noexcept {
    return groups.empty() && arrays.empty() && attributes.empty();
  }
};

/// A description of everything in the file that `old` describes, which is null for a new file, and
/// of the changes. All of it except the superblock lies at `start` or after that. Requires: no
/// element lies there. Errors: internal, with libhdf5's message; no_memory. Cost: about two
/// microseconds for each chunk in the file.
rma::Result<FileImage> describe_again(FileImage* old, const FileChanges& changes,
                                      std::uint64_t start);

}  // namespace tessera::arrays::detail
