// SPDX-License-Identifier: BSD-3-Clause
#include "rma/node/arena.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "rma/base/catch_bad_alloc.hpp"
#include "rma/base/memory.hpp"
#include "rma/base/rounding.hpp"
#include "rma/node/machine_memory_lock.hpp"

namespace tessera::rma::detail {
namespace {

constexpr std::uint64_t bits_per_word = 64;
constexpr std::uint64_t no_gap = ~std::uint64_t{0};
constexpr std::uint64_t page_bytes = 4096;
// Memory is committed in steps. Before each step the available memory is read again, as other
// processes take memory too.
constexpr std::uint64_t commit_step_bytes = 256ULL << 20;
constexpr std::uint64_t locked_step_bytes = 64ULL << 20;
constexpr std::uint64_t min_step_bytes = 1ULL << 20;
// This many processes may each take a step concurrently without a MachineMemoryLock if all these
// steps fit. If a step would be shorter than the minimum, processes take memory one after another.
constexpr std::uint64_t max_concurrent_steps = 256;
constexpr std::uint64_t min_free_step_bytes = 4ULL << 20;
// Reserved for the rest of the machine, or of a control group, when a request is compared with what
// is available: at most this much, and a fixed part of a small memory.
constexpr std::uint64_t max_reserve_bytes = 64ULL << 20;
constexpr std::uint64_t reserve_divisor = 8;
// Below this size, reading what is available takes longer than committing the memory.
constexpr std::uint64_t unchecked_bytes = 1ULL << 20;

std::uint64_t granules_of(std::uint64_t bytes) {
  return bytes / granule_bytes + (bytes % granule_bytes == 0 ? 0 : 1);
}

// Sets or clears `count` bits from `first` on.
void mark(std::uint64_t* words, std::uint64_t first, std::uint64_t count, bool value) noexcept {
  while (count > 0) {
    const std::uint64_t bit = first % bits_per_word;
    const std::uint64_t here = std::min(count, bits_per_word - bit);
    const std::uint64_t ones =
        here == bits_per_word ? ~std::uint64_t{0} : ((std::uint64_t{1} << here) - 1) << bit;
    std::uint64_t& word = words[first / bits_per_word];
    word = value ? word | ones : word & ~ones;
    first += here;
    count -= here;
  }
}

bool is_marked(const std::uint64_t* words, std::uint64_t at) noexcept {
  return (words[at / bits_per_word] >> (at % bits_per_word) & 1U) != 0;
}

}  // namespace

std::uint64_t* Arena::bitmap() const noexcept {
  return reinterpret_cast<std::uint64_t*>(memory_.base() + memory_.header().bitmap_offset);
}

std::uint64_t* Arena::kept() const noexcept {
  return reinterpret_cast<std::uint64_t*>(memory_.base() + memory_.header().kept_offset);
}

std::uint64_t Arena::granules() const noexcept {
  return memory_.size() / granule_bytes;
}

std::uint64_t Arena::find_gap(std::uint64_t count, std::uint64_t align_granules) const noexcept {
  const std::uint64_t* words = bitmap();
  const std::uint64_t total = granules();
  std::uint64_t first = memory_.header().search_hint;
  first = round_up(first, align_granules);
  std::uint64_t at = first;
  while (first + count <= total) {
    if (at == first + count) {
      return first;
    }
    const std::uint64_t ahead = words[at / bits_per_word] >> (at % bits_per_word);
    const auto free_here = static_cast<std::uint64_t>(std::countr_zero(ahead));
    const std::uint64_t left_in_word = bits_per_word - at % bits_per_word;
    if (free_here >= std::min(left_in_word, first + count - at)) {
      at += std::min(left_in_word, first + count - at);
      continue;
    }
    // A granule at at + free_here is taken: start again after the run of taken granules.
    const std::uint64_t taken = at + free_here;
    const std::uint64_t after = words[taken / bits_per_word] >> (taken % bits_per_word);
    first = taken + static_cast<std::uint64_t>(std::countr_one(after));
    first = round_up(first, align_granules);
    at = first;
  }
  return no_gap;
}

Arena::Gaps Arena::gaps() const noexcept {
  Gaps found;
  std::uint64_t here = 0;
  for (std::uint64_t at = memory_.header().arena_offset / granule_bytes; at < granules();) {
    const bool is_whole_word = at % bits_per_word == 0 && at + bits_per_word <= granules() &&
                               bitmap()[at / bits_per_word] == 0;
    const std::uint64_t count = is_whole_word ? bits_per_word : 1;
    const bool is_free = !is_marked(bitmap(), at);
    here = is_free ? here + count : 0;
    found.all += is_free ? count : 0;
    found.largest = std::max(found.largest, here);
    at += count;
  }
  return found;
}

Result<std::uint64_t> Arena::allocate(std::uint64_t bytes, std::uint64_t alignment) {
  const std::uint64_t count = std::max<std::uint64_t>(granules_of(bytes), 1);
  const std::uint64_t align = std::max<std::uint64_t>(granules_of(alignment), 1);
  NodeHeader& header = memory_.header();
  const RobustGuard guard(header.bitmap_lock, context_);
  const std::uint64_t first = find_gap(count, align);
  if (first == no_gap) {
    const Gaps free = gaps();
    return Status::error(
               Code::limit_exceeded,
               fmt::format(
                   "no gap of {} is left in the node's arena of {} of address space: {} are "
                   "free, {} of them in one piece",
                   human_bytes(bytes), human_bytes(memory_.size()),
                   human_bytes(free.all * granule_bytes),
                   human_bytes(free.largest * granule_bytes)))
        .hint(memory_.hint_to_enlarge());
  }
  mark(bitmap(), first, count, true);
  if (first == header.search_hint) {
    header.search_hint = first + count;
  }
  return first * granule_bytes;
}

namespace {

std::uint64_t reserve_bytes(const AvailableMemory& available) noexcept {
  const auto machine = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * page_bytes;
  const std::uint64_t all = available.group_limit > 0 ? available.group_limit : machine;
  return std::min(all / reserve_divisor, max_reserve_bytes);
}

// The part of the available memory that may be taken.
std::uint64_t usable_bytes(const AvailableMemory& available) noexcept {
  return available.bytes - std::min(available.bytes, reserve_bytes(available));
}

// "; 20.0 MiB are available", for messages; "" if unknown.
std::string availability_note() {
  const Result<AvailableMemory> available = find_available_memory();
  return available.ok() ? "; " + available->describe() : "";
}

Status not_enough_memory(std::uint64_t requested, const AvailableMemory& available) {
  return Status::error(
             Code::no_memory,
             fmt::format(
                 "{} of shared memory were requested on this node, but {} can be allocated: {}, of "
                 "which {} are reserved for other programs",
                 human_bytes(requested), human_bytes(usable_bytes(available)), available.describe(),
                 human_bytes(reserve_bytes(available))))
      .hint("free memory, or spread the job over more nodes");
}

}  // namespace

Status Arena::check_available(std::uint64_t bytes) const {
  if (bytes < unchecked_bytes) {
    return {};
  }
  TESSERA_ASSIGN_OR_RETURN(const AvailableMemory available, find_available_memory());
  return bytes <= usable_bytes(available) ? Status() : not_enough_memory(bytes, available);
}

// Many small requests add up to one that is checked.
bool Arena::needs_check(std::uint64_t bytes) noexcept {
  const std::uint64_t before = unchecked_.fetch_add(std::min(bytes, unchecked_bytes));
  const bool is_due = before + std::min(bytes, unchecked_bytes) >= unchecked_bytes;
  if (is_due) {
    unchecked_.store(0);
  }
  return is_due;
}

Status Arena::back(std::uint64_t offset, std::uint64_t bytes) {
  Status taken = catch_bad_alloc([&] {
    return needs_check(bytes) ? commit_checked(offset, bytes) : take_memory(offset, bytes);
  });
  if (!taken.ok()) {
    decommit(offset, bytes);
  }
  return taken;
}

// While much memory is available, ranks take their parts concurrently, in steps that all fit. The
// rest is taken by one rank after another, each with all that it needs.
Status Arena::commit_checked(std::uint64_t offset, std::uint64_t bytes) const {
  std::optional<MachineMemoryLock> machine_lock;
  for (std::uint64_t done = 0; done < bytes;) {
    const Result<AvailableMemory> available = find_available_memory();
    if (!available.ok() && bytes < unchecked_bytes) {
      return take_memory(offset, bytes);  // too small to report an error
    }
    TESSERA_RETURN_IF_ERROR(available.status());
    const std::uint64_t usable = usable_bytes(*available);
    if (bytes - done > usable) {
      Status refused = not_enough_memory(bytes, *available);
      return done == 0 ? refused
                       : std::move(refused).context(
                             fmt::format("after {} were allocated", human_bytes(done)));
    }
    const std::uint64_t free_step =
        std::min(usable / max_concurrent_steps / min_free_step_bytes * min_free_step_bytes,
                 commit_step_bytes);
    if (free_step == 0 && !machine_lock) {
      machine_lock.emplace();
      continue;  // others may have taken some while this rank waited
    }
    const std::uint64_t step = std::min(machine_lock ? locked_step_bytes : free_step, bytes - done);
    TESSERA_RETURN_IF_ERROR(take_memory(offset + done, step));
    done += step;
  }
  return {};
}

Status Arena::take_memory(std::uint64_t offset, std::uint64_t bytes) const {
  std::uint64_t max_step = commit_step_bytes;
  for (std::uint64_t done = 0; done < bytes;) {
    const std::uint64_t step = std::min(max_step, bytes - done);
    const int error = posix_fallocate(memory_.file(), static_cast<off_t>(offset + done),
                                      static_cast<off_t>(step));
    if (error != 0 && error != EINTR) {
      return Status::error(Code::no_memory, fmt::format("cannot allocate {} of shared memory: {}{}",
                                                        human_bytes(bytes), std::strerror(error),
                                                        availability_note()));
    }
    if (error == EINTR) {
      // After a signal the kernel starts again: with a periodic timer only a shorter step finishes.
      max_step = std::max(max_step / 2, min_step_bytes);
      continue;
    }
    done += step;
  }
  return {};
}

bool Arena::advise_huge(std::uint64_t offset, std::uint64_t bytes) noexcept {
  return bytes > 0 && madvise(at(offset), bytes, MADV_HUGEPAGE) == 0;
}

void Arena::decommit(std::uint64_t offset, std::uint64_t bytes) noexcept {
  if (bytes == 0) {
    return;
  }
  const std::uint64_t end = round_up(offset + bytes, page_bytes);
  // Under the lock, so that keep() and this function agree on what is kept.
  const RobustGuard guard(memory_.header().bitmap_lock, context_);
  while (offset < end) {
    const std::uint64_t granule = offset / granule_bytes;
    const bool is_kept = is_marked(kept(), granule);
    std::uint64_t next = granule + 1;
    while (next * granule_bytes < end && is_marked(kept(), next) == is_kept) {
      ++next;
    }
    const std::uint64_t here = std::min(next * granule_bytes, end) - offset;
    if (is_kept) {
      std::memset(at(offset), 0, here);
    } else {
      // A failure does not matter: the memory stays committed until the job ends.
      static_cast<void>(fallocate(memory_.file(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                  static_cast<off_t>(offset), static_cast<off_t>(here)));
    }
    offset += here;
  }
}

Status Arena::keep(std::uint64_t offset, std::uint64_t bytes) {
  const std::uint64_t first = offset / granule_bytes;
  const std::uint64_t count = granules_of(bytes);
  const RobustGuard guard(memory_.header().bitmap_lock, context_);
  TESSERA_RETURN_IF_ERROR(take_memory(offset, bytes));
  mark(kept(), first, count, true);
  return {};
}

void Arena::free(std::uint64_t offset, std::uint64_t bytes) noexcept {
  const std::uint64_t count = std::max<std::uint64_t>(granules_of(bytes), 1);
  decommit(offset, count * granule_bytes);
  NodeHeader& header = memory_.header();
  const RobustGuard guard(header.bitmap_lock, context_);
  const std::uint64_t first = offset / granule_bytes;
  mark(bitmap(), first, count, false);
  header.search_hint = std::min(header.search_hint, first);
}

}  // namespace tessera::rma::detail
