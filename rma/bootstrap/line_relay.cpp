// SPDX-License-Identifier: BSD-3-Clause
#include "rma/bootstrap/line_relay.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

namespace tessera::rma::detail {
namespace {

// A line that is longer is passed on in pieces.
constexpr std::size_t longest_line_bytes = 1 << 20;

}  // namespace

void LineRelay::write_all(int to, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(to, text.data(), text.size());
    if (written < 0 && errno == EAGAIN) {
      pollfd room{.fd = to, .events = POLLOUT, .revents = 0};  // another made it non-blocking
      poll(&room, 1, -1);
    } else if (written < 0 && errno != EINTR) {
      lost_ = lost_ == 0 && to == STDOUT_FILENO && errno != EPIPE ? errno : lost_;
      return;  // the ranks go on
    }
    text.remove_prefix(written > 0 ? static_cast<std::size_t>(written) : 0);
  }
}

Result<LineRelay> LineRelay::create(std::int32_t ranks) {
  LineRelay relay;
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    for (const int to : {STDOUT_FILENO, STDERR_FILENO}) {
      if (isatty(to) != 0) {
        continue;
      }
      std::array<int, 2> ends{-1, -1};
      if (pipe2(ends.data(), O_CLOEXEC) != 0) {
        return Status::error(Code::limit_exceeded,
                             fmt::format("cannot collect the output of rank {}: {}", rank,
                                         std::strerror(errno)))
            .hint("raise the limit on open files (ulimit -n)");
      }
      fcntl(ends[0], F_SETFL, O_NONBLOCK);
      relay.streams_.push_back({rank, to, Descriptor(ends[0]), Descriptor(ends[1])});
    }
  }
  return relay;
}

void LineRelay::connect(std::int32_t rank) const noexcept {
  for (const Stream& each : streams_) {
    if (each.rank == rank) {
      dup2(each.writing.get(), each.to);
    }
  }
}

void LineRelay::started(std::int32_t rank) noexcept {
  for (Stream& each : streams_) {
    if (each.rank == rank) {
      each.writing = Descriptor();
    }
  }
}

void LineRelay::add_to(std::vector<pollfd>& list) const {
  for (const Stream& each : streams_) {
    if (each.reading.get() >= 0) {
      list.push_back({.fd = each.reading.get(), .events = POLLIN, .revents = 0});
    }
  }
}

// False when there is nothing more for now.
bool LineRelay::read_some(Stream& stream) {
  std::array<char, 65536> buffer;
  if (stream.reading.get() < 0) {
    return false;
  }
  const ssize_t got = read(stream.reading.get(), buffer.data(), buffer.size());
  if (got < 0) {
    return errno == EINTR;
  }
  if (got == 0) {
    stream.reading = Descriptor();
    return false;
  }
  stream.pending.append(buffer.data(), static_cast<std::size_t>(got));
  std::size_t whole = stream.pending.find_last_of('\n') + 1;  // 0 where there is none
  if (whole == 0 && stream.pending.size() >= longest_line_bytes) {
    whole = stream.pending.size();
  }
  write_all(stream.to, std::string_view(stream.pending).substr(0, whole));
  stream.pending.erase(0, whole);
  return true;
}

void LineRelay::relay() {
  for (Stream& each : streams_) {
    read_some(each);
  }
}

void LineRelay::finish() {
  for (Stream& each : streams_) {
    while (read_some(each)) {
    }
    write_all(each.to, std::exchange(each.pending, {}));
  }
}

}  // namespace tessera::rma::detail
