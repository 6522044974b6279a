// SPDX-License-Identifier: BSD-3-Clause
//
// What MA's names, which are in the table `names`, call in both languages: arguments by value,
// names as text, and the index of a base array's first element, which is 0 in C and 1 in Fortran.
#pragma once

#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include "fortran/ga/ma/process.hpp"

namespace tessera::ga::ma {

using Room = Allocator::Room;

inline std::string_view text_of(const char* name) noexcept {
  return name == nullptr ? std::string_view() : std::string_view(name, strnlen(name, MA_NAMESIZE));
}
/// Fortran's, without the blanks at its end.
inline std::string_view text_of(const char* name, std::size_t length) noexcept {
  while (length > 0 && name[length - 1] == ' ') {
    --length;
  }
  return {name, length};
}

inline Boolean init(Integer kind, Integer stack, Integer heap) noexcept {
  return call(Routine::init,
              [&](Allocator& allocator) { return allocator.initialize(kind, stack, heap); });
}

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

inline Boolean free_heap(Integer handle) noexcept {
  return call(Routine::free_heap, [&](Allocator& allocator) { return allocator.free(handle); });
}
inline Boolean free_heap_piece(Integer handle, Integer elements) noexcept {
  return call(Routine::free_heap_piece,
              [&](Allocator& allocator) { return allocator.free_last(handle, elements); });
}
inline Boolean pop_stack(Integer handle) noexcept {
  return call(Routine::pop_stack, [&](Allocator& allocator) { return allocator.pop(handle); });
}
inline Boolean chop_stack(Integer handle) noexcept {
  return call(Routine::chop_stack, [&](Allocator& allocator) { return allocator.chop(handle); });
}

inline Boolean get_pointer(Integer handle, void* pointer) noexcept {
  return call(Routine::get_pointer, [&](const Allocator& allocator) -> rma::Status {
    TESSERA_ASSIGN_OR_RETURN(std::byte* const address, allocator.address_of(handle));
    std::memcpy(pointer, &address, sizeof address);
    return {};
  });
}
inline Pointer get_mbase(Integer kind) noexcept {
  Pointer base = nullptr;
  call(Routine::get_mbase, [&](const Allocator& allocator) -> rma::Status {
    // Reports a code that is not a type's.
    TESSERA_RETURN_IF_ERROR(allocator.overhead(kind).status());
    base = reinterpret_cast<Pointer>(find_kind(kind)->base);
    return {};
  });
  return base;
}

inline Boolean get_next_memhandle(Integer* iterator, Integer* handle) noexcept {
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

inline Boolean init_memhandle_iterator(Integer* iterator) noexcept {
  return call(Routine::init_memhandle_iterator, [&](Allocator&) {
    *iterator = 1;
    return rma::Status();
  });
}

inline Boolean get_numalign(Integer* bits) noexcept {
  return call(Routine::get_numalign, [&](const Allocator& allocator) {
    *bits = allocator.alignment_bits();
    return rma::Status();
  });
}

inline Boolean set_numalign(Integer bits) noexcept {
  return call(Routine::set_numalign,
              [&](Allocator& allocator) { return allocator.set_alignment_bits(bits); });
}

inline Integer size_of(Integer from, Integer elements, Integer to) noexcept {
  return call_for_number(Routine::size_of,
                         [&](const Allocator&) { return Allocator::convert(from, elements, to); });
}
inline Integer size_of_overhead(Integer kind) noexcept {
  return call_for_number(Routine::size_of_overhead,
                         [&](const Allocator& allocator) { return allocator.overhead(kind); });
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

inline Boolean set_auto_verify(Integer value) noexcept {
  Process& process = Process::current();
  process.begin(Routine::set_auto_verify);
  return process.set_verify(value != 0) ? MA_TRUE : MA_FALSE;
}

inline Boolean verify_allocator_stuff() noexcept {
  Process& process = Process::current();
  process.begin(Routine::verify_allocator_stuff);
  return process.verify() ? MA_TRUE : MA_FALSE;
}

inline Boolean initialized() noexcept {
  Process& process = Process::current();
  process.begin(Routine::initialized);
  return process.allocator.is_initialized() ? MA_TRUE : MA_FALSE;
}

inline void print_stats(Integer with_calls) noexcept {
  Process& process = Process::current();
  process.begin(Routine::print_stats);
  process.print_usage(with_calls != 0);
}

inline void summarize_allocated_blocks() noexcept {
  call(Routine::summarize_allocated_blocks, [](const Allocator& allocator) {
    std::fputs(allocator.describe_blocks().c_str(), stdout);
    std::fflush(stdout);
    return rma::Status();
  });
}

inline void set_error_callback(Process::Callback callback) noexcept {
  Process& process = Process::current();
  process.begin(Routine::set_error_callback);
  process.callback = callback;
}

/// The linker has joined the COMMON blocks; nothing is left to do.
inline Boolean set_sizes() noexcept {
  return MA_TRUE;
}
/// The addresses of the program's COMMON blocks, for a library whose symbols were not joined to the
/// program's. Requires: no block is allocated. A null pointer leaves the address as it is.
inline void hook_commons(void* byte, void* integer, void* truth, void* real, void* dbl, void* scpl,
                         void* dcpl) noexcept {
  set_commons({byte, integer, truth, real, dbl, scpl, dcpl});
  Process::current().allocator.learn_kinds();
}

inline void trace(Integer value) noexcept {
  Process& process = Process::current();
  process.begin(Routine::trace);
  process.set_trace(value != 0);
}

}  // namespace tessera::ga::ma
