// SPDX-License-Identifier: BSD-3-Clause
//
// LocalMemory: memory of the node that a program uses as the local end of transfers, see
// Job::allocate_local.
//
// Threads: all functions may be called from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

#include "rma/base/result.hpp"
#include "rma/node/node.hpp"

namespace tessera::rma::detail {

class LocalMemory {
 public:
  /// Errors: no_memory, limit_exceeded.
  Result<void*> allocate(Node& node, std::size_t bytes);
  /// Errors: invalid_argument if the memory is not from allocate().
  Status free(Node& node, void* memory);

 private:
  std::mutex mutex_;
  std::map<const void*, std::uint64_t> bytes_of_;
};

}  // namespace tessera::rma::detail
