// SPDX-License-Identifier: BSD-3-Clause
//
// MA's C interface, macdecls.h.
#include <cstdio>
#include <cstring>
#include <string>

#include "fortran/ga/ma/calls.hpp"

namespace tessera::ga::ma {
namespace {

std::string_view text(const char* name) noexcept {
  return name == nullptr ? std::string_view() : std::string_view(name, strnlen(name, MA_NAMESIZE));
}

}  // namespace

void print_blocks() noexcept {
  call(Routine::summarize_allocated_blocks, [](const Allocator& allocator) {
    const std::string list = allocator.describe_blocks();
    std::fputs(list.c_str(), stdout);
    std::fflush(stdout);
    return rma::Status();
  });
}

}  // namespace tessera::ga::ma

namespace ma = tessera::ga::ma;
using ma::Allocator;
using ma::Place;
using ma::Routine;
using tessera::rma::Status;
using Room = ma::Allocator::Room;

extern "C" {

Boolean MA_init(Integer datatype, Integer nominal_stack, Integer nominal_heap) {
  return ma::call(Routine::init, [&](Allocator& allocator) {
    return allocator.initialize(datatype, nominal_stack, nominal_heap);
  });
}

Boolean MA_initialized() {
  return ma::is_initialized();
}

Boolean MA_allocate_heap(Integer datatype, Integer nelem, const char* name, Integer* memhandle) {
  return ma::get(Routine::allocate_heap, Place::heap, datatype, nelem, ma::text(name), memhandle,
                 nullptr, 0);
}

Boolean MA_alloc_get(Integer datatype, Integer nelem, const char* name, Integer* memhandle,
                     MA_AccessIndex* index) {
  return ma::get(Routine::alloc_get, Place::heap, datatype, nelem, ma::text(name), memhandle, index,
                 0);
}

Boolean MA_push_stack(Integer datatype, Integer nelem, const char* name, Integer* memhandle) {
  return ma::get(Routine::push_stack, Place::stack, datatype, nelem, ma::text(name), memhandle,
                 nullptr, 0);
}

Boolean MA_push_get(Integer datatype, Integer nelem, const char* name, Integer* memhandle,
                    MA_AccessIndex* index) {
  return ma::get(Routine::push_get, Place::stack, datatype, nelem, ma::text(name), memhandle, index,
                 0);
}

Boolean MA_free_heap(Integer memhandle) {
  return ma::call(Routine::free_heap,
                  [&](Allocator& allocator) { return allocator.free(memhandle); });
}

Boolean MA_free_heap_piece(Integer memhandle, Integer nelem) {
  return ma::call(Routine::free_heap_piece,
                  [&](Allocator& allocator) { return allocator.free_last(memhandle, nelem); });
}

Boolean MA_pop_stack(Integer memhandle) {
  return ma::call(Routine::pop_stack,
                  [&](Allocator& allocator) { return allocator.pop(memhandle); });
}

Boolean MA_chop_stack(Integer memhandle) {
  return ma::call(Routine::chop_stack,
                  [&](Allocator& allocator) { return allocator.chop(memhandle); });
}

Boolean MA_get_index(Integer memhandle, MA_AccessIndex* index) {
  return ma::get_index(memhandle, index, 0);
}

Boolean MA_get_pointer(Integer memhandle, void* pointer) {
  return ma::call(Routine::get_pointer, [&](const Allocator& allocator) -> Status {
    TESSERA_ASSIGN_OR_RETURN(std::byte* const address, allocator.address_of(memhandle));
    std::memcpy(pointer, &address, sizeof address);
    return {};
  });
}

Pointer MA_get_mbase(Integer datatype) {
  Pointer base = nullptr;
  ma::call(Routine::get_mbase, [&](const Allocator& allocator) -> Status {
    // Reports a code that is not a type's.
    TESSERA_RETURN_IF_ERROR(allocator.overhead(datatype).status());
    base = reinterpret_cast<Pointer>(ma::find_kind(datatype)->base);
    return {};
  });
  return base;
}

Boolean MA_init_memhandle_iterator(Integer* ithandle) {
  return ma::begin_iteration(ithandle);
}

Boolean MA_get_next_memhandle(Integer* ithandle, Integer* memhandle) {
  return ma::next_block(ithandle, memhandle);
}

Integer MA_inquire_avail(Integer datatype) {
  return ma::room(Routine::inquire_avail, Room::gap, datatype);
}

Integer MA_inquire_heap(Integer datatype) {
  return ma::room(Routine::inquire_heap, Room::heap, datatype);
}

Integer MA_inquire_heap_check_stack(Integer datatype) {
  return ma::room(Routine::inquire_heap_check_stack, Room::heap_both, datatype);
}

Integer MA_inquire_heap_no_partition(Integer datatype) {
  return ma::room(Routine::inquire_heap_no_partition, Room::heap_other, datatype);
}

Integer MA_inquire_stack(Integer datatype) {
  return ma::room(Routine::inquire_stack, Room::stack, datatype);
}

Integer MA_inquire_stack_check_heap(Integer datatype) {
  return ma::room(Routine::inquire_stack_check_heap, Room::stack_both, datatype);
}

Integer MA_inquire_stack_no_partition(Integer datatype) {
  return ma::room(Routine::inquire_stack_no_partition, Room::stack_other, datatype);
}

Integer MA_sizeof(Integer datatype1, Integer nelem1, Integer datatype2) {
  return ma::call_for_number(Routine::size_of, [&](const Allocator&) {
    return Allocator::convert(datatype1, nelem1, datatype2);
  });
}

Integer MA_sizeof_overhead(Integer datatype) {
  return ma::call_for_number(Routine::size_of_overhead, [&](const Allocator& allocator) {
    return allocator.overhead(datatype);
  });
}

Boolean MA_get_numalign(Integer* value) {
  return ma::get_alignment(value);
}

Boolean MA_set_numalign(Integer value) {
  return ma::call(Routine::set_numalign,
                  [&](Allocator& allocator) { return allocator.set_alignment_bits(value); });
}

Boolean MA_verify_allocator_stuff() {
  return ma::verify();
}

Boolean MA_set_auto_verify(Boolean value) {
  return ma::set_verify(value);
}

Boolean MA_set_error_print(Boolean value) {
  return ma::set_flag(Routine::set_error_print, &ma::Process::prints_errors, value);
}

Boolean MA_set_hard_fail(Boolean value) {
  return ma::set_flag(Routine::set_hard_fail, &ma::Process::ends_at_errors, value);
}

void MA_set_error_callback(void (*func)(const char*, int)) {
  ma::Process& process = ma::Process::current();
  process.begin(Routine::set_error_callback);
  process.callback = func;
}

void MA_print_stats(Boolean printroutines) {
  ma::print_usage(printroutines);
}

void MA_summarize_allocated_blocks() {
  ma::print_blocks();
}

void MA_trace(Boolean value) {
  ma::set_trace(value);
}

}  // extern "C"
