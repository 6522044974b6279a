// SPDX-License-Identifier: BSD-3-Clause
#include "rma/log.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <utility>

namespace tessera::rma {

Log::Log(LogLevel level, WorldRank rank) : level_(level), rank_(rank) {}

void Log::set_sink(Sink sink) {
  const std::lock_guard guard(mutex_);
  sink_ = std::move(sink);
}

void Log::set_level(LogLevel level) {
  const std::lock_guard guard(mutex_);
  level_ = level;
}

bool Log::wants(LogLevel level) const {
  const std::lock_guard guard(mutex_);
  return level <= level_;
}

void Log::report(std::string_view text) {
  const std::lock_guard guard(mutex_);
  if (sink_) {
    sink_(LogLevel::warning, text);
    return;
  }
  fmt::print(stderr, "{}", text);
}

void Log::write(LogLevel level, std::string_view line) {
  const std::lock_guard guard(mutex_);
  if (level > level_) {
    return;
  }
  if (sink_) {
    sink_(level, line);
    return;
  }
  // One write a line, so that lines of different ranks do not mix.
  fmt::print(stderr, "tessera[{}]: {}\n", rank_.value, line);
}

}  // namespace tessera::rma
