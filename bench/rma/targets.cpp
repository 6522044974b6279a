// SPDX-License-Identifier: BSD-3-Clause
#include "bench/rma/parts.hpp"

namespace tessera::bench {
namespace {

using Sense = Target::Sense;

bool is_copy(const Case& c) {
  return c.operation == Operation::put || c.operation == Operation::get;
}
bool is_word(const Case& c) {
  return is_copy(c) && c.layout == Layout::contiguous && c.run_bytes == 8;
}
bool is_run(const Case& c, std::size_t from_bytes) {
  return c.layout == Layout::contiguous && c.run_bytes >= from_bytes;
}
/// Patches of at least 64 rows, the smallest number that the design has a limit for.
bool is_patch(const Case& c) {
  return c.layout == Layout::strided && c.runs >= 64;
}

bool is_long_copy(const Case& c) {
  return is_copy(c) && is_run(c, 32768);
}
bool is_page_copy(const Case& c) {
  return is_copy(c) && c.layout == Layout::contiguous && c.run_bytes == 4096;
}
bool has_long_rows(const Case& c) {
  return is_copy(c) && is_patch(c) && c.run_bytes >= 64;
}
bool has_short_rows(const Case& c) {
  return is_copy(c) && is_patch(c) && c.run_bytes == 16;
}
bool is_long_accumulate(const Case& c) {
  return c.operation == Operation::accumulate && is_run(c, 32768);
}
bool accumulates_short_rows(const Case& c) {
  return c.operation == Operation::accumulate && is_patch(c) && c.run_bytes == 16;
}

}  // namespace

std::string contention_target(const std::string& where) {
  return "two accumulate on " + where + ": rate / one's";
}

std::vector<Target> shm_targets() {
  const auto is = [](Operation operation) {
    return [operation](const Case& c) { return c.operation == operation; };
  };
  return {
      {"put, get 8 B: time / memcpy", "memcpy", Sense::time_at_most, 6, is_word},
      {"put, get 8 B: speed / ARMCI-MPI", "armci-mpi", Sense::speed_at_least, 8, is_word},
      {"put, get 8 B: speed / MPI and flush_local", "mpi", Sense::speed_at_least, 8, is_word},
      {"put, get 4 KiB: speed / ARMCI-MPI", "armci-mpi", Sense::speed_at_least, 3.5, is_page_copy},
      {"put, get from 32 KiB: speed / memcpy", "memcpy", Sense::speed_at_least, 0.95, is_long_copy},
      {"put, get rows from 64 B: speed / loop", "memcpy", Sense::speed_at_least, 0.90,
       has_long_rows},
      {"put, get 16 B rows: speed / ARMCI-MPI", "armci-mpi", Sense::speed_at_least, 14,
       has_short_rows},
      {"put, get 16 B rows: speed / MPI subarray", "mpi", Sense::speed_at_least, 2, has_short_rows},
      {"accumulate from 32 KiB: speed / loop", "axpy", Sense::speed_at_least, 0.90,
       is_long_accumulate},
      {"accumulate 16 B rows: speed / ARMCI-MPI", "armci-mpi", Sense::speed_at_least, 10,
       accumulates_short_rows},
      {contention_target("bytes apart"), "one rank", Sense::speed_at_least, 1.7},
      {contention_target("same bytes"), "one rank", Sense::speed_at_least, 1.7},
      {"fetch-and-add: time / lock xadd", "lock xadd", Sense::time_at_most, 3,
       is(Operation::fetch_add)},
      {"lock and unlock: time / two atomics", "two atomics", Sense::time_at_most, 4,
       is(Operation::lock_unlock)},
  };
}

}  // namespace tessera::bench
