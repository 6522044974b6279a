// SPDX-License-Identifier: BSD-3-Clause
//
// Registrar: registers memory with the device, and caches registrations, since registering costs
// more than moving up to some hundred KiB.
//
// The cache is searched by address. That is correct only while the address means the same memory.
// So registrations are cached only for memory that an UnmapMonitor can watch, and only if one
// works. All other memory is registered for one use. Whole pages are registered.
//
// acquire() never returns a registration that an unmapping made invalid, whichever thread unmapped.
// If the monitor is not quiet, acquire() does not use the cache. If it is quiet, take() returns all
// changes so far, and these leave the cache before the search, under the same lock. Changes while a
// region is being registered are seen, because it was recorded and watched before.
//
// The cache's lock is never held during a call to the device. Memory may be allocated, freed and
// unmapped under the lock: the monitor does not need it (unmap_monitor.hpp).
//
// Fork: a child has no registrations. Those that it gives back stay registered for the parent, and
// acquire() and pin() fail. In the parent, registered memory stays in place. Kernels that copy such
// pages at a fork need nothing; for others create() calls ibv_fork_init, which keeps the pages out
// of children.
//
// Limits today: if one process has several registrars (ranks as threads), only the first to use a
// page caches it. In Linux 6.1, but not in 6.18, one registrar that stops watching a page stops it
// for all. Then an entry may stay unwatched if one registrar evicts it exactly while another thread
// unmaps that memory and a second registrar begins to use the memory that is mapped there next.
//
// Threads: all functions may be called from any thread. Cost of a hit: a system call that takes no
// lock in the kernel, a briefly held lock, a search in a tree.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "rma/base/result.hpp"
#include "rma/transport/verbs/fork_detector.hpp"
#include "rma/transport/verbs/library.hpp"
#include "rma/transport/verbs/memlock.hpp"
#include "rma/transport/verbs/registration_cache.hpp"
#include "rma/transport/verbs/unmap_monitor.hpp"

namespace tessera::rma::verbs {

class Registrar;

/// Memory that the device may use while this object exists. Move-only. Destroy it before its
/// Registrar, and after the device's last use of the memory.
class Registration {
 public:
  Registration() noexcept = default;
  /// For Registrar only.
  Registration(Registrar& registrar, RegionHandle region) noexcept
      : registrar_(&registrar), region_(region) {}
  ~Registration() { give_back(); }
  Registration(Registration&& other) noexcept
      : registrar_(std::exchange(other.registrar_, nullptr)), region_(other.region_) {}
  Registration& operator=(Registration&& other) noexcept;

  /// Whether it holds a registration; false after a move.
  explicit operator bool() const noexcept { return registrar_ != nullptr; }
  [[nodiscard]] std::uint32_t lkey() const noexcept { return region_->region->lkey; }
  [[nodiscard]] std::uint32_t rkey() const noexcept { return region_->region->rkey; }
  /// The registered pages: they contain the requested memory.
  [[nodiscard]] PageRange range() const noexcept { return region_->range; }

 private:
  void give_back() noexcept;
  Registrar* registrar_ = nullptr;
  RegionHandle region_;
};

struct RegistrationOptions {
  /// The most to cache; memory in use counts.
  std::size_t cached_bytes = std::size_t{1} << 30;
  std::size_t cached_regions = 1024;
  bool may_cache = true;
  bool remote_writes = false;  ///< memory of acquire() may be written by others that know its key
};

struct RegistrationCounters {
  CacheCounters cache;
  std::uint64_t registered_bytes = 0;  ///< now, including pinned memory
  std::uint64_t uncached = 0;          ///< acquired, and not cacheable
};

/// How the device uses the memory.
enum class Use : std::uint8_t {
  source,       ///< reads it; it need not be writable
  destination,  ///< writes it
};

class Registrar {
 public:
  /// One for each protection domain, which outlives it. Raises the soft limit on locked memory. If
  /// forks need it, calls ibv_fork_init: once in a process, and before its first registration. So
  /// no other code may have registered memory before.
  /// Errors: unsupported if that fails.
  static Result<std::unique_ptr<Registrar>> create(std::shared_ptr<VerbsLibrary> library,
                                                   ibv_pd* domain, RegistrationOptions options);
  /// Requires: no registration exists.
  ~Registrar();
  Registrar(const Registrar&) = delete;
  Registrar& operator=(const Registrar&) = delete;

  /// Registers memory with the rights `access` (IBV_ACCESS_*), while the registration exists: for
  /// arenas and message buffers.
  /// Requires: it stays mapped.
  /// Errors: limit_exceeded, with advice on the limit on locked memory; unsupported (memory that a
  /// device cannot use, or a child after a fork); invalid_argument.
  Result<Registration> pin(void* address, std::size_t bytes, int access);

  /// Returns a registration for a transfer, from the cache or new. Requires: the memory stays
  /// mapped until the transfer is complete. Errors: as pin(). The caller can then copy through its
  /// own buffers.
  Result<Registration> acquire(const void* address, std::size_t bytes, Use use);

  /// The same from the cache only: nothing if the memory is not cached.
  [[nodiscard]] std::optional<Registration> find(const void* address, std::size_t bytes, Use use);

  /// Whether that much memory could be cached.
  [[nodiscard]] bool keeps(std::size_t bytes) const noexcept {
    return is_caching() && cache_.has_room_for({0, bytes});
  }

  /// Deregisters unmapped memory; acquire() does so, too. Call it periodically: until one of the
  /// two runs, the memory is not free.
  void tidy();

  /// All zero in a child after a fork.
  [[nodiscard]] RegistrationCounters counters() const;
  [[nodiscard]] bool is_caching() const noexcept { return monitor_ != nullptr; }
  /// The reason in words; empty if it is caching.
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

  Registrar(std::shared_ptr<VerbsLibrary> library, ibv_pd* domain, RegistrationOptions options,
            ForkDetector fork_detector);
  Status prepare_for_forks();
  void start_monitor(const RegistrationOptions& options);
  [[nodiscard]] bool wait_until_quiet() const noexcept;
  Result<Registration> register_cached(PageRange range, PageRange grown, Use use);
  std::optional<Registration> try_to_cache(PageRange range, Use use);
  Result<Registration> register_uncached(PageRange range, const Attempt& attempt);
  Attempt register_for(PageRange range, Use use);
  Attempt register_pages(PageRange range, int access);
  template <class Action>
  void with_cache(const Action& action);
  void deregister(const RegisteredRegions& regions) noexcept;

  std::shared_ptr<VerbsLibrary> library_;
  ibv_pd* domain_;
  int destination_access_;
  ForkDetector fork_detector_;
  std::size_t page_bytes_;
  MemlockLimit limit_;
  std::string why_not_caching_;
  std::unique_ptr<UnmapMonitor> monitor_;
  std::atomic<std::uint64_t> registered_bytes_ = 0;
  std::atomic<std::uint64_t> uncached_ = 0;
  mutable std::mutex mutex_;  // protects cache_
  RegistrationCache cache_;
};

}  // namespace tessera::rma::verbs
