// SPDX-License-Identifier: BSD-3-Clause
//
// Log: the only place where the library writes to standard error; exceptions are the launcher and
// an ARMCI program without a job. It prints only what was requested: warnings by default, more with
// TESSERA_LOG=info or debug, a profile's table with TESSERA_PROFILE=summary.
//
// A warning never waits. Agents give warnings, and a job that waits for an agent must not wait for
// the reader of standard error (a stopped terminal, a pager). A warning without room is dropped,
// and the next one with room is preceded by the number of dropped ones. Output that was requested
// does wait.
//
// Threads: all functions may be called from any thread.
#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string_view>

#include "rma/base/catch_bad_alloc.hpp"
#include "rma/base/rank.hpp"

namespace tessera::rma {

enum class LogLevel : unsigned char { silent, warning, info, debug };

class Log {
 public:
  using Sink = std::function<void(LogLevel, std::string_view line)>;

  /// A log that prints lines up to `level` to standard error as "tessera[rank]: line".
  explicit Log(LogLevel level = LogLevel::warning, WorldRank rank = {});
  /// Prints how many lines were dropped, if there is room.
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  /// Sends lines, and reports as warnings, to `sink` instead of standard error.
  void set_sink(Sink sink);
  void set_level(LogLevel level);
  /// True if lines of `level` are printed.
  [[nodiscard]] bool wants(LogLevel level) const;

  void warning(std::string_view line) { write(LogLevel::warning, line); }
  void info(std::string_view line) { write(LogLevel::info, line); }
  void debug(std::string_view line) { write(LogLevel::debug, line); }
  /// The same with the line that word() returns, if lines of `level` are printed and there is
  /// memory for it.
  template <std::invocable Word>
  void line(LogLevel level, Word&& word) noexcept {
    detail::catch_bad_alloc([&] {
      if (wants(level)) {
        write(level, word());
      }
      return Status();
    }).ignore("no memory for a line");
  }
  /// Prints text of several lines that was requested, unchanged and at any level.
  void report(std::string_view text);

 private:
  void write(LogLevel level, std::string_view line);
  bool give_to_sink(LogLevel level, std::string_view text);
  void write_dropped() noexcept;

  mutable std::mutex mutex_;  // never held while something is printed
  LogLevel level_;
  WorldRank rank_;
  Sink sink_;
  std::atomic<std::uint64_t> dropped_{0};  // number of lines since the last that had room
};

}  // namespace tessera::rma
