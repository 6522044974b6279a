// SPDX-License-Identifier: BSD-3-Clause
//
// Exposure: the parts of a node's arena that the device knows, as one process registered them: by
// slabs, so that any number of regions costs few registrations, and when they are first asked for.
//
// A device holds on to the pages that it was told of. So a slab's memory is taken whole and never
// given back (Arena::keep); the regions in it come and go.
//
// Threads: all functions may be called from any thread; those that find what is known share a lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <shared_mutex>
#include <vector>

#include "rma/node/node.hpp"
#include "rma/result.hpp"
#include "rma/verbs/registration.hpp"

namespace tessera::rma::verbs {

/// Bytes that lie behind each other under the same keys.
struct Known {
  std::byte* from = nullptr;
  std::uint64_t bytes = 0;
  std::uint32_t local_key = 0;
  std::uint32_t remote_key = 0;
};

class Exposure {
 public:
  /// `slab_bytes`: a multiple of a granule. `has_atomics`: others may do them in it.
  Exposure(Registrar& registrar, std::shared_ptr<detail::Node> node, std::uint64_t slab_bytes,
           bool has_atomics) noexcept;

  [[nodiscard]] bool is_in_arena(const std::byte* at) const noexcept;
  /// What is known from `from` on, at most `bytes` of it; registers what isn't. Errors: unsupported
  /// where it can't be, with the reason. Requires: is_in_arena(from), bytes > 0.
  Result<Known> find(std::byte* from, std::uint64_t bytes);

 private:
  struct Part {
    std::byte* from;
    std::byte* end;
    Registration registration;
  };
  [[nodiscard]] const Part* part_at(const std::byte* at) const noexcept;
  [[nodiscard]] static Known cut(const Part& part, std::byte* from, std::uint64_t bytes) noexcept;
  Status add_part(std::byte* from, std::uint64_t bytes);

  Registrar& registrar_;
  std::shared_ptr<detail::Node> node_;
  const std::uint64_t slab_bytes_;
  const int access_;
  mutable std::shared_mutex mutex_;
  std::vector<Part> parts_;  // by address
  Status refusal_;           // of the device, which is asked no more
};

}  // namespace tessera::rma::verbs
