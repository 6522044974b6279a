// SPDX-License-Identifier: BSD-3-Clause
#include "bench/baselines/mapping.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <system_error>

namespace tessera::bench {
namespace {

[[noreturn]] void fail(int cause, const char* what) {
  throw std::system_error(cause, std::generic_category(), what);
}

void* map_own(std::size_t bytes) {
  return mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

void* map_shared(std::size_t bytes) {
  const int file = memfd_create("tessera-bench-baseline", MFD_CLOEXEC);
  if (file < 0) {
    fail(errno, "cannot create a shared-memory file for a baseline's buffer (memfd_create)");
  }
  // Allocate now: a later lack of memory would be a SIGBUS.
  if (const int cause = posix_fallocate(file, 0, static_cast<off_t>(bytes)); cause != 0) {
    close(file);
    fail(cause, "cannot allocate shared memory for a baseline's buffer (posix_fallocate)");
  }
  void* address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return address;
}

}  // namespace

Mapping::Mapping(std::size_t bytes, Sharing sharing, std::size_t offset_bytes) {
  const std::size_t all = bytes + offset_bytes;
  void* address = sharing == Sharing::shared ? map_shared(all) : map_own(all);
  if (address == MAP_FAILED) {
    fail(errno, "cannot map memory for a baseline's buffer (mmap)");
  }
  mapped_ = {static_cast<std::byte*>(address), all};
  bytes_ = mapped_.subspan(offset_bytes);
  std::memset(address, 0, all);
}

Mapping::~Mapping() {
  munmap(mapped_.data(), mapped_.size());
}

std::size_t line_offset(const void* address) {
  constexpr std::uintptr_t line = 64;
  return reinterpret_cast<std::uintptr_t>(address) % line;
}

}  // namespace tessera::bench
