// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/ga/ma/process.hpp"

#include <cstddef>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "rma/bootstrap.hpp"

namespace tessera::ga::ma {
namespace {

constexpr std::array<std::string_view, static_cast<std::size_t>(Routine::count)> names{
    "MA_alloc_get",
    "MA_allocate_heap",
    "MA_chop_stack",
    "MA_free_heap",
    "MA_free_heap_piece",
    "MA_get_index",
    "MA_get_mbase",
    "MA_get_next_memhandle",
    "MA_get_numalign",
    "MA_get_pointer",
    "MA_init",
    "MA_initialized",
    "MA_init_memhandle_iterator",
    "MA_inquire_avail",
    "MA_inquire_heap",
    "MA_inquire_heap_check_stack",
    "MA_inquire_heap_no_partition",
    "MA_inquire_stack",
    "MA_inquire_stack_check_heap",
    "MA_inquire_stack_no_partition",
    "MA_pop_stack",
    "MA_print_stats",
    "MA_push_get",
    "MA_push_stack",
    "MA_set_auto_verify",
    "MA_set_error_print",
    "MA_set_hard_fail",
    "MA_set_numalign",
    "MA_sizeof",
    "MA_sizeof_overhead",
    "MA_summarize_allocated_blocks",
    "MA_trace",
    "MA_verify_allocator_stuff",
    "MA_set_error_callback"};

void print(std::FILE* file, const std::string& text) noexcept {
  std::fputs(text.c_str(), file);
  std::fflush(file);
}

}  // namespace

std::string_view name_of(Routine routine) noexcept {
  return names[static_cast<std::size_t>(routine)];
}

// Not destroyed: a program may use its blocks until it ends.
constinit Process* Process::running = nullptr;

Process& Process::start() noexcept {
  alignas(Process) static std::array<std::byte, sizeof(Process)> memory;
  running = new (memory.data()) Process();
  return *running;
}

bool Process::begin_watched(Routine routine) noexcept {
  if (traces_) {
    std::fprintf(stdout, "MA: %s\n", name_of(routine).data());
    std::fflush(stdout);
  }
  const bool is_about_damage =
      routine == Routine::verify_allocator_stuff || routine == Routine::set_auto_verify;
  return !verifies_ || is_about_damage || verify();
}

void Process::fail(Routine routine, const rma::Status& error) noexcept {
  if (prints_errors || ends_at_errors) {
    std::fflush(stdout);
    std::fprintf(stderr, "MA error: %s: %s\n", name_of(routine).data(), error.message().c_str());
    std::fflush(stderr);
  }
  if (!ends_at_errors) {
    return;
  }
  if (callback != nullptr) {
    callback("MA ends the program after an error (MA_set_hard_fail)", 0);
  } else {
    rma::end_job(1);
  }
}

bool Process::verify() noexcept {
  try {
    const std::vector<std::string> damage = allocator.find_damage();
    for (const std::string& each : damage) {
      print(stdout, "MA: " + each + "\n");
    }
    if (damage.empty()) {
      return true;
    }
    fail(
        Routine::verify_allocator_stuff,
        rma::Status::error(rma::Code::invalid_argument,
                           fmt::format("{} damages, listed on standard output", damage.size()))
            .hint("the program writes outside of its blocks; look for an index that is too large"));
  } catch (const std::exception&) {
    fail(Routine::verify_allocator_stuff, rma::Status::code_only(rma::Code::no_memory));
  }
  return false;
}

void Process::print_usage(bool with_calls) noexcept {
  try {
    std::string text = allocator.describe_usage();
    for (std::size_t i = 0; with_calls && i < names.size(); ++i) {
      if (calls_[i] > 0) {
        text += fmt::format("  {:<32} {:>16} calls\n", names[i], calls_[i]);
      }
    }
    print(stdout, text);
  } catch (const std::exception&) {
    fail(Routine::print_stats, rma::Status::code_only(rma::Code::no_memory));
  }
}

}  // namespace tessera::ga::ma
