// SPDX-License-Identifier: BSD-3-Clause
#include "rma/transport/verbs/registration.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace tessera::rma::verbs {
namespace {

// A change takes as long as freeing its pages; registering is faster than waiting for many.
constexpr int max_polls_until_quiet = 100;

// Memory in huge pages of this size can be watched in whole pages only.
constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;

Status check_parent(const ForkDetector& detector) {
  if (detector.is_in_child()) {
    return Status::error(Code::unsupported,
                         "this process was forked from the one that opened the device");
  }
  return {};
}

PageRange in_huge_pages(PageRange range) noexcept {
  return {range.begin & ~(huge_page_bytes - 1),
          (range.end + huge_page_bytes - 1) & ~(huge_page_bytes - 1)};
}

}  // namespace

Registration& Registration::operator=(Registration&& other) noexcept {
  if (this != &other) {
    give_back();
    registrar_ = std::exchange(other.registrar_, nullptr);
    region_ = other.region_;
  }
  return *this;
}

void Registration::give_back() noexcept {
  if (registrar_ != nullptr) {
    std::exchange(registrar_, nullptr)->give_back(region_);
  }
}

Result<std::unique_ptr<Registrar>> Registrar::create(std::shared_ptr<VerbsLibrary> library,
                                                     ibv_pd* domain, RegistrationOptions options) {
  TESSERA_ASSIGN_OR_RETURN(ForkDetector fork_detector, ForkDetector::create());
  // NOLINTNEXTLINE(modernize-make-unique): the constructor is private
  std::unique_ptr<Registrar> registrar(
      new Registrar(std::move(library), domain, options, std::move(fork_detector)));
  TESSERA_RETURN_IF_ERROR(registrar->prepare_for_forks());
  registrar->start_monitor(options);
  return registrar;
}

Registrar::Registrar(std::shared_ptr<VerbsLibrary> library, ibv_pd* domain,
                     RegistrationOptions options, ForkDetector fork_detector)
    : library_(std::move(library)),
      domain_(domain),
      destination_access_(IBV_ACCESS_LOCAL_WRITE |
                          (options.remote_writes ? IBV_ACCESS_REMOTE_WRITE : 0)),
      fork_detector_(std::move(fork_detector)),
      page_bytes_(page_bytes()),
      limit_(raise_memlock_limit()),
      cache_({.bytes = options.cached_bytes, .regions = options.cached_regions}) {}

Registrar::~Registrar() {
  if (!fork_detector_.is_in_child()) {
    with_cache([](RegistrationCache& cache, Leaving& leaving) { cache.drop_unused(leaving); });
  }
}

Status Registrar::prepare_for_forks() {
  if (library_->is_fork_initialized() != IBV_FORK_DISABLED) {
    return {};
  }
  if (const int error = library_->fork_init(); error != 0) {
    return Status::error(Code::unsupported,
                         fmt::format("this kernel moves registered memory when a process forks, "
                                     "and ibv_fork_init, which prevents that, failed: {}",
                                     std::strerror(error)))
        .hint("set RDMAV_FORK_SAFE=1, so that the first user of libibverbs calls it");
  }
  return {};
}

void Registrar::start_monitor(const RegistrationOptions& options) {
  if (!options.may_cache || options.cached_bytes == 0 || options.cached_regions == 0) {
    why_not_caching_ = "switched off";
    return;
  }
  auto monitor = UnmapMonitor::create();
  if (monitor.ok()) {
    monitor_ = std::move(monitor).take();
  } else {
    why_not_caching_ = monitor.status().message();
  }
}

Result<Registration> Registrar::pin(void* address, std::size_t bytes, int access) {
  TESSERA_RETURN_IF_ERROR(check_parent(fork_detector_));
  TESSERA_ASSIGN_OR_RETURN(const PageRange range, whole_pages(address, bytes, page_bytes_));
  return register_uncached(range, register_pages(range, access));
}

Result<Registration> Registrar::acquire(const void* address, std::size_t bytes, Use use) {
  TESSERA_RETURN_IF_ERROR(check_parent(fork_detector_));
  TESSERA_ASSIGN_OR_RETURN(const PageRange range, whole_pages(address, bytes, page_bytes_));
  if (is_caching() && cache_.has_room_for(range) && wait_until_quiet()) {
    std::optional<RegionHandle> found;
    PageRange grown;
    with_cache([&](RegistrationCache& cache, Leaving& /*leaving*/) {
      found = cache.find(range, use == Use::destination ? IBV_ACCESS_LOCAL_WRITE : 0);
      grown = found ? range : cache.grown(range);
    });
    return found ? Registration(*this, *found) : register_cached(range, grown, use);
  }
  uncached_.fetch_add(1, std::memory_order_relaxed);
  return register_uncached(range, register_for(range, use));
}

std::optional<Registration> Registrar::find(const void* address, std::size_t bytes, Use use) {
  const auto range = whole_pages(address, bytes, page_bytes_);
  if (fork_detector_.is_in_child() || !range.ok() || !is_caching() || !wait_until_quiet()) {
    return std::nullopt;
  }
  std::optional<RegionHandle> found;
  with_cache([&](RegistrationCache& cache, Leaving& /*leaving*/) {
    found = cache.find_again(*range, use == Use::destination ? IBV_ACCESS_LOCAL_WRITE : 0);
  });
  return found ? std::optional<Registration>(std::in_place, *this, *found) : std::nullopt;
}

void Registrar::tidy() {
  if (!fork_detector_.is_in_child()) {
    with_cache([](RegistrationCache& /*cache*/, Leaving& /*leaving*/) {});
  }
}

RegistrationCounters Registrar::counters() const {
  if (fork_detector_.is_in_child()) {
    return {};
  }
  const std::lock_guard guard(mutex_);
  return {.cache = cache_.counters(),
          .registered_bytes = registered_bytes_.load(std::memory_order_relaxed),
          .uncached = uncached_.load(std::memory_order_relaxed)};
}

void Registrar::give_back(RegionHandle region) noexcept {
  if (!fork_detector_.is_in_child()) {
    with_cache(
        [&](RegistrationCache& cache, Leaving& leaving) { cache.give_back(region, leaving); });
  }
}

bool Registrar::wait_until_quiet() const noexcept {
  for (int polls = 0; polls < max_polls_until_quiet; ++polls) {
    if (monitor_->is_quiet()) {
      return true;
    }
    sched_yield();
  }
  return false;
}

// The memory beyond the range may have changed meanwhile, and huge pages can't be watched in parts.
Result<Registration> Registrar::register_cached(PageRange range, PageRange grown, Use use) {
  PageRange tried;
  for (const PageRange candidate : {grown, range, in_huge_pages(range)}) {
    if (candidate == tried || !cache_.has_room_for(candidate)) {
      continue;
    }
    tried = candidate;
    if (auto registration = try_to_cache(candidate, use)) {
      return std::move(*registration);
    }
  }
  uncached_.fetch_add(1, std::memory_order_relaxed);
  return register_uncached(range, register_for(range, use));
}

// In this order: changes are recorded from before the device reads the page table.
std::optional<Registration> Registrar::try_to_cache(PageRange range, Use use) {
  RegionHandle region;
  with_cache([&](RegistrationCache& cache, Leaving& /*leaving*/) { region = cache.begin(range); });
  region->is_watched = monitor_->watch(range).ok();
  Attempt attempt;
  if (region->is_watched) {
    attempt = register_for(range, use);
  }
  if (attempt.region == nullptr) {
    with_cache([&](RegistrationCache& cache, Leaving& leaving) { cache.cancel(region, leaving); });
    return std::nullopt;
  }
  region->region = attempt.region;
  region->access = attempt.access;
  const bool may_keep = monitor_->is_private(range);
  with_cache([&](RegistrationCache& cache, Leaving& leaving) {
    cache.finish(region, may_keep, leaving);
    uncached_.fetch_add(region->is_kept ? 0 : 1, std::memory_order_relaxed);
  });
  return Registration(*this, region);
}

// A region for one user, or the error of the attempt.
Result<Registration> Registrar::register_uncached(PageRange range, const Attempt& attempt) {
  if (attempt.region == nullptr) {
    return cannot_register(range.bytes(), attempt.error,
                           registered_bytes_.load(std::memory_order_relaxed), limit_);
  }
  RegionHandle region;
  with_cache([&](RegistrationCache& cache, Leaving& leaving) {
    region = cache.begin(range);
    region->region = attempt.region;
    region->access = attempt.access;
    cache.finish(region, false, leaving);
  });
  return Registration(*this, region);
}

// With the right to write, even if it isn't needed now: the next use may need it.
Registrar::Attempt Registrar::register_for(PageRange range, Use use) {
  Attempt attempt = register_pages(range, destination_access_);
  if (attempt.region == nullptr && use == Use::source &&
      (attempt.error == EFAULT || attempt.error == EACCES)) {
    attempt = register_pages(range, 0);
  }
  return attempt;
}

Registrar::Attempt Registrar::register_pages(PageRange range, int access) {
  ibv_mr* region = library_->reg_mr(domain_, range.address(), range.bytes(), access);
  if (region == nullptr && errno == ENOMEM) {
    with_cache([](RegistrationCache& cache, Leaving& leaving) { cache.drop_unused(leaving); });
    region = library_->reg_mr(domain_, range.address(), range.bytes(), access);
  }
  if (region == nullptr) {
    return {.region = nullptr, .access = 0, .error = errno};
  }
  registered_bytes_.fetch_add(range.bytes(), std::memory_order_relaxed);
  return {.region = region, .access = access, .error = 0};
}

// Brings the cache up to date and runs `action` on it. No other thread can begin to need a range
// between the search for unneeded ranges and their unwatching, as both are under the lock.
template <class Action>
void Registrar::with_cache(const Action& action) {
  Leaving leaving;
  {
    const std::lock_guard guard(mutex_);
    MappingChanges changes;
    if (monitor_ != nullptr) {
      changes = monitor_->take();
    }
    for (const MappingChange& change : changes.list()) {
      cache_.invalidate(change, leaving);
    }
    action(cache_, leaving);
    for (const PageRange range : leaving.ranges) {
      for (const PageRange part : cache_.unneeded(range, changes)) {
        monitor_->unwatch(part);
      }
    }
  }
  deregister(leaving.unused);
}

void Registrar::deregister(const RegisteredRegions& regions) noexcept {
  for (const RegisteredRegion& region : regions) {
    // If the device is gone, so is the registration.
    static_cast<void>(library_->dereg_mr(region.region));
    registered_bytes_.fetch_sub(region.range.bytes(), std::memory_order_relaxed);
  }
}

}  // namespace tessera::rma::verbs
