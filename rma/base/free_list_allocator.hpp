// SPDX-License-Identifier: BSD-3-Clause
//
// FreeListAllocator: a free-list allocator for objects of one kind that are made and destroyed in
// thousands, one at a time. Freed memory is kept for the next object of the thread that freed it;
// malloc() would merge and split its blocks.
//
// Threads: all; a thread may free memory that another thread allocated.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <utility>

namespace tessera::rma::detail {

template <class T>
class FreeListAllocator {
 public:
  using value_type = T;

  FreeListAllocator() noexcept = default;
  template <class Other>
  explicit FreeListAllocator(const FreeListAllocator<Other>&) noexcept {}

  T* allocate(std::size_t count) {
    Spares& spares = own_free_list();
    if (count != 1 || spares.first == nullptr) {
      return std::allocator<T>().allocate(count);
    }
    --spares.count;
    return reinterpret_cast<T*>(std::exchange(spares.first, spares.first->next));
  }
  void deallocate(T* block, std::size_t count) noexcept {
    Spares& spares = own_free_list();
    if (count == 1 && spares.count < spares.most) {
      spares.first = new (block) FreeBlock{spares.first};
      ++spares.count;
    } else {
      std::allocator<T>().deallocate(block, count);
    }
  }

  template <class Other>
  bool operator==(const FreeListAllocator<Other>&) const noexcept {
    return true;
  }

 private:
  struct FreeBlock {
    FreeBlock* next = nullptr;
  };
  static_assert(sizeof(T) >= sizeof(FreeBlock));
  static_assert(alignof(T) >= alignof(FreeBlock));

  // Needs no destructor, so that memory freed at the very end of a thread still finds it.
  struct Spares {
    FreeBlock* first = nullptr;
    std::size_t count = 0;
    std::size_t most = 1024;
  };
  struct FreeListCleanup {
    Spares& spares;
    ~FreeListCleanup() {
      spares.most = 0;
      while (spares.first != nullptr) {
        auto* const block = std::exchange(spares.first, spares.first->next);
        std::allocator<T>().deallocate(reinterpret_cast<T*>(block), 1);
      }
    }
  };
  static Spares& own_free_list() noexcept {
    thread_local Spares spares;
    thread_local const FreeListCleanup emptier{spares};
    static_cast<void>(emptier);
    return spares;
  }
};

}  // namespace tessera::rma::detail
