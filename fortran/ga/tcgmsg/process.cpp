// SPDX-License-Identifier: BSD-3-Clause
//
// Start and end of TCGMSG, its errors, and what concerns this process alone.
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <fmt/format.h>

#include "fortran/ga/tcgmsg/calls.hpp"
#include "rma/bootstrap.hpp"

namespace tessera::ga::tcgmsg {
namespace {

std::int64_t own_node() noexcept {
  const rma::armci::Session* const session = rma::armci::Session::current();
  return session == nullptr ? -1 : session->job.rank().value;
}

}  // namespace

void end_with(const char* function, const rma::Status& error) noexcept {
  std::fflush(stdout);
  std::fprintf(stderr, "tessera: [%ld] %s: %s\n", static_cast<long>(own_node()), function,
               error.describe().c_str());
  rma::end_job(EXIT_FAILURE);
}

void end_with(std::string_view message, std::int64_t code) noexcept {
  std::fflush(stdout);
  fmt::print(stderr, "{}: {} {} ({:#x}).\n", own_node(), message, code,
             static_cast<std::uint64_t>(code));
  rma::end_job(code == 0 ? EXIT_FAILURE : static_cast<int>(code));
}

void begin_without_arguments() noexcept {
  int count = 0;
  char** none = nullptr;
  begin(&count, &none);
}

void begin(int* argc, char*** argv) noexcept {
  guard("pbeginf", [&] { return Messages::begin(argc, argv); });
}

void end() noexcept {
  guard("pend", [] { return Messages::end(); });
  std::exit(EXIT_SUCCESS);
}

std::int64_t convert(const char* function, std::int64_t count, std::size_t from,
                     std::size_t to) noexcept {
  if (count < 0) {
    end_with(function, rma::Status::error(rma::Code::invalid_argument,
                                          fmt::format("{} numbers have no size", count)));
  }
  const auto bytes = static_cast<std::size_t>(count) * from;
  return static_cast<std::int64_t>((bytes + to - 1) / to);
}

double seconds() noexcept {
  static const auto start = std::chrono::steady_clock::now();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void set_debug(std::int64_t value) noexcept {
  call("setdbg", [&](Messages& messages) {
    messages.set_debug(value != 0);
    return rma::Status();
  });
}

void print_counts() noexcept {
  call("stats", [](const Messages& messages) {
    messages.print_counts();
    return rma::Status();
  });
}

void write_to_log() noexcept {
  call("llog", [](const Messages& messages) {
    const std::string name = fmt::format("log.{:03}", messages.rank());
    std::fflush(stdout);
    std::fflush(stderr);
    if (std::freopen(name.c_str(), "a", stdout) == nullptr ||
        std::freopen(name.c_str(), "a", stderr) == nullptr) {
      return rma::Status::error(
          rma::Code::invalid_argument,
          fmt::format("can't open file '{}': {}", name, std::strerror(errno)));
    }
    return rma::Status();
  });
}

std::int64_t be_nice(std::int64_t by) noexcept {
  return nice(static_cast<int>(by));
}

}  // namespace tessera::ga::tcgmsg

extern "C" {
void tcg_pbegin(int argc, char** argv) {
  tessera::ga::tcgmsg::begin(&argc, &argv);
}
void tcg_alt_pbegin(int* argc, char** argv[]) {
  tessera::ga::tcgmsg::begin(argc, argv);
}
}
