// SPDX-License-Identifier: BSD-3-Clause
#include "tests/support/failing_new.hpp"

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <new>

namespace tessera::rma::test {

namespace {

// Without constructors: it is used before and after everything else.
struct Countdown {
  std::int64_t left = 0;  // until the one that fails; 0: none fails
  FailingKind kind;
  bool has_failed = false;
};
constinit thread_local Countdown countdown;

bool has_name(const char* path, const char* name) noexcept {
  return path != nullptr && std::strstr(path, name) != nullptr;
}

// Looks at the return address of each active function.
bool is_within(const char* library) noexcept {
  std::array<void*, 64> addresses = {};
  const int count = backtrace(addresses.data(), static_cast<int>(addresses.size()));
  return std::any_of(addresses.begin(), addresses.begin() + count, [&](void* address) {
    Dl_info found = {};
    return dladdr(address, &found) != 0 && has_name(found.dli_fname, library);
  });
}

bool fails_now(std::size_t bytes) noexcept {
  if (countdown.left == 0 || bytes < countdown.kind.min_bytes ||
      (countdown.kind.except_within != nullptr && is_within(countdown.kind.except_within)) ||
      --countdown.left > 0) {
    return false;
  }
  countdown.has_failed = true;
  return true;
}

void* allocate(std::size_t bytes, std::size_t alignment) noexcept {
  if (fails_now(bytes)) {
    return nullptr;
  }
  // Whole cache lines, as aligned_alloc() requires; at least one, because `new` returns distinct
  // addresses.
  const std::size_t whole =
      (std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
  return alignment <= alignof(std::max_align_t) ? std::malloc(whole)
                                                : std::aligned_alloc(alignment, whole);
}

void* allocate_or_throw(std::size_t bytes, std::size_t alignment) {
  void* const memory = allocate(bytes, alignment);
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  return memory;
}

}  // namespace

FailingNew::FailingNew(std::int64_t number, const FailingKind& kind) noexcept {
  countdown = {number, kind, false};
}

FailingNew::~FailingNew() {
  countdown = {};
}

bool FailingNew::has_failed() const noexcept {
  return countdown.has_failed;
}

bool is_shared_library(const char* name) noexcept {
  const auto find_library = [](dl_phdr_info* info, std::size_t /*unused*/, void* wanted) {
    return has_name(info->dlpi_name, static_cast<const char*>(wanted)) ? 1 : 0;
  };
  return dl_iterate_phdr(find_library, const_cast<char*>(name)) != 0;
}

}  // namespace tessera::rma::test

void* operator new(std::size_t bytes) {
  return tessera::rma::test::allocate_or_throw(bytes, 1);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return tessera::rma::test::allocate_or_throw(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t& /*unused*/) noexcept {
  return tessera::rma::test::allocate(bytes, 1);
}
void* operator new(std::size_t bytes, std::align_val_t alignment,
                   const std::nothrow_t& /*unused*/) noexcept {
  return tessera::rma::test::allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t /*unused*/) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t /*unused*/) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t /*unused*/, std::align_val_t /*unused*/) noexcept {
  std::free(memory);
}
