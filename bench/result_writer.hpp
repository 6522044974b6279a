// SPDX-License-Identifier: BSD-3-Clause
//
// ResultWriter: writes the results of a run as JSON once: at its end, or when a signal or an
// exception ends it early. TerminationSignals: calls a function when a signal is about to end the
// program.
#pragma once

#include <array>
#include <csignal>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "bench/support/measure.hpp"
#include "bench/support/record.hpp"

namespace tessera::bench {

/// For rank 0; other ranks write nothing. Any thread may call the functions that write, even while
/// other threads add to the report, which must outlive this object. Errors are printed to standard
/// error.
class ResultWriter {
 public:
  explicit ResultWriter(Report& report) : report_(report) {}

  /// Collective. Tries the file before a measurement that takes minutes; its old contents stay
  /// until write(). An empty path means no file, and "-" standard output. Returns false on all
  /// ranks if the file can't be written.
  [[nodiscard]] bool open(RankGroup& group, const std::string& path);

  /// Writes the file, unless it is written already. Returns false if that fails.
  [[nodiscard]] bool write();

  /// Writes the file before the run's end, with `why` in it, and prints that it did. Leaves the
  /// file as it was if nothing was measured. Never throws.
  void write_unfinished(const std::string& why) noexcept;

 private:
  [[nodiscard]] bool write_all();

  Report& report_;
  std::string path_;
  std::mutex mutex_;
  bool is_written_ = false;
};

/// During its lifetime, the first SIGINT, SIGTERM, SIGHUP or SIGPIPE calls `last`, and then ends
/// the process as it would have done without this object. Ignores such signals that arrive
/// meanwhile. Signals that the process ignores stay ignored. `last` runs in a thread of its own,
/// which blocks all signals, while the other threads continue. It may do anything except throw or
/// destroy this object. At most one object per process. Throws std::system_error if the system
/// can't provide a pipe, rma::Error if it can't provide a thread.
class TerminationSignals {
 public:
  explicit TerminationSignals(std::function<void(int number)> last);
  /// After it returns, `last` isn't called any more. If a signal has called `last`, the destructor
  /// does not return.
  ~TerminationSignals();
  TerminationSignals(const TerminationSignals&) = delete;
  TerminationSignals& operator=(const TerminationSignals&) = delete;

 private:
  static constexpr std::array numbers = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};

  void wait();

  std::function<void(int number)> last_;
  std::array<int, 2> pipe_ = {-1, -1};
  std::array<struct sigaction, numbers.size()> before_ = {};
  std::thread thread_;
};

}  // namespace tessera::bench
