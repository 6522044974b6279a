// SPDX-License-Identifier: BSD-3-Clause
//
// The design's limits for the suites of one-sided communication.
#include "bench/parts.hpp"

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

std::vector<Target> net_targets() {
  return {
      {net_target::get_awake, "tcp polling", Sense::time_at_most, 1.15},
      {net_target::get_asleep, "tcp blocking", Sense::time_at_most, 1.15},
      {net_target::stream, "tcp", Sense::speed_at_least, 0.95},
      {net_target::request, "tcp", Sense::speed_at_least, 0.95},
      {net_target::long_rows, "contiguous", Sense::speed_at_least, 0.90},
      {net_target::vector, "tcp polling", Sense::time_at_most, 4},
      {net_target::aggregate, "one list", Sense::time_at_most, 1.3},
      {net_target::separate, "tcp polling", Sense::time_at_most, 16},
      {net_target::overlap_idle, "computation", Sense::speed_at_least, 0.90},
      {net_target::overlap_busy, "tcp with helpers", Sense::speed_at_least, 0.95},
      {net_target::idle_agent, "a core", Sense::time_at_most, 0.01},
  };
}

std::vector<Target> verbs_targets() {
  return {
      {verbs_target::word, "bare loop", Sense::time_at_most, 1.1},
      {verbs_target::large, "bare loop", Sense::speed_at_least, 0.95},
      {verbs_target::local_patches, "dense rows", Sense::speed_at_least, 0.90},
      {verbs_target::left, "all of it", Sense::speed_at_least, 0.99},
      {verbs_target::left_by_tessera, "bare loop", Sense::speed_at_least, 0.99},
  };
}

std::vector<Target> windows_targets() {
  return {
      {windows_target::put, "mpi", Sense::time_at_most, 1.1},
      {windows_target::get, "mpi", Sense::time_at_most, 1.1},
      {windows_target::accumulate, "mpi", Sense::time_at_most, 1.1},
      {windows_target::contiguous, "armci-mpi", Sense::time_at_most, 1},
      {windows_target::lists, "armci-mpi", Sense::speed_at_least, 1.5},
      {windows_target::rows, "armci-mpi", Sense::speed_at_least, 1.5},
      {windows_target::translation, "a nanosecond", Sense::time_at_most, 40},
  };
}

}  // namespace tessera::bench
