// SPDX-License-Identifier: BSD-3-Clause
//
// Process: MA's allocator in this process, the flags that say what happens at an error, and the
// numbers of calls; and the frame that each entry point runs in.
//
// Threads: one at a time.
#pragma once

#include <array>
#include <cstdint>
#include <new>
#include <string_view>
#include <utility>

#include "fortran/ga/ma/allocator.hpp"

namespace tessera::ga::ma {

enum class Routine : unsigned char {
  alloc_get,
  allocate_heap,
  chop_stack,
  free_heap,
  free_heap_piece,
  get_index,
  get_mbase,
  get_next_memhandle,
  get_numalign,
  get_pointer,
  init,
  initialized,
  init_memhandle_iterator,
  inquire_avail,
  inquire_heap,
  inquire_heap_check_stack,
  inquire_heap_no_partition,
  inquire_stack,
  inquire_stack_check_heap,
  inquire_stack_no_partition,
  pop_stack,
  print_stats,
  push_get,
  push_stack,
  set_auto_verify,
  set_error_print,
  set_hard_fail,
  set_numalign,
  size_of,
  size_of_overhead,
  summarize_allocated_blocks,
  trace,
  verify_allocator_stuff,
  set_error_callback,
  count
};

/// As the program calls it, for example "MA_push_get".
std::string_view name_of(Routine routine) noexcept;

class Process {
 public:
  using Callback = void (*)(const char*, int);

  static Process& current() noexcept { return running != nullptr ? *running : start(); }

  Allocator allocator;
  bool prints_errors = true;
  bool ends_at_errors = false;
  Callback callback = nullptr;  ///< ends the program, if it is not null

  void set_trace(bool on) noexcept { set_watch(on, verifies_); }
  /// Returns whether it was on.
  bool set_verify(bool on) noexcept {
    const bool before = verifies_;
    set_watch(traces_, on);
    return before;
  }

  /// Counts the call. False: it must not be done, because damage was found.
  bool begin(Routine routine) noexcept {
    ++calls_[static_cast<std::size_t>(routine)];
    return !is_watched_ || begin_watched(routine);
  }
  /// Reports the error as the flags say.
  void fail(Routine routine, const rma::Status& error) noexcept;
  /// Checks all blocks and prints what is damaged.
  bool verify() noexcept;
  void print_usage(bool with_calls) noexcept;

 private:
  static Process& start() noexcept;
  bool begin_watched(Routine routine) noexcept;
  void set_watch(bool traces, bool verifies) noexcept {
    traces_ = traces;
    verifies_ = verifies;
    is_watched_ = traces || verifies;
  }

  static constinit Process* running;
  bool is_watched_ = false;
  bool traces_ = false;
  bool verifies_ = false;
  std::array<std::uint64_t, static_cast<std::size_t>(Routine::count)> calls_{};
};

/// Runs an entry point that can fail. `act` gets the allocator and returns a status.
template <class Act>
Boolean call(Routine routine, const Act& act) noexcept {
  Process& process = Process::current();
  if (!process.begin(routine)) [[unlikely]] {
    return MA_FALSE;
  }
  try {
    const rma::Status status = act(process.allocator);
    if (status.ok()) [[likely]] {
      return MA_TRUE;
    }
    process.fail(routine, status);
  } catch (const std::bad_alloc&) {
    process.fail(routine, rma::Status::code_only(rma::Code::no_memory));
  }
  return MA_FALSE;
}

/// The same for entry points whose result is a number; 0 after an error.
template <class Act>
Integer call_for_number(Routine routine, const Act& act) noexcept {
  Integer number = 0;
  call(routine, [&](Allocator& allocator) -> rma::Status {
    TESSERA_ASSIGN_OR_RETURN(number, act(allocator));
    return {};
  });
  return number;
}

}  // namespace tessera::ga::ma
