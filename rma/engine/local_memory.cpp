// SPDX-License-Identifier: BSD-3-Clause
#include "rma/engine/local_memory.hpp"

#include <fmt/format.h>

#include <utility>

namespace tessera::rma::detail {

Result<void*> LocalMemory::allocate(Node& node, std::size_t bytes) {
  Arena& arena = node.arena();
  // Made first: what follows the allocation needs no memory.
  decltype(bytes_of_) made{{nullptr, bytes}};
  auto entry = made.extract(made.begin());
  TESSERA_ASSIGN_OR_RETURN(const std::uint64_t offset, arena.allocate(bytes));
  if (Status status = arena.back(offset, bytes); !status.ok()) {
    arena.free(offset, bytes);
    return std::move(status).context("allocating local memory");
  }
  void* const memory = arena.at(offset);
  entry.key() = memory;
  const std::lock_guard guard(mutex_);
  bytes_of_.insert(std::move(entry));
  return memory;
}

Status LocalMemory::free(Node& node, void* memory) {
  std::uint64_t bytes = 0;
  {
    const std::lock_guard guard(mutex_);
    const auto found = bytes_of_.find(memory);
    if (found == bytes_of_.end()) {
      return Status::error(Code::invalid_argument,
                           fmt::format("{} is not memory from allocate_local", memory));
    }
    bytes = found->second;
    bytes_of_.erase(found);
  }
  Arena& arena = node.arena();
  arena.free(static_cast<std::uint64_t>(static_cast<std::byte*>(memory) - arena.at(0)), bytes);
  return {};
}

}  // namespace tessera::rma::detail
