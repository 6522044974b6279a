// SPDX-License-Identifier: BSD-3-Clause
//
// Program: runs another program without a shell and collects its output.
//
// Its destructor kills the process that it started, by its id, if that has not ended.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::fault {

struct Ending {
  int exit_code = -1;  ///< −1 if a signal ended it, or the time limit was reached
  int signal = 0;
  std::string output;  ///< standard output and standard error, in order of arrival
};

class Program {
 public:
  explicit Program(const std::vector<std::string>& arguments);
  ~Program();
  Program(Program&& other) noexcept;
  Program& operator=(Program&&) = delete;

  [[nodiscard]] int pid() const { return pid_; }
  /// The child processes of the program, oldest first.
  [[nodiscard]] std::vector<int> children() const;
  [[nodiscard]] const std::string& output() const { return output_; }

  /// Waits until the output is `text`, or has `count` lines. Returns false if the time limit comes
  /// first.
  bool wait_for_output(const std::string& text);
  bool wait_for_lines(int count);
  /// Waits until the program has ended and all of its output has been read, or for the time limit.
  Ending wait();

 private:
  bool read_some();

  static constexpr std::chrono::seconds time_limit{30};
  std::chrono::steady_clock::time_point limit_ = std::chrono::steady_clock::now() + time_limit;
  int pid_ = -1;
  int pipe_ = -1;
  std::string output_;
};

/// The number of times `part` occurs in `text`.
std::size_t occurrences(std::string_view text, std::string_view part);

}  // namespace tessera::fault
