// SPDX-License-Identifier: BSD-3-Clause
//
// Checks that a file is the same on all ranks that read it. Copies on the disks of nodes may be
// old, and the program would compute with a mixture.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "rma/base/status.hpp"
#include "rma/team.hpp"

namespace tessera::apps {

/// A 64-bit hash of contents (Fowler, Noll and Vo's hash 1a); no protection against malice.
class ContentHash {
 public:
  void add(std::string_view text) noexcept;
  [[nodiscard]] std::uint64_t value() const noexcept { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325U;
};

/// Identifies a file.
struct FileMark {
  bool is_readable = false;
  std::uint64_t bytes = 0;
  std::uint64_t hash = 0;  ///< of its contents, or of a part of them
};

/// Local. Uses the size of a file and up to 64 KiB at each end.
FileMark mark_of_file(const std::string& path);

/// Collective. Checks that all ranks that can read the file have the same one. Ranks that cannot
/// read it report that themselves. Errors, on all: invalid_argument, which names the ranks.
rma::Status check_same_file(rma::Team team, const std::string& path, const FileMark& own);

}  // namespace tessera::apps
