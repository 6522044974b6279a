// SPDX-License-Identifier: BSD-3-Clause
//
// Allocations that fail when a test chooses. Programs with failing_new.cpp among their sources get
// this, because it replaces operator new.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tessera::rma::test {

/// Which allocations may fail.
struct FailingKind {
  std::size_t min_bytes = 1;
  const char* except_within = nullptr;  ///< except in functions of this library, or called by them
};

/// During its lifetime, one allocation of this thread by `new` fails, as if no memory were left:
/// among those of a kind, the one with this number, counted from 1; with 0, none. One object at a
/// time. Threads: the one that made it.
class FailingNew {
 public:
  FailingNew(std::int64_t number, const FailingKind& kind) noexcept;
  FailingNew(const FailingNew&) = delete;
  FailingNew& operator=(const FailingNew&) = delete;
  ~FailingNew();

  /// Whether that allocation was requested, and failed.
  [[nodiscard]] bool has_failed() const noexcept;
};

/// Whether functions of this library can be distinguished from others: true if it is shared.
bool is_shared_library(const char* name) noexcept;

}  // namespace tessera::rma::test
