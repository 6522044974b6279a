// SPDX-License-Identifier: BSD-3-Clause
#include "rma/base/log.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdio>
#include <iterator>
#include <utility>

#include "rma/base/fd_passing.hpp"

namespace tessera::rma {
namespace {

enum class PipeState { full, has_room, closed };  // closed: its readers are gone

PipeState state_of_standard_error() noexcept {
  pollfd room{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
  if (poll(&room, 1, 0) <= 0) {
    return PipeState::full;
  }
  return (room.revents & POLLOUT) != 0 && (room.revents & POLLERR) == 0 ? PipeState::has_room
                                                                        : PipeState::closed;
}

// True if `text` was written, or can never be. Up to PIPE_BUF bytes are written whole or not at
// all.
bool write_without_waiting(std::string_view text) noexcept {
  struct stat file {};
  if (fstat(STDERR_FILENO, &file) != 0) {
    return true;
  }
  if (S_ISSOCK(file.st_mode)) {
    return send(STDERR_FILENO, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL) >= 0 ||
           errno != EAGAIN;
  }
  int descriptor = STDERR_FILENO;
  detail::Descriptor own;
  if (S_ISFIFO(file.st_mode) || S_ISCHR(file.st_mode)) {
    if (const PipeState state = state_of_standard_error(); state != PipeState::has_room) {
      return state == PipeState::closed;
    }
    // Another writer may take that room first. The descriptor itself must not become non-blocking,
    // as other programs share it; a newly opened one may.
    own = detail::Descriptor(open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    descriptor = own.get() >= 0 ? own.get() : STDERR_FILENO;
  }
  return ::write(descriptor, text.data(), text.size()) >= 0 || errno != EAGAIN;
}

void write_and_wait(std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {  // another program made it non-blocking
      pollfd room{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
      poll(&room, 1, -1);
    } else if (errno != EINTR) {
      return;
    }
  }
}

// "tessera[rank]: line" with a line end, in a buffer that is large enough for most lines.
fmt::memory_buffer printed(WorldRank rank, std::string_view line) {
  fmt::memory_buffer text;
  fmt::format_to(std::back_inserter(text), "tessera[{}]: {}\n", rank.value, line);
  return text;
}

// Limits the text to what a pipe takes whole or not at all.
void truncate(fmt::memory_buffer& text) {
  constexpr std::string_view end = "…\n";
  if (text.size() > PIPE_BUF) {
    text.resize(PIPE_BUF - end.size());
    text.append(end);
  }
}

}  // namespace

Log::Log(LogLevel level, WorldRank rank) : level_(level), rank_(rank) {}

Log::~Log() {
  write_dropped();
}

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

// False if there is no sink.
bool Log::give_to_sink(LogLevel level, std::string_view text) {
  const std::lock_guard guard(mutex_);
  if (sink_) {
    sink_(level, text);
  }
  return static_cast<bool>(sink_);
}

void Log::report(std::string_view text) {
  if (!give_to_sink(LogLevel::warning, text)) {
    write_and_wait(text);
  }
}

void Log::write(LogLevel level, std::string_view line) {
  if (!wants(level) || give_to_sink(level, line)) {
    return;
  }
  write_dropped();
  fmt::memory_buffer text = printed(rank_, line);
  if (level > LogLevel::warning) {
    write_and_wait({text.data(), text.size()});
    return;
  }
  truncate(text);
  if (dropped_.load() > 0 || !write_without_waiting({text.data(), text.size()})) {
    dropped_.fetch_add(1);
  }
}

void Log::write_dropped() noexcept {
  const std::uint64_t count = dropped_.exchange(0);
  if (count == 0) {
    return;
  }
  std::array<char, 128> text{};
  const int length =
      std::snprintf(text.data(), text.size(), "tessera[%d]: %llu %s dropped: %s\n", rank_.value,
                    static_cast<unsigned long long>(count), count == 1 ? "line was" : "lines were",
                    "standard error was full");
  if (!write_without_waiting({text.data(), static_cast<std::size_t>(length)})) {
    dropped_.fetch_add(count);
  }
}

}  // namespace tessera::rma
