// SPDX-License-Identifier: BSD-3-Clause
//
// ArenaRegistrations: the ranges of a node's arena that one process has registered with its device.
// It registers whole slabs at their first use, so that many regions need few registrations.
//
// A device refers to the pages that it registered. So a registered slab is committed as a whole and
// never returned to the system (ReachableMemory::keep), even if its regions are freed.
//
// Threads: all functions may be called from any thread. A lookup of registered memory takes a
// shared lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <shared_mutex>
#include <vector>

#include "rma/base/result.hpp"
#include "rma/transport/rdma.hpp"
#include "rma/transport/verbs/registration.hpp"

namespace tessera::rma::verbs {

/// Contiguous registered bytes, and the keys with which devices access them.
struct RegisteredSpan {
  std::byte* from = nullptr;
  std::uint64_t bytes = 0;
  std::uint32_t local_key = 0;
  std::uint32_t remote_key = 0;
};

class ArenaRegistrations {
 public:
  /// `slab_bytes`: a multiple of granule_bytes. `has_atomics`: registers for remote atomics too.
  ArenaRegistrations(Registrar& registrar, std::shared_ptr<detail::ReachableMemory> arena,
                     std::uint64_t slab_bytes, bool has_atomics) noexcept;

  [[nodiscard]] bool is_in_arena(const std::byte* at) const noexcept;
  /// The registered memory that begins at `from`, at most `bytes` of it; registers its slabs if
  /// necessary. It is shorter if the next bytes belong to another registration. Errors:
  /// unsupported, with the reason, if it cannot be registered. Requires: is_in_arena(from), bytes >
  /// 0.
  Result<RegisteredSpan> find(std::byte* from, std::uint64_t bytes);

 private:
  struct Range {
    std::byte* from;
    std::byte* end;
    Registration registration;
  };
  [[nodiscard]] const Range* range_at(const std::byte* at) const noexcept;
  [[nodiscard]] static RegisteredSpan span_in(const Range& range, std::byte* from,
                                              std::uint64_t bytes) noexcept;
  Status add_range(std::byte* from, std::uint64_t bytes);

  Registrar& registrar_;
  std::shared_ptr<detail::ReachableMemory> arena_;
  const std::uint64_t slab_bytes_;
  const int access_;
  mutable std::shared_mutex mutex_;
  std::vector<Range> ranges_;  // in order of address
  Status first_error_;         // of the device; after it, no further registration is tried
};

}  // namespace tessera::rma::verbs
