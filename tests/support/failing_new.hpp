// SPDX-License-Identifier: BSD-3-Clause
//
// Memory that runs out where a test wants it. Programs that have failing_new.cpp among their
// sources get it, as that replaces operator new.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tessera::rma::test {

/// Which allocations may fail.
struct FailingKind {
  std::size_t least_bytes = 1;
  const char* except_within = nullptr;  ///< but not of functions of this library, or called by them
};

/// While it lives, one allocation of this thread's by `new` fails, as if no memory were left: of
/// those of a kind, the one with this number, from 1 on; with 0 none. One at a time. Threads: the
/// one that made it.
class FailingNew {
 public:
  FailingNew(std::int64_t number, const FailingKind& kind) noexcept;
  FailingNew(const FailingNew&) = delete;
  FailingNew& operator=(const FailingNew&) = delete;
  ~FailingNew();

  /// The allocation has been asked for, and failed.
  [[nodiscard]] bool has_failed() const noexcept;
};

/// Whether functions of this library can be told from others: it is shared.
bool is_shared_library(const char* name) noexcept;

}  // namespace tessera::rma::test
