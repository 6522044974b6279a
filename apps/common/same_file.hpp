// SPDX-License-Identifier: BSD-3-Clause
//
// Whether a file that all ranks read is the same on all: copies on the disks of nodes may be stale,
// and a mixture of two would be computed with as if it were one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "rma/status.hpp"
#include "rma/team.hpp"

namespace tessera::apps {

/// 64 bits that tell contents apart (Fowler, Noll and Vo's hash 1a); not against malice.
class ContentHash {
 public:
  void add(std::string_view text) noexcept;
  [[nodiscard]] std::uint64_t value() const noexcept { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325U;
};

/// What tells a file from another one.
struct FileMark {
  bool is_readable = false;
  std::uint64_t bytes = 0;
  std::uint64_t hash = 0;  ///< of its contents, or of a part of them
};

/// Local. From the size of a file and up to 64 KiB at each of its ends.
FileMark mark_of_file(const std::string& path);

/// Collective. Whether all ranks that can read the file have the same; what is wrong with it on
/// others they tell themselves. Errors, on all: invalid_argument, which names the ranks.
rma::Status check_same_file(rma::Team team, const std::string& path, const FileMark& mine);

}  // namespace tessera::apps
