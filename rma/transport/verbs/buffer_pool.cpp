// SPDX-License-Identifier: BSD-3-Clause
#include "rma/transport/verbs/buffer_pool.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <numeric>
#include <utility>

#include "rma/base/memory.hpp"

namespace tessera::rma::verbs {

RegisteredBufferPool::RegisteredBufferPool(std::byte* memory, std::size_t count,
                                           std::size_t bytes) noexcept
    : memory_(memory), count_(count), bytes_(bytes) {}

RegisteredBufferPool::~RegisteredBufferPool() {
  registration_ = Registration();
  munmap(memory_, count_ * bytes_);
}

// Whole pages: a page that the device holds must contain nothing else.
Result<std::unique_ptr<RegisteredBufferPool>> RegisteredBufferPool::create(Registrar& registrar,
                                                                           std::size_t count,
                                                                           std::size_t bytes,
                                                                           int access) {
  void* const memory =
      mmap(nullptr, count * bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return Status::error(Code::no_memory, fmt::format("no memory for {} buffers of {} bytes: {}",
                                                      count, bytes, describe_system_error(ENOMEM)))
        .hint(remedy_for_system_error(ENOMEM));
  }
  std::unique_ptr<RegisteredBufferPool> pool(
      new RegisteredBufferPool(static_cast<std::byte*>(memory), count, bytes));
  TESSERA_ASSIGN_OR_RETURN(pool->registration_, registrar.pin(memory, count * bytes, access));
  pool->free_.resize(count);
  std::iota(pool->free_.rbegin(), pool->free_.rend(), 0);
  return pool;
}

int RegisteredBufferPool::take() noexcept {
  const std::lock_guard guard(mutex_);
  if (free_.empty()) {
    return -1;
  }
  const int buffer = free_.back();
  free_.pop_back();
  return buffer;
}

void RegisteredBufferPool::give_back(int buffer) noexcept {
  const std::lock_guard guard(mutex_);
  free_.push_back(buffer);  // capacity for all is reserved
}

bool RegisteredBufferPool::is_scarce() const noexcept {
  const std::lock_guard guard(mutex_);
  return free_.size() < count_ / 2;
}

}  // namespace tessera::rma::verbs
