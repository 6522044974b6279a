// SPDX-License-Identifier: BSD-3-Clause
//
// MA's Fortran interface, mafdecls.fh. Arguments are addresses; a text has its length at the end.
// fortran_names.h declares what is defined here.
#include <cstddef>

#include "fortran/ga/ma/calls.hpp"
#include "fortran/ga/ma/fortran_names.h"

namespace {

namespace ma = tessera::ga::ma;
using ma::Allocator;
using ma::Place;
using ma::Routine;
using Room = ma::Allocator::Room;

// Without the blanks at its end.
std::string_view text(const char* name, std::size_t length) noexcept {
  while (length > 0 && name[length - 1] == ' ') {
    --length;
  }
  return {name, length};
}

}  // namespace

extern "C" {

Integer ma_init_(const Integer* kind, const Integer* stack, const Integer* heap) {
  return MA_init(*kind, *stack, *heap);
}

Integer ma_initialized_() {
  return ma::is_initialized();
}

Integer ma_allocate_heap_(const Integer* kind, const Integer* elements, const char* name,
                          Integer* handle, std::size_t length) {
  return ma::get(Routine::allocate_heap, Place::heap, *kind, *elements, text(name, length), handle,
                 nullptr, 1);
}

Integer ma_alloc_get_(const Integer* kind, const Integer* elements, const char* name,
                      Integer* handle, MA_AccessIndex* index, std::size_t length) {
  return ma::get(Routine::alloc_get, Place::heap, *kind, *elements, text(name, length), handle,
                 index, 1);
}

Integer ma_push_stack_(const Integer* kind, const Integer* elements, const char* name,
                       Integer* handle, std::size_t length) {
  return ma::get(Routine::push_stack, Place::stack, *kind, *elements, text(name, length), handle,
                 nullptr, 1);
}

Integer ma_push_get_(const Integer* kind, const Integer* elements, const char* name,
                     Integer* handle, MA_AccessIndex* index, std::size_t length) {
  return ma::get(Routine::push_get, Place::stack, *kind, *elements, text(name, length), handle,
                 index, 1);
}

Integer ma_free_heap_(const Integer* handle) {
  return MA_free_heap(*handle);
}

Integer ma_free_heap_piece_(const Integer* handle, const Integer* elements) {
  return MA_free_heap_piece(*handle, *elements);
}

Integer ma_pop_stack_(const Integer* handle) {
  return MA_pop_stack(*handle);
}

Integer ma_chop_stack_(const Integer* handle) {
  return MA_chop_stack(*handle);
}

Integer ma_get_index_(const Integer* handle, MA_AccessIndex* index) {
  return ma::get_index(*handle, index, 1);
}

Integer ma_init_memhandle_iterator_(Integer* iterator) {
  return ma::begin_iteration(iterator);
}

Integer ma_get_next_memhandle_(Integer* iterator, Integer* handle) {
  return ma::next_block(iterator, handle);
}

Integer ma_inquire_avail_(const Integer* kind) {
  return ma::room(Routine::inquire_avail, Room::gap, *kind);
}

Integer ma_inquire_heap_(const Integer* kind) {
  return ma::room(Routine::inquire_heap, Room::heap, *kind);
}

Integer ma_inquire_heap_check_stack_(const Integer* kind) {
  return ma::room(Routine::inquire_heap_check_stack, Room::heap_both, *kind);
}

Integer ma_inquire_heap_no_partition_(const Integer* kind) {
  return ma::room(Routine::inquire_heap_no_partition, Room::heap_other, *kind);
}

Integer ma_inquire_stack_(const Integer* kind) {
  return ma::room(Routine::inquire_stack, Room::stack, *kind);
}

Integer ma_inquire_stack_check_heap_(const Integer* kind) {
  return ma::room(Routine::inquire_stack_check_heap, Room::stack_both, *kind);
}

Integer ma_inquire_stack_no_partition_(const Integer* kind) {
  return ma::room(Routine::inquire_stack_no_partition, Room::stack_other, *kind);
}

Integer ma_sizeof_(const Integer* from, const Integer* elements, const Integer* to) {
  return MA_sizeof(*from, *elements, *to);
}

Integer ma_sizeof_overhead_(const Integer* kind) {
  return MA_sizeof_overhead(*kind);
}

Integer ma_get_numalign_(Integer* value) {
  return ma::get_alignment(value);
}

Integer ma_set_numalign_(const Integer* value) {
  return MA_set_numalign(*value);
}

Integer ma_verify_allocator_stuff_() {
  return ma::verify();
}

Integer ma_set_auto_verify_(const Integer* value) {
  return ma::set_verify(*value);
}

Integer ma_set_error_print_(const Integer* value) {
  return MA_set_error_print(*value);
}

Integer ma_set_hard_fail_(const Integer* value) {
  return MA_set_hard_fail(*value);
}

void ma_print_stats_(const Integer* with_calls) {
  ma::print_usage(*with_calls);
}

void ma_summarize_allocated_blocks_() {
  ma::print_blocks();
}

void ma_trace_(const Integer* value) {
  ma::set_trace(*value);
}

void ma_set_error_callback_(ma_error_callback* callback) {
  MA_set_error_callback(callback);
}

// The linker has joined the COMMON blocks; nothing is left to do.
Integer ma_set_sizes_() {
  return MA_TRUE;
}

void ma_hook_commons_(void* byte, void* integer, void* truth, void* real, void* dbl, void* scpl,
                      void* dcpl) {
  ma::set_commons({byte, integer, truth, real, dbl, scpl, dcpl});
  ma::Process::current().allocator.learn_kinds();
}

}  // extern "C"
