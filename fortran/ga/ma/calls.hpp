// SPDX-License-Identifier: BSD-3-Clause
//
// What the entry points of both languages share: arguments by value, names as text, and the index
// of a base array's first element, which is 0 in C and 1 in Fortran.
#pragma once

#include <string_view>

#include "fortran/ga/ma/process.hpp"

namespace tessera::ga::ma {

inline Boolean get(Routine routine, Place place, Integer kind, Integer elements,
                   std::string_view name, Integer* handle, MA_AccessIndex* index,
                   MA_AccessIndex first) noexcept {
  return call(routine, [&](Allocator& allocator) -> rma::Status {
    TESSERA_ASSIGN_OR_RETURN(*handle, place == Place::heap
                                          ? allocator.allocate(kind, elements, name)
                                          : allocator.push(kind, elements, name));
    if (index != nullptr) {
      TESSERA_ASSIGN_OR_RETURN(*index, allocator.index_of(*handle));
      *index += first;
    }
    return {};
  });
}

inline Boolean get_index(Integer handle, MA_AccessIndex* index, MA_AccessIndex first) noexcept {
  return call(Routine::get_index, [&](Allocator& allocator) -> rma::Status {
    TESSERA_ASSIGN_OR_RETURN(*index, allocator.index_of(handle));
    *index += first;
    return {};
  });
}

inline Boolean next_block(Integer* iterator, Integer* handle) noexcept {
  Process& process = Process::current();
  if (!process.begin(Routine::get_next_memhandle)) {
    return MA_FALSE;
  }
  const auto from = *iterator < 0 || *iterator > Blocks::max_blocks
                        ? Blocks::max_blocks
                        : static_cast<std::uint32_t>(*iterator);
  const Allocator::Next next = process.allocator.next_block(from);
  if (next.number == 0) {
    return MA_FALSE;
  }
  *handle = next.handle;
  *iterator = static_cast<Integer>(next.number) + 1;
  return MA_TRUE;
}

inline Boolean begin_iteration(Integer* iterator) noexcept {
  return call(Routine::init_memhandle_iterator, [&](Allocator&) {
    *iterator = 1;
    return rma::Status();
  });
}

inline Boolean get_alignment(Integer* bits) noexcept {
  return call(Routine::get_numalign, [&](const Allocator& allocator) {
    *bits = allocator.alignment_bits();
    return rma::Status();
  });
}

inline Integer room(Routine routine, Allocator::Room which, Integer kind) noexcept {
  return call_for_number(routine,
                         [&](const Allocator& allocator) { return allocator.room(which, kind); });
}

inline Boolean set_flag(Routine routine, bool Process::*flag, Integer value) noexcept {
  Process& process = Process::current();
  process.begin(routine);
  return std::exchange(process.*flag, value != 0) ? MA_TRUE : MA_FALSE;
}

inline Boolean set_verify(Integer value) noexcept {
  Process& process = Process::current();
  process.begin(Routine::set_auto_verify);
  return process.set_verify(value != 0) ? MA_TRUE : MA_FALSE;
}

inline Boolean verify() noexcept {
  Process& process = Process::current();
  process.begin(Routine::verify_allocator_stuff);
  return process.verify() ? MA_TRUE : MA_FALSE;
}

inline Boolean is_initialized() noexcept {
  Process& process = Process::current();
  process.begin(Routine::initialized);
  return process.allocator.is_initialized() ? MA_TRUE : MA_FALSE;
}

inline void print_usage(Integer with_calls) noexcept {
  Process& process = Process::current();
  process.begin(Routine::print_stats);
  process.print_usage(with_calls != 0);
}

void print_blocks() noexcept;

inline void set_trace(Integer value) noexcept {
  Process& process = Process::current();
  process.begin(Routine::trace);
  process.set_trace(value != 0);
}

}  // namespace tessera::ga::ma
