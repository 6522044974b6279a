// SPDX-License-Identifier: BSD-3-Clause
//
// Log: where the library writes to standard error (but for the launcher, and for an ARMCI program
// without a job), and only what was asked
// for: warnings by default, more with TESSERA_LOG=info or debug, a profile's table with
// TESSERA_PROFILE=summary.
//
// Threads: all functions may be called from any thread.
#pragma once

#include <functional>
#include <mutex>
#include <string_view>

#include "rma/rank.hpp"

namespace tessera::rma {

enum class LogLevel : unsigned char { silent, warning, info, debug };

class Log {
 public:
  using Sink = std::function<void(LogLevel, std::string_view line)>;

  /// A log that prints lines up to `level` to standard error as "tessera[rank]: line".
  explicit Log(LogLevel level = LogLevel::warning, WorldRank rank = {});

  /// Sends lines, and reports as warnings, to `sink` instead of standard error.
  void set_sink(Sink sink);
  void set_level(LogLevel level);
  [[nodiscard]] bool wants(LogLevel level) const;

  void warning(std::string_view line) { write(LogLevel::warning, line); }
  void info(std::string_view line) { write(LogLevel::info, line); }
  void debug(std::string_view line) { write(LogLevel::debug, line); }
  /// Text of several lines that was asked for, whatever the level, and printed as it is.
  void report(std::string_view text);

 private:
  void write(LogLevel level, std::string_view line);

  mutable std::mutex mutex_;
  LogLevel level_;
  WorldRank rank_;
  Sink sink_;
};

}  // namespace tessera::rma
