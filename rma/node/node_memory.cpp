// SPDX-License-Identifier: BSD-3-Clause
#include "rma/node/node_memory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "rma/base/memory.hpp"
#include "rma/base/rounding.hpp"

namespace tessera::rma::detail {
namespace {

constexpr std::uint64_t magic_number = 0x7465'7373'6572'6131;  // "tessera1"
constexpr std::uint32_t current_layout = 11;
constexpr std::uint64_t min_reserve = 64ULL << 20;
// Liveness locks are on single bytes far beyond the end of the file, where no data can be.
constexpr off_t liveness_lock_base = off_t{1} << 62;

// Maps the file at a multiple of 2 MiB, the size of huge pages. So offsets in the file are aligned
// in memory as well: those of granules, and those of data that the kernel may back by huge pages.
void* map_shared(int fd, std::uint64_t bytes) {
  constexpr std::uint64_t alignment = 2ULL << 20;
  void* const reserved = mmap(nullptr, bytes + alignment, PROT_NONE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) {
    return MAP_FAILED;
  }
  auto* const first = static_cast<std::byte*>(reserved);
  const std::uint64_t before = -reinterpret_cast<std::uintptr_t>(first) % alignment;
  void* const base = mmap(first + before, bytes, PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_NORESERVE | MAP_FIXED, fd, 0);
  if (base == MAP_FAILED) {
    munmap(reserved, bytes + alignment);
    return MAP_FAILED;
  }
  if (before > 0) {
    munmap(first, before);
  }
  munmap(first + before + bytes, alignment - before);
  return base;
}

// How many of the `wanted` bytes to reserve. If they exceed a limited address space (ulimit -v),
// half of it is left to the program, which needs memory besides regions. A BLAS that gets no
// buffer retries forever.
std::uint64_t bytes_to_reserve(std::uint64_t wanted) {
  const auto limit = address_space_limit();
  const bool fits = !limit || wanted <= limit->left();
  return fits ? wanted : std::max(limit->left() / 2, min_reserve);
}

struct Mapping {
  std::byte* base = nullptr;
  std::uint64_t bytes = 0;
};

// Gives an empty file as many of the `wanted` bytes as the limits on files and address space allow.
Result<Mapping> map_new_file(int fd, std::uint64_t wanted) {
  const std::uint64_t limit_bytes = max_file_bytes();
  if (limit_bytes < min_reserve) {
    return Status::error(Code::no_memory,
                         fmt::format("a node's shared memory needs at least {}, but files may have "
                                     "{} at most",
                                     human_bytes(min_reserve), human_bytes(limit_bytes)))
        .hint("raise the limit on file sizes (ulimit -f)");
  }
  const std::uint64_t largest = limit_bytes / granule_bytes * granule_bytes;
  std::uint64_t bytes = std::min(round_up(bytes_to_reserve(wanted), granule_bytes), largest);
  // Other users of address space, such as sanitizers, may leave less: halve the size until it fits.
  while (true) {
    void* const base =
        ftruncate(fd, static_cast<off_t>(bytes)) == 0 ? map_shared(fd, bytes) : MAP_FAILED;
    if (base != MAP_FAILED) {
      return Mapping{static_cast<std::byte*>(base), bytes};
    }
    const int error = errno;
    if (bytes <= min_reserve) {
      return Status::error(Code::no_memory,
                           fmt::format("cannot map {} of shared memory: {}{}", human_bytes(bytes),
                                       std::strerror(error), address_space_note()))
          .hint("raise the limit on address space: ulimit -v unlimited");
    }
    bytes = std::max(round_up(bytes / 2, granule_bytes), min_reserve);
  }
}

struct flock liveness_lock(short type, int local_rank) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = liveness_lock_base + local_rank;
  lock.l_len = 1;
  return lock;
}

}  // namespace

Result<std::unique_ptr<NodeMemory>> NodeMemory::create(int ranks, std::uint64_t reserve_bytes) {
  Descriptor file(memfd_create("tessera", MFD_CLOEXEC));
  Descriptor bell(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  const int fd = file.get();
  if (fd < 0 || bell.get() < 0) {
    const int error = errno;
    return Status::error(Code::limit_exceeded, fmt::format("cannot create shared memory: {}",
                                                           describe_system_error(error)))
        .hint(remedy_for_system_error(error));
  }
  TESSERA_ASSIGN_OR_RETURN(const Mapping mapping, map_new_file(fd, reserve_bytes));
  std::unique_ptr<NodeMemory> memory(
      new NodeMemory(std::move(file), std::move(bell), mapping.base, mapping.bytes));
  memory->lay_out(ranks, mapping.bytes);
  const NodeHeader& header = memory->header();
  if (const int error = posix_fallocate(fd, 0, static_cast<off_t>(header.records_offset)); error) {
    return Status::error(
        Code::no_memory,
        fmt::format("cannot allocate the node's shared memory: {}", std::strerror(error)));
  }
  return memory;
}

void NodeMemory::lay_out(int ranks, std::uint64_t bytes) const {
  auto* header = new (base_) NodeHeader;
  header->layout_version = current_layout;
  header->ranks = static_cast<std::uint32_t>(ranks);
  header->total_bytes = bytes;
  header->records_offset = round_up(sizeof(NodeHeader), cache_line);
  for (int local_rank = 0; local_rank < ranks; ++local_rank) {
    new (&record(local_rank)) RankRecord;
  }
  const auto count = static_cast<std::uint64_t>(ranks);
  header->notices_offset = header->records_offset + count * sizeof(RankRecord);
  header->bitmap_offset =
      round_up(header->notices_offset + count * count * sizeof(std::uint64_t), cache_line);
  const std::uint64_t bitmap_bytes = bytes / granule_bytes / 8 + sizeof(std::uint64_t);
  header->kept_offset = round_up(header->bitmap_offset + bitmap_bytes, cache_line);
  header->arena_offset = round_up(header->kept_offset + bitmap_bytes, granule_bytes);
  header->search_hint = header->arena_offset / granule_bytes;
  header->magic = magic_number;
}

Result<std::unique_ptr<NodeMemory>> NodeMemory::adopt(Descriptor memory, Descriptor bell) {
  struct stat file {};
  const int fd = memory.get();
  if (fstat(fd, &file) == 0 && file.st_size < static_cast<off_t>(min_reserve)) {
    return Status::error(Code::protocol,
                         fmt::format("the node's shared memory has {}, but at least {} are needed: "
                                     "it was created by another version of Tessera",
                                     human_bytes(static_cast<std::uint64_t>(file.st_size)),
                                     human_bytes(min_reserve)));
  }
  const auto bytes = static_cast<std::uint64_t>(file.st_size);
  void* const base = map_shared(fd, bytes);
  if (base == MAP_FAILED) {
    const int error = errno;
    return Status::error(
               Code::no_memory,
               fmt::format("cannot map {} of the node's shared memory: {}{}", human_bytes(bytes),
                           std::strerror(error), address_space_note()))
        .hint(
            "raise the limit on address space (ulimit -v unlimited), or set TESSERA_ARENA_MIB to a "
            "smaller value");
  }
  std::unique_ptr<NodeMemory> adopted(
      new NodeMemory(std::move(memory), std::move(bell), static_cast<std::byte*>(base), bytes));
  const NodeHeader& header = adopted->header();
  if (header.magic != magic_number || header.layout_version != current_layout) {
    return Status::error(Code::protocol,
                         "the node's shared memory was created by another version of Tessera");
  }
  return adopted;
}

std::string NodeMemory::hint_to_enlarge() const {
  if (max_file_bytes() < size() + granule_bytes) {
    return fmt::format("raise the limit on file sizes, {} (ulimit -f): it limits the arena",
                       human_bytes(max_file_bytes()));
  }
  const auto limit = address_space_limit();
  // If the limit decided the size, create() left as much address space as it took. If a setting
  // did, far more is left.
  const bool is_bounded = limit && limit->left() < 2 * size();
  return is_bounded ? fmt::format(
                          "raise the limit on address space, {} (ulimit -v unlimited): it limits "
                          "the arena",
                          human_bytes(limit->limit))
                    : "set TESSERA_ARENA_MIB to a larger value";
}

NodeMemory::~NodeMemory() {
  munmap(base_, mapped_);
}

void NodeMemory::wake_agent() const noexcept {
  AgentWakeup& bell = header().agent_bell;
  bell.rings.fetch_add(1);
  if (bell.sleepers.load() != 0) {
    const std::uint64_t one = 1;
    // write() fails only if the counter is full, and then the agent wakes anyway.
    static_cast<void>(!write(bell_.get(), &one, sizeof one));
  }
}

Status NodeMemory::hold_liveness_lock(int local_rank) const {
  // A POSIX record lock. The kernel releases it when the process ends, even by SIGKILL and before
  // its parent reaps it, and a forked child does not inherit it. Unlike a pidfd, it needs no
  // descriptor for each peer, and works across pid namespaces.
  struct flock lock = liveness_lock(F_WRLCK, local_rank);
  if (fcntl(memory_.get(), F_SETLK, &lock) != 0) {
    return Status::error(Code::internal,
                         fmt::format("cannot lock the byte that marks local rank {} as alive: {}",
                                     local_rank, std::strerror(errno)));
  }
  return {};
}

bool NodeMemory::has_liveness_lock(int local_rank) const {
  struct flock lock = liveness_lock(F_WRLCK, local_rank);
  if (fcntl(memory_.get(), F_GETLK, &lock) != 0) {
    return true;  // an error does not prove that the process has ended
  }
  return lock.l_type != F_UNLCK;
}

}  // namespace tessera::rma::detail
