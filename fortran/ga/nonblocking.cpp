// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/ga/nonblocking.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "fortran/ga/operations.hpp"
#include "fortran/ga/scales.hpp"

namespace tessera::ga {

namespace {

constexpr std::int64_t slot_bits = 18;
constexpr std::int64_t slot_limit = std::int64_t{1} << slot_bits;
constexpr std::int64_t use_limit = std::int64_t{1} << 12;  // handles fit 4-byte INTEGERs

struct Slot {
  std::int64_t use = 0;
  bool is_used = false;
  rma::Handle transfer;
};

std::vector<Slot>& slots() {
  static auto* const all = new std::vector<Slot>;
  return *all;
}
std::vector<std::int64_t>& free_slots() {
  static auto* const all = new std::vector<std::int64_t>;
  return *all;
}

std::int64_t number_of(std::int64_t slot) {
  return 1 + slot + (slots()[static_cast<std::size_t>(slot)].use << slot_bits);
}

Slot* find_slot(std::int64_t number) {
  const std::int64_t slot = (number - 1) % slot_limit;
  if (number < 1 || slot >= std::ssize(slots())) {
    return nullptr;
  }
  Slot& found = slots()[static_cast<std::size_t>(slot)];
  return found.is_used && number_of(slot) == number ? &found : nullptr;
}

void release_slot(Slot& slot) {
  slot.is_used = false;
  slot.use = (slot.use + 1) % use_limit;
  free_slots().push_back(&slot - slots().data());
}

// Releases the slots of transfers that are complete, though the program did not wait for them.
Status take_back() {
  Status all;
  for (Slot& slot : slots()) {
    if (slot.is_used && slot.transfer.done()) {
      if (Status each = slot.transfer.wait(); all.ok()) {
        all = std::move(each);
      }
      release_slot(slot);
    }
  }
  return all;
}

// Makes as many slots as there are, unless half of them are free: so take_back() is rare.
void add_slots() {
  constexpr std::int64_t least = 16;
  const std::int64_t count = std::ssize(slots());
  const std::int64_t end = std::min(std::max(2 * count, least), slot_limit);
  if (2 * std::ssize(free_slots()) >= std::max(count, least)) {
    return;
  }
  slots().resize(static_cast<std::size_t>(end));
  for (std::int64_t slot = end - 1; slot >= count; --slot) {
    free_slots().push_back(slot);
  }
}

Result<std::int64_t> free_slot() {
  if (free_slots().empty()) {
    TESSERA_RETURN_IF_ERROR(take_back());
    add_slots();
  }
  if (free_slots().empty()) {
    return Status::error(Code::limit_exceeded, "2^18 transfers without a wait")
        .hint("call nga_nbwait for each handle");
  }
  const std::int64_t slot = free_slots().back();
  free_slots().pop_back();
  return slot;
}

/// Calls `act` with the parts of `box` that remain without the element at `place`.
template <class Act>
void for_each_part_without(const Box& box, const Index& place, const Act& act) {
  Box rest = box;
  for (int dim = 0; dim < box.ndims(); ++dim) {
    Box before = rest;
    Box after = rest;
    before.set(dim, rest.lo(dim), place[dim]);
    after.set(dim, place[dim] + 1, rest.hi(dim));
    rest.set(dim, place[dim], place[dim] + 1);
    for (const Box& part : {before, after}) {
      if (!part.is_empty()) {
        act(part);
      }
    }
  }
}

/// The memory of a part of `box`.
Memory memory_of(const Box& part, const Box& box, const Memory& memory, std::size_t element_bytes) {
  std::int64_t offset = 0;
  for (int dim = 0; dim < box.ndims(); ++dim) {
    offset += (part.lo(dim) - box.lo(dim)) * memory.strides[dim];
  }
  Memory moved = memory;
  moved.data =
      static_cast<std::byte*>(memory.data) + offset * static_cast<std::int64_t>(element_bytes);
  return moved;
}

}  // namespace

Status Requests::begin(const IntOut& request, rma::Handle transfer) {
  if (request.is_null()) {
    return transfer.wait();
  }
  if (transfer.is_empty()) {
    request.set(0);
    return {};
  }
  TESSERA_ASSIGN_OR_RETURN(const std::int64_t number, free_slot());
  Slot& slot = slots()[static_cast<std::size_t>(number)];
  slot.transfer = std::move(transfer);
  slot.is_used = true;
  request.set(number_of(number));
  return {};
}

Status Requests::wait(const IntOut& request) {
  Slot* const slot = request.is_null() ? nullptr : find_slot(request.get());
  if (slot == nullptr) {
    return {};
  }
  Status waited = slot->transfer.wait();
  release_slot(*slot);
  request.set(0);
  return waited;
}

bool Requests::test(const IntOut& request) {
  Slot* const slot = request.is_null() ? nullptr : find_slot(request.get());
  return slot == nullptr || slot->transfer.done();
}

void Requests::clear() noexcept {
  slots().clear();
  free_slots().clear();
}

Status nbput(Record& record, const Box& box, const Memory& memory, const IntOut& request) {
  return Requests::begin(request, record.array().put_box_async(box, memory));
}

Status nbget(Record& record, const Box& box, const Memory& memory, const IntOut& request) {
  return Requests::begin(request, record.array().get_box_async(box, memory));
}

Status nbacc(Record& record, const Box& box, const Memory& memory, const void* alpha,
             const IntOut& request) {
  TESSERA_ASSIGN_OR_RETURN(const rma::Scale scale, scale_of(record, alpha));
  return Requests::begin(request, record.array().accumulate_box_async(box, memory, scale));
}

// The box is complete at its owners before the element is put. So a process that polls the element
// can then read the box. If the element is inside the box, it is put last.
Status nbput_notify(Record& record, const Box& box, const Memory& memory, Record& flags,
                    const Index& place, const void* value, const IntOut& request) {
  const arrays::ArrayBase& array = record.array();
  rma::Handle puts;
  if (&record == &flags && box.contains(place)) {
    for_each_part_without(box, place, [&](const Box& part) {
      puts.collect(array.put_box_async(part, memory_of(part, box, memory, array.element_bytes())));
    });
  } else {
    puts = array.put_box_async(box, memory);
  }
  TESSERA_RETURN_IF_ERROR(puts.wait());
  TESSERA_RETURN_IF_ERROR(array.fence());
  const Memory element{const_cast<void*>(value), Strides::filled(flags.ndims(), 1)};
  return Requests::begin(request, flags.array().put_box_async(Box::at(place), element));
}

Status nbwait(const IntOut& request) {
  return Requests::wait(request);
}

Result<std::int64_t> nbtest(const IntOut& request) {
  return Requests::test(request) ? 1 : 0;
}

}  // namespace tessera::ga
