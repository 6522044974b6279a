// SPDX-License-Identifier: BSD-3-Clause
//
// Registrar: makes memory usable by the device, and remembers what was used lately, since
// registering costs more than moving up to some hundred KiB.
//
// What is remembered is found again by address. That is right only while the address means the
// same memory, so it is done for memory that an UnmapMonitor can watch, and only where one works.
// All else is registered for one use. Whole pages are registered.
//
// How acquire() cannot find what an unmapping made wrong, whoever unmapped: if the monitor isn't
// quiet, it doesn't look at the cache; if it is, all that changed until then is in take(), and that
// leaves the cache before the search, under the same lock. Changes while a region is being
// registered are seen because it was noted, and watched, before.
//
// The cache's lock is never held while the device is called. Memory may be allocated, freed and
// unmapped under it: the monitor doesn't need it (unmap_monitor.hpp).
//
// Fork: a child has no registrations: what it gives back stays registered for the parent, and
// acquire() and pin() fail. In the parent, what is registered stays where it is: kernels that copy
// such pages at a fork need nothing; for others create() calls ibv_fork_init, which keeps the
// pages out of children.
//
// Limits today: of several registrars in one process (ranks as threads) only the first to use a
// page remembers it. And in Linux 6.1, not in 6.18, who stops watching a page stops it for all: an
// entry may stay unwatched if one registrar evicts it at the very moment in which another thread
// unmaps that memory and a second registrar begins to use what is mapped there next.
//
// Threads: all functions may be called from any thread. Cost of a hit: a system call that takes
// no lock in the kernel, a lock without much under it, a search in a tree.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "rma/result.hpp"
#include "rma/verbs/fork_mark.hpp"
#include "rma/verbs/library.hpp"
#include "rma/verbs/memlock.hpp"
#include "rma/verbs/registration_cache.hpp"
#include "rma/verbs/unmap_monitor.hpp"

namespace tessera::rma::verbs {

class Registrar;

/// Memory that the device may use, for as long as this lives. Move-only. It ends before its
/// Registrar, and not before what the device does with the memory.
class Registration {
 public:
  Registration() noexcept = default;
  /// Of a Registrar only.
  Registration(Registrar& registrar, RegionHandle region) noexcept
      : registrar_(&registrar), region_(region) {}
  ~Registration() { give_back(); }
  Registration(Registration&& other) noexcept
      : registrar_(std::exchange(other.registrar_, nullptr)), region_(other.region_) {}
  Registration& operator=(Registration&& other) noexcept;

  /// Whether there is any; not after a move.
  explicit operator bool() const noexcept { return registrar_ != nullptr; }
  [[nodiscard]] std::uint32_t lkey() const noexcept { return region_->region->lkey; }
  [[nodiscard]] std::uint32_t rkey() const noexcept { return region_->region->rkey; }
  /// What is registered: the memory that was asked for lies in it.
  [[nodiscard]] PageRange range() const noexcept { return region_->range; }

 private:
  void give_back() noexcept;
  Registrar* registrar_ = nullptr;
  RegionHandle region_;
};

struct RegistrationOptions {
  /// How much is remembered at most; what is in use counts.
  std::size_t cached_bytes = std::size_t{1} << 30;
  std::size_t cached_regions = 1024;
  bool may_cache = true;
  bool remote_writes = false;  ///< what acquire() registers may be written by others who are told
};

struct RegistrationCounters {
  CacheCounters cache;
  std::uint64_t registered_bytes = 0;  ///< now, pinned ones too
  std::uint64_t uncached = 0;          ///< acquired, and could not be remembered
};

/// What the device does with the memory.
enum class Use : std::uint8_t {
  source,       ///< reads it; it need not be writable
  destination,  ///< writes it
};

class Registrar {
 public:
  /// One for each protection domain, which outlives it. Raises the soft limit on locked memory.
  /// Where forks need it, ibv_fork_init is called: once in a process, and before the first
  /// registration, so nobody else may have registered then. Errors: unsupported when that fails.
  static Result<std::unique_ptr<Registrar>> create(std::shared_ptr<Library> library, ibv_pd* domain,
                                                   RegistrationOptions options);
  /// Requires: no registration is left.
  ~Registrar();
  Registrar(const Registrar&) = delete;
  Registrar& operator=(const Registrar&) = delete;

  /// Registers memory with the rights `access` (IBV_ACCESS_*), for as long as the registration
  /// lives: arenas, buffers for messages. Requires: it stays mapped.
  /// Errors: limit_exceeded, with all about the limit on locked memory; unsupported: memory that a
  /// device cannot use, or a child after a fork; invalid_argument.
  Result<Registration> pin(void* address, std::size_t bytes, int access);

  /// Registers memory for a transfer, unless it is. Requires: it stays mapped until that is over.
  /// Errors: as pin(). The caller can copy through memory of its own then.
  Result<Registration> acquire(const void* address, std::size_t bytes, Use use);

  /// The same for memory that is remembered; nothing for other memory, which isn't registered.
  [[nodiscard]] std::optional<Registration> find(const void* address, std::size_t bytes, Use use);

  /// Whether so much memory could be remembered.
  [[nodiscard]] bool keeps(std::size_t bytes) const noexcept {
    return is_caching() && cache_.has_room_for({0, bytes});
  }

  /// Deregisters what was unmapped; acquire() does so, too. To be called now and then: until one
  /// of the two comes, the memory isn't free.
  void tidy();

  /// Nothing in a child after a fork.
  [[nodiscard]] RegistrationCounters counters() const;
  [[nodiscard]] bool is_caching() const noexcept { return monitor_ != nullptr; }
  /// The reason in words; empty when it is.
  [[nodiscard]] const std::string& why_not_caching() const noexcept { return why_not_caching_; }
  [[nodiscard]] const MemlockLimit& memlock_limit() const noexcept { return limit_; }

  /// For Registration only.
  void give_back(RegionHandle region) noexcept;

 private:
  struct Attempt {
    ibv_mr* region = nullptr;
    int access = 0;
    int error = 0;
  };

  Registrar(std::shared_ptr<Library> library, ibv_pd* domain, RegistrationOptions options,
            ForkMark fork_mark);
  Status prepare_for_forks();
  void start_monitor(const RegistrationOptions& options);
  [[nodiscard]] bool becomes_quiet() const noexcept;
  Result<Registration> register_kept(PageRange range, PageRange grown, Use use);
  std::optional<Registration> try_to_keep(PageRange range, Use use);
  Result<Registration> keep_loose(PageRange range, const Attempt& attempt);
  Attempt register_for(PageRange range, Use use);
  Attempt register_pages(PageRange range, int access);
  template <class Action>
  void with_cache(const Action& action);
  void deregister(const RegisteredRegions& regions) noexcept;

  std::shared_ptr<Library> library_;
  ibv_pd* domain_;
  int destination_access_;
  ForkMark fork_mark_;
  std::size_t page_bytes_;
  MemlockLimit limit_;
  std::string why_not_caching_;
  std::unique_ptr<UnmapMonitor> monitor_;
  std::atomic<std::uint64_t> registered_bytes_ = 0;
  std::atomic<std::uint64_t> uncached_ = 0;
  mutable std::mutex mutex_;  // of cache_
  RegistrationCache cache_;
};

}  // namespace tessera::rma::verbs
