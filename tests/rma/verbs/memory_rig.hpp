// SPDX-License-Identifier: BSD-3-Clause
//
// Memory that tests map and unmap, and a libibverbs that implements only registrations.
#pragma once

#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "rma/transport/verbs/library.hpp"
#include "rma/transport/verbs/page_range.hpp"

namespace tessera::rma::verbs::test {

/// Mapped pages; this object's end unmaps them if nothing did before.
class Mapping {
 public:
  explicit Mapping(std::size_t pages, int protection = PROT_READ | PROT_WRITE,
                   int flags = MAP_PRIVATE | MAP_ANONYMOUS, int file = -1, void* at = nullptr)
      : bytes_(pages * page_bytes()), base_(mmap(at, bytes_, protection, flags, file, 0)) {}
  ~Mapping() { unmap(); }
  Mapping(Mapping&& other) noexcept
      : bytes_(other.bytes_), base_(std::exchange(other.base_, MAP_FAILED)) {}
  Mapping& operator=(Mapping&&) = delete;

  [[nodiscard]] bool ok() const { return base_ != MAP_FAILED; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] char* page(std::size_t number = 0) const {
    return static_cast<char*>(base_) + number * page_bytes();
  }
  [[nodiscard]] PageRange range(std::size_t first, std::size_t count) const {
    const auto begin = reinterpret_cast<std::uintptr_t>(page(first));
    return {begin, begin + count * page_bytes()};
  }
  [[nodiscard]] PageRange range() const { return range(0, bytes_ / page_bytes()); }
  void unmap() {
    if (base_ != MAP_FAILED) {
      munmap(std::exchange(base_, MAP_FAILED), bytes_);
    }
  }
  /// Other code has unmapped it.
  void forget() { base_ = MAP_FAILED; }

 private:
  std::size_t bytes_;
  void* base_;
};

/// Tests recognise a page by its content.
inline void stamp(char* page, std::uint64_t value) {
  std::memcpy(page, &value, sizeof(value));
}
inline std::uint64_t stamp_of(const char* page) {
  std::uint64_t value = 0;
  std::memcpy(&value, page, sizeof(value));
  return value;
}

/// Registers memory as a device does: makes pages present, and refuses pages without write access.
/// Records the stamp of each page.
class RegisteringLibrary : public VerbsLibrary {
 public:
  struct Region {
    ibv_mr handle{};
    PageRange range;
    int access = 0;
    std::vector<std::uint64_t> stamps;
  };

  // --- set and read by tests
  std::atomic<std::size_t> limit_bytes = SIZE_MAX;
  std::atomic<int> error = 0;  ///< of all registrations
  std::atomic<int> fork_error = 0;
  std::atomic<int> fork_inits = 0;
  std::atomic<ibv_fork_status> fork_status = IBV_FORK_UNNEEDED;

  [[nodiscard]] std::size_t registrations() const { return locked(registrations_); }
  [[nodiscard]] std::size_t deregistrations() const { return locked(deregistrations_); }
  [[nodiscard]] std::size_t live_bytes() const { return locked(live_bytes_); }
  [[nodiscard]] bool is_live(std::uint32_t lkey) const {
    const std::lock_guard guard(mutex_);
    return regions_.count(lkey) == 1;
  }
  [[nodiscard]] int access_of(std::uint32_t lkey) const {
    const std::lock_guard guard(mutex_);
    return regions_.at(lkey)->access;
  }
  /// The stamp of the page at `address` when it was registered.
  [[nodiscard]] std::uint64_t stamp_in(std::uint32_t lkey, const char* address) const {
    const std::lock_guard guard(mutex_);
    const Region& region = *regions_.at(lkey);
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    return region.stamps.at((at - region.range.begin) / page_bytes());
  }

  // --- VerbsLibrary
  ibv_fork_status is_fork_initialized() override { return fork_status; }
  int fork_init() override {
    ++fork_inits;
    return fork_error;
  }
  ibv_mr* reg_mr(ibv_pd* /*domain*/, void* address, std::size_t bytes, int access) override {
    const bool writes = (access & (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE)) != 0;
    int failure = error;
    if (failure == 0 && live_bytes() + bytes > limit_bytes) {
      failure = ENOMEM;
    }
    if (failure == 0 &&
        madvise(address, bytes, writes ? MADV_POPULATE_WRITE : MADV_POPULATE_READ) != 0) {
      failure = EFAULT;
    }
    if (failure != 0) {
      errno = failure;
      return nullptr;
    }
    return add(static_cast<char*>(address), bytes, access);
  }
  int dereg_mr(ibv_mr* region) override {
    const std::lock_guard guard(mutex_);
    live_bytes_ -= region->length;
    ++deregistrations_;
    return regions_.erase(region->lkey) == 1 ? 0 : EINVAL;
  }

  std::vector<std::string> device_names() override { return {}; }
  ibv_context* open_device(const std::string& /*name*/) override { return nullptr; }
  int close_device(ibv_context* /*device*/) override { return ENOSYS; }
  int query_device(ibv_context* /*device*/, ibv_device_attr& /*to*/) override { return ENOSYS; }
  int query_port(ibv_context* /*device*/, std::uint8_t /*port*/, ibv_port_attr& /*to*/) override {
    return ENOSYS;
  }
  std::vector<ibv_gid_entry> query_gid_table(ibv_context* /*device*/) override { return {}; }
  int get_async_event(ibv_context* /*device*/, ibv_async_event& /*event*/) override {
    return ENOSYS;
  }
  void ack_async_event(ibv_async_event& /*event*/) override {}
  ibv_pd* alloc_pd(ibv_context* /*device*/) override { return nullptr; }
  int dealloc_pd(ibv_pd* /*domain*/) override { return ENOSYS; }
  ibv_comp_channel* create_comp_channel(ibv_context* /*device*/) override { return nullptr; }
  int destroy_comp_channel(ibv_comp_channel* /*channel*/) override { return ENOSYS; }
  ibv_cq* create_cq(ibv_context* /*device*/, int /*entries*/,
                    ibv_comp_channel* /*channel*/) override {
    return nullptr;
  }
  int destroy_cq(ibv_cq* /*queue*/) override { return ENOSYS; }
  int poll_cq(ibv_cq* /*queue*/, std::span<ibv_wc> /*completions*/) override { return 0; }
  int req_notify_cq(ibv_cq* /*queue*/) override { return ENOSYS; }
  int get_cq_event(ibv_comp_channel* /*channel*/, ibv_cq*& /*queue*/) override { return ENOSYS; }
  void ack_cq_events(ibv_cq* /*queue*/, unsigned /*count*/) override {}
  ibv_srq* create_srq(ibv_pd* /*domain*/, ibv_srq_init_attr& /*attributes*/) override {
    return nullptr;
  }
  int modify_srq(ibv_srq* /*queue*/, ibv_srq_attr& /*attributes*/, int /*mask*/) override {
    return ENOSYS;
  }
  int destroy_srq(ibv_srq* /*queue*/) override { return ENOSYS; }
  int post_srq_recv(ibv_srq* /*queue*/, ibv_recv_wr* /*list*/, ibv_recv_wr*& /*bad*/) override {
    return ENOSYS;
  }
  ibv_qp* create_qp(ibv_pd* /*domain*/, ibv_qp_init_attr& /*attributes*/) override {
    return nullptr;
  }
  int modify_qp(ibv_qp* /*queue*/, ibv_qp_attr& /*attributes*/, int /*mask*/) override {
    return ENOSYS;
  }
  int destroy_qp(ibv_qp* /*queue*/) override { return ENOSYS; }
  int post_send(ibv_qp* /*queue*/, ibv_send_wr* /*list*/, ibv_send_wr*& /*bad*/) override {
    return ENOSYS;
  }

 private:
  [[nodiscard]] std::size_t locked(const std::size_t& value) const {
    const std::lock_guard guard(mutex_);
    return value;
  }
  ibv_mr* add(char* address, std::size_t bytes, int access) {
    auto region = std::make_unique<Region>();
    const auto begin = reinterpret_cast<std::uintptr_t>(address);
    region->range = {begin, begin + bytes};
    region->access = access;
    for (std::size_t at = 0; at < bytes; at += page_bytes()) {
      region->stamps.push_back(stamp_of(address + at));
    }
    const std::lock_guard guard(mutex_);
    region->handle.addr = address;
    region->handle.length = bytes;
    region->handle.lkey = ++last_key_;
    region->handle.rkey = last_key_ | 0x80000000U;
    live_bytes_ += bytes;
    ++registrations_;
    ibv_mr* const handle = &region->handle;
    regions_.emplace(last_key_, std::move(region));
    return handle;
  }

  mutable std::mutex mutex_;
  std::uint32_t last_key_ = 0;
  std::size_t registrations_ = 0;
  std::size_t deregistrations_ = 0;
  std::size_t live_bytes_ = 0;
  std::map<std::uint32_t, std::unique_ptr<Region>> regions_;
};

}  // namespace tessera::rma::verbs::test
