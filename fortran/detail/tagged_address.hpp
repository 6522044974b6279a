// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. Memory slots that are reused, and pointers that include the number of the slot's use,
// in bits that addresses leave free. So a pointer of an earlier use is recognised as long as its
// slot exists, without extra memory.
//
// Slots are aligned, which leaves the low bits free. The upper 16 bits of addresses are zero in a
// Linux process that does not ask mmap for others. The pointer of the first use is the slot's
// address.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tessera::capi {

template <std::size_t alignment>
struct TaggedAddress {
  static_assert(sizeof(std::uintptr_t) == 8 && (alignment & (alignment - 1)) == 0);
  static constexpr int upper_shift = 48;
  static constexpr std::size_t max_uses = alignment << (64 - upper_shift);

  static std::size_t use_of(const void* pointer) noexcept {
    const auto bits = reinterpret_cast<std::uintptr_t>(pointer);
    return (bits >> upper_shift) * alignment + bits % alignment;
  }
  /// The slot of a pointer; null for null.
  static void* slot_of(const void* pointer) noexcept {
    const auto bits = reinterpret_cast<std::uintptr_t>(pointer);
    constexpr std::uintptr_t address_bits = (std::uintptr_t{1} << upper_shift) - alignment;
    return reinterpret_cast<void*>(bits & address_bits);
  }
  /// Requires: use < max_uses.
  static void* pointer_to(const void* slot, std::size_t use) noexcept {
    const auto bits = reinterpret_cast<std::uintptr_t>(slot);
    return reinterpret_cast<void*>(bits | (use / alignment) << upper_shift | use % alignment);
  }
};

/// Freed slots wait in a queue before they are reused, so that an error can still name the last
/// object. Slot has a member `next`. Threads: the caller holds a lock.
template <class Slot>
class FreeSlots {
 public:
  void push(Slot& slot) noexcept {
    slot.next = nullptr;
    (last_ == nullptr ? first_ : last_->next) = &slot;
    last_ = &slot;
    ++count_;
  }
  /// The slot that was freed first; null while there are few.
  Slot* take() noexcept {
    constexpr std::size_t few = 32;
    if (count_ <= few) {
      return nullptr;
    }
    --count_;
    Slot* const taken = first_;
    first_ = taken->next;
    return taken;
  }

 private:
  Slot* first_ = nullptr;
  Slot* last_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace tessera::capi
