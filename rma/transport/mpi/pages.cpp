// SPDX-License-Identifier: BSD-3-Clause
#include "rma/transport/mpi/pages.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "rma/base/memory.hpp"
#include "rma/base/rounding.hpp"

namespace tessera::rma::mpi {
namespace {

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

std::uintptr_t page_bytes() noexcept {
  static const auto bytes = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

void* pointer_to(std::uintptr_t address) noexcept {
  return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr): a page's
}

}  // namespace

Result<std::byte*> map_pages(std::size_t bytes) {
  if (bytes == 0) {
    return static_cast<std::byte*>(nullptr);
  }
  void* const pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED) {
    return Status::error(Code::no_memory, fmt::format("no address space for {}: {}",
                                                      human_bytes(bytes), std::strerror(errno)));
  }
  return static_cast<std::byte*>(pages);
}

void unmap_pages(std::byte* pages, std::size_t bytes) noexcept {
  if (bytes > 0) {
    munmap(pages, bytes);
  }
}

// Kernels before 5.14 do not know this advice; exhausted memory then is a signal.
Status commit_pages(std::byte* from, std::size_t bytes) {
  if (bytes == 0) {
    return {};
  }
  const auto address = reinterpret_cast<std::uintptr_t>(from);
  const std::uintptr_t first = address / page_bytes() * page_bytes();
  const std::size_t whole_pages = round_up(address + bytes, page_bytes()) - first;
  if (madvise(pointer_to(first), whole_pages, MADV_POPULATE_WRITE) != 0 && errno != EINVAL) {
    return Status::error(Code::no_memory, fmt::format("no memory for {} of a window: {}",
                                                      human_bytes(bytes), std::strerror(errno)))
        .hint("free memory, enlarge /dev/shm, or use more machines");
  }
  std::memset(from, 0, bytes);
  return {};
}

Status zero_lazily(std::byte* from, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(from);
  const std::uintptr_t first = round_up(address, page_bytes());
  const std::uintptr_t end = (address + bytes) / page_bytes() * page_bytes();
  if (bytes == 0) {
    return {};
  }
  if (first >= end) {
    return commit_pages(from, bytes);
  }
  std::memset(from, 0, first - address);
  std::memset(pointer_to(end), 0, address + bytes - end);
  // Shared memory frees its pages by the first advice, private memory by the second.
  if (madvise(pointer_to(first), end - first, MADV_REMOVE) == 0 ||
      madvise(pointer_to(first), end - first, MADV_DONTNEED) == 0) {
    return {};
  }
  return commit_pages(from, bytes);
}

Status check_shared_memory(std::uint64_t bytes, bool is_in_file) {
  constexpr std::uint64_t unchecked = std::uint64_t{1} << 20U;
  if (bytes < unchecked) {
    return {};
  }
  TESSERA_ASSIGN_OR_RETURN(const AvailableMemory available, find_available_memory());
  if (available.bytes > 0 && bytes > available.bytes) {
    return Status::error(Code::no_memory, fmt::format("the slices take {} on this machine; {}",
                                                      human_bytes(bytes), available.describe()))
        .hint("free memory, or use more machines");
  }
  struct statvfs room {};
  if (!is_in_file || statvfs("/dev/shm", &room) != 0) {
    return {};
  }
  const std::uint64_t left = std::uint64_t{room.f_bavail} * room.f_frsize;
  return bytes <= left
             ? Status()
             : Status::error(Code::no_memory,
                             fmt::format("the slices take {} on this machine, and /dev/shm, which "
                                         "MPI uses for windows, has {} left",
                                         human_bytes(bytes), human_bytes(left)))
                   .hint("enlarge /dev/shm (mount -o remount,size=…), or use more machines");
}

}  // namespace tessera::rma::mpi
