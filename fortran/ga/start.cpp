// SPDX-License-Identifier: BSD-3-Clause
//
// Start and end of Global Arrays; ending a program with an error; the clock.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>

#include "fortran/ga/operations.hpp"
#include "fortran/ga/session.hpp"
#include "rma/armci/communicator.hpp"
#include "rma/bootstrap.hpp"

namespace tessera::ga {

Status initialize() {
  return Session::begin(-1);
}

Status initialize_args(int* argc, char*** argv) {
  TESSERA_RETURN_IF_ERROR(rma::armci::start_mpi_if_launched(argc, argv));
  return Session::begin(-1);
}

Status initialize_ltd(std::int64_t limit) {
  return Session::begin(limit);
}

Result<bool> initialized() {
  return Session::current() != nullptr;
}

Status end_ga() {
  Status ended = Session::end();
  rma::armci::end_mpi_with_process();
  return ended;
}

Status error(std::string_view text, std::int64_t code) {
  constexpr int least = -1;  // a code of 0 would report success
  const int given = code == 0 ? least : static_cast<int>(code);
  std::fflush(stdout);
  fmt::print(stderr, "{}:{}:{}\n", default_ranks().own, text, given);
  rma::end_job(given);
}

Status set_debug(bool is_on) {
  if (Session* const session = Session::current()) {
    session->is_debug = is_on;
  }
  return {};
}

Result<bool> get_debug() {
  const Session* const session = Session::current();
  return session != nullptr && session->is_debug;
}

Result<double> wtime() {
  static const auto start = std::chrono::steady_clock::now();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Result<bool> uses_fapi() {
  return false;
}

Status print_stats() {
  Session* const session = Session::current();
  if (session == nullptr) {
    return not_running();
  }
  const rma::Traffic traffic = session->job().traffic();
  fmt::print("\n                         GA Statistics for process {:4}\n", default_ranks().own);
  fmt::print("                         ------------------------------\n\n");
  fmt::print("         get      put      acc\n");
  const auto gets = traffic.total(rma::Op::get);
  const auto puts = traffic.total(rma::Op::put);
  const auto accs = traffic.total(rma::Op::accumulate);
  fmt::print("calls:  {:8} {:8} {:8}\n", gets.operations, puts.operations, accs.operations);
  fmt::print("bytes:  {:8.2e} {:8.2e} {:8.2e}\n", static_cast<double>(gets.bytes),
             static_cast<double>(puts.bytes), static_cast<double>(accs.bytes));
  fmt::print("Memory of arrays in this process: {} bytes, at most {}\n", session->allocated,
             session->most_allocated);
  std::fflush(stdout);
  return {};
}

Status version(const IntOut& major, const IntOut& minor, const IntOut& patch) {
  constexpr std::int64_t numbers[] = {5, 9, 2};
  major.set(numbers[0]);
  minor.set(numbers[1]);
  patch.set(numbers[2]);
  return {};
}

}  // namespace tessera::ga
