// SPDX-License-Identifier: BSD-3-Clause
#include "apps/common/output.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <system_error>

#include "apps/common/exit_codes.hpp"
#include "apps/common/openblas.hpp"
#include "rma/base/memory.hpp"

namespace tessera::apps {
namespace {

// The system's reason for the first lost output. Ranks may be threads.
std::atomic<int> first_error{0};

void record_error(int error) {
  int none = 0;
  first_error.compare_exchange_strong(none, error == 0 ? EIO : error);
}

void flush() {
  errno = 0;
  if (std::fflush(stdout) != 0) {
    record_error(errno);
  }
}

}  // namespace

void print_text(std::string_view text) {
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) {
    record_error(errno);
  }
  flush();
}

void ignore_file_size_signal() {
  std::signal(SIGXFSZ, SIG_IGN);
}

void record_output_error(int error) {
  record_error(error);
}

void print_error(std::string_view program, std::string_view message) {
  const std::string line = fmt::format("{}: {}\n", program, message);
  static_cast<void>(std::fwrite(line.data(), 1, line.size(), stderr));
}

namespace {

// The reason of the write that failed is lost: write a newline, which fails for the same reason.
int find_write_error() {
  std::clearerr(stdout);
  errno = 0;
  return std::fputc('\n', stdout) == EOF || std::fflush(stdout) != 0 ? errno : 0;
}

int complete_output(std::string_view program, int code) {
  errno = 0;
  std::cout.flush();
  const int flush_error = errno;
  flush();
  if (std::ferror(stdout) != 0) {
    record_error(flush_error != 0 ? flush_error : find_write_error());
  }
  const int error = first_error.load();
  if (error == 0) {
    return code;
  }
  print_error(program, fmt::format("cannot write to standard output: {}",
                                   std::generic_category().message(error)));
  return code != 0 ? code : exit_failed;
}

}  // namespace

int finish_output(std::string_view program, int code) {
  const int final_code = complete_output(program, code);
  // A thread of OpenBLAS may ask for a buffer forever, and the library would wait for that thread
  // when it is unloaded (openblas.hpp).
  if (has_openblas() && rma::address_space_limit()) {
    std::_Exit(final_code);
  }
  return final_code;
}

}  // namespace tessera::apps
