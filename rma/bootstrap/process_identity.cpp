// SPDX-License-Identifier: BSD-3-Clause
#include "rma/bootstrap/process_identity.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <string_view>

#include "rma/base/fd_passing.hpp"

namespace tessera::rma::detail {
namespace {

constexpr unsigned start_time_bits = 32;

// Field `number` of a line of words, counted from 0; empty if there are fewer.
std::string_view word(std::string_view line, int number) {
  for (; number > 0 && !line.empty(); --number) {
    const std::size_t blank = line.find(' ');
    line.remove_prefix(blank == std::string_view::npos ? line.size() : blank + 1);
  }
  return line.substr(0, line.find(' '));
}

std::uint64_t number_in(std::string_view digits) {
  std::uint64_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

// The identity of the process that the file /proc/PID/stat describes.
std::uint64_t identity_in(const char* path) noexcept {
  const Descriptor file(open(path, O_RDONLY | O_CLOEXEC));
  std::array<char, 1024> text{};
  const ssize_t got = read(file.get(), text.data(), text.size());
  const std::string_view all(text.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  // The second field is the program's name in parentheses, which may contain blanks and
  // parentheses.
  const std::size_t name_end = all.rfind(") ");
  if (name_end == std::string_view::npos) {
    return 0;
  }
  const std::string_view rest = all.substr(name_end + 2);
  const std::string_view state = word(rest, 0);
  if (state == "Z" || state == "X") {
    return 0;
  }
  constexpr int start_time_word = 19;  // field 22 of the line
  return number_in(word(all, 0)) << start_time_bits |
         static_cast<std::uint32_t>(number_in(word(rest, start_time_word)));
}

}  // namespace

std::uint64_t identity_of(pid_t process) noexcept {
  std::array<char, 32> path{};
  std::snprintf(path.data(), path.size(), "/proc/%d/stat", process);
  return process > 0 ? identity_in(path.data()) : 0;
}

std::uint64_t own_identity() noexcept {
  return identity_in("/proc/self/stat");
}

pid_t process_of(std::uint64_t identity) noexcept {
  return static_cast<pid_t>(identity >> start_time_bits);
}

bool is_running(std::uint64_t identity) noexcept {
  return identity != 0 && identity_of(process_of(identity)) == identity;
}

}  // namespace tessera::rma::detail
