// SPDX-License-Identifier: BSD-3-Clause
//
// ArenaRegistrations: the parts of a node's arena that one process has registered with its device.
// It registers whole slabs, at their first use, so that any number of regions needs few
// registrations.
//
// A device keeps the pages that are registered with it. So a slab's memory is taken whole and never
// returned to the system (ReachableMemory::keep), while regions in it are created and freed.
//
// Threads: all functions may be called from any thread; those that find registered memory share a
// lock.
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

/// Contiguous bytes under the same keys.
struct RegisteredSpan {
  std::byte* from = nullptr;
  std::uint64_t bytes = 0;
  std::uint32_t local_key = 0;
  std::uint32_t remote_key = 0;
};

class ArenaRegistrations {
 public:
  /// `slab_bytes`: a multiple of a granule. `has_atomics`: registered for remote atomics.
  ArenaRegistrations(Registrar& registrar, std::shared_ptr<detail::ReachableMemory> arena,
                     std::uint64_t slab_bytes, bool has_atomics) noexcept;

  [[nodiscard]] bool is_in_arena(const std::byte* at) const noexcept;
  /// The registered memory from `from` on, at most `bytes` of it; registers it if necessary.
  /// Errors: unsupported, with the reason, if it cannot be registered. Requires: is_in_arena(from),
  /// bytes > 0.
  Result<RegisteredSpan> find(std::byte* from, std::uint64_t bytes);

 private:
  struct Part {
    std::byte* from;
    std::byte* end;
    Registration registration;
  };
  [[nodiscard]] const Part* part_at(const std::byte* at) const noexcept;
  [[nodiscard]] static RegisteredSpan span_in(const Part& part, std::byte* from,
                                              std::uint64_t bytes) noexcept;
  Status add_part(std::byte* from, std::uint64_t bytes);

  Registrar& registrar_;
  std::shared_ptr<detail::ReachableMemory> arena_;
  const std::uint64_t slab_bytes_;
  const int access_;
  mutable std::shared_mutex mutex_;
  std::vector<Part> parts_;  // by address
  Status refusal_;           // the device's first error; afterwards registration is not tried again
};

}  // namespace tessera::rma::verbs
