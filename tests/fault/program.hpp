// SPDX-License-Identifier: BSD-3-Clause
//
// Program: another program run by a test, with its output collected. No shell.
//
// Ends what it started, by its id, when it goes out of scope or its time is up.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::fault {

struct Ending {
  int exit_code = -1;  ///< −1 when a signal ended it, or the time was up
  int signal = 0;
  std::string output;  ///< of standard output and standard error, as it came
};

class Program {
 public:
  explicit Program(const std::vector<std::string>& arguments);
  ~Program();
  Program(Program&& other) noexcept;
  Program& operator=(Program&&) = delete;

  [[nodiscard]] int pid() const { return pid_; }
  /// The processes that it started, in the order of their beginning.
  [[nodiscard]] std::vector<int> children() const;
  [[nodiscard]] const std::string& output() const { return output_; }

  /// True when the output is `text`, or has so many lines, before the time is up.
  bool wait_for_output(const std::string& text);
  bool wait_for_lines(int count);
  /// Waits until it has ended and all of its output has come.
  Ending wait();

 private:
  bool read_some();

  static constexpr std::chrono::seconds patience{30};
  std::chrono::steady_clock::time_point limit_ = std::chrono::steady_clock::now() + patience;
  int pid_ = -1;
  int pipe_ = -1;
  std::string output_;
};

/// How often `part` stands in `text`.
std::size_t occurrences(std::string_view text, std::string_view part);

}  // namespace tessera::fault
