// SPDX-License-Identifier: BSD-3-Clause
#include "rma/bootstrap/line_relay.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <string_view>

#include "rma/base/memory.hpp"

namespace tessera::rma::detail {
namespace {

// Longer lines are forwarded in pieces.
constexpr std::size_t max_line_bytes = 1 << 20;

// Reading stops while this much waits for room.
constexpr std::size_t max_waiting_bytes = 1 << 16;

bool is_same_file(int one, int other) {
  struct stat first {};
  struct stat second {};
  return fstat(one, &first) == 0 && fstat(other, &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

// True if a write of up to PIPE_BUF bytes returns at once, possibly with an error.
bool can_write(int descriptor) {
  pollfd room{.fd = descriptor, .events = POLLOUT, .revents = 0};
  return poll(&room, 1, 0) > 0;
}

}  // namespace

// Writes as much as is possible without waiting. The descriptor itself must not become
// non-blocking, as other programs share it.
void LineRelay::write_some(Output& output) {
  std::size_t done = 0;
  while (done < output.waiting.size() && can_write(output.to)) {
    const std::size_t step = std::min<std::size_t>(output.waiting.size() - done, PIPE_BUF);
    const ssize_t written = write(output.to, output.waiting.data() + done, step);
    if (written >= 0) {
      done += static_cast<std::size_t>(written);
    } else if (errno == EAGAIN) {
      break;  // another program made it non-blocking
    } else if (errno != EINTR) {
      lost_ = lost_ == 0 && output.to == STDOUT_FILENO && errno != EPIPE ? errno : lost_;
      done = output.waiting.size();  // the ranks continue
    }
  }
  output.waiting.erase(0, done);
}

// Standard error may go to the same file as standard output; lines of both stay whole.
std::size_t LineRelay::output_to(int descriptor) {
  const auto found = std::find_if(outputs_.begin(), outputs_.end(), [&](const Output& each) {
    return each.to == descriptor || is_same_file(each.to, descriptor);
  });
  const auto index = static_cast<std::size_t>(found - outputs_.begin());
  if (found == outputs_.end()) {
    outputs_.push_back({.to = descriptor});
  }
  return index;
}

Result<LineRelay> LineRelay::create(std::int32_t ranks, bool is_tagged) {
  LineRelay relay;
  relay.is_tagged_ = is_tagged;
  std::vector<int> relayed;
  for (const int to : {STDOUT_FILENO, STDERR_FILENO}) {
    if (is_tagged || isatty(to) == 0) {
      relayed.push_back(to);
    }
  }
  const std::uint64_t needed = 2 * relayed.size() * static_cast<std::uint64_t>(ranks);
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) == 0 && needed > files.rlim_cur) {
    return Status::error(Code::limit_exceeded,
                         fmt::format("cannot collect the output of {} ranks: that takes {} open "
                                     "files, and this process may have {} (ulimit -n)",
                                     ranks, needed, files.rlim_cur))
        .hint("raise the limit on open files (ulimit -n)");
  }
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    for (const int to : relayed) {
      std::array<int, 2> ends{-1, -1};
      if (pipe2(ends.data(), O_CLOEXEC) != 0) {
        const int error = errno;
        return Status::error(Code::limit_exceeded,
                             fmt::format("cannot collect the output of rank {} of {}: {}", rank,
                                         ranks, describe_system_error(error)))
            .hint(remedy_for_system_error(error));
      }
      fcntl(ends[0], F_SETFL, O_NONBLOCK);
      relay.streams_.push_back(
          {rank, to, relay.output_to(to), Descriptor(ends[0]), Descriptor(ends[1])});
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
    if (each.reading.get() >= 0 && has_room(each)) {
      list.push_back({.fd = each.reading.get(), .events = POLLIN, .revents = 0});
    }
  }
  for (const Output& each : outputs_) {
    if (!each.waiting.empty()) {
      list.push_back({.fd = each.to, .events = POLLOUT, .revents = 0});
    }
  }
}

bool LineRelay::has_room(const Stream& stream) const {
  return outputs_[stream.output].waiting.size() < max_waiting_bytes;
}

// False if there is nothing more for now.
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
  std::size_t whole = stream.pending.find_last_of('\n') + 1;  // 0: no whole line
  if (whole == 0 && stream.pending.size() >= max_line_bytes) {
    whole = stream.pending.size();
  }
  pass_on(stream, whole);
  return true;
}

// Forwards `bytes` of the pending text: whole lines, or a piece of a long one.
void LineRelay::pass_on(Stream& stream, std::size_t bytes) {
  Output& output = outputs_[stream.output];
  std::string_view text = std::string_view(stream.pending).substr(0, bytes);
  while (is_tagged_ && !text.empty()) {
    if (!stream.is_in_line) {
      output.waiting += fmt::format("[{}] ", stream.rank);
    }
    const std::string_view line = text.substr(0, text.find('\n') + 1);  // everything if there is no
                                                                        // line end
    const std::string_view piece = line.empty() ? text : line;
    output.waiting += piece;
    stream.is_in_line = !piece.ends_with('\n');
    text.remove_prefix(piece.size());
  }
  output.waiting += text;
  stream.pending.erase(0, bytes);
  write_some(output);
}

void LineRelay::relay() {
  for (Output& each : outputs_) {
    write_some(each);
  }
  const std::size_t count = streams_.size();
  std::size_t passed_over = count;
  for (std::size_t i = 0; i < count; ++i) {
    Stream& each = streams_[(first_ + i) % count];
    if (has_room(each)) {
      read_some(each);
    } else {
      passed_over = std::min(passed_over, i);
    }
  }
  first_ = passed_over < count ? (first_ + passed_over) % count : first_;
}

bool LineRelay::finish() {
  for (Output& each : outputs_) {
    write_some(each);
  }
  for (Stream& each : streams_) {
    while (has_room(each) && read_some(each)) {
    }
    if (has_room(each)) {
      each.reading = Descriptor();
      if (is_tagged_ && (each.is_in_line || !each.pending.empty())) {
        each.pending += '\n';  // another rank's tag follows
      }
      pass_on(each, each.pending.size());
    }
  }
  return std::all_of(outputs_.begin(), outputs_.end(),
                     [](const Output& each) { return each.waiting.empty(); });
}

void LineRelay::give_up() {
  for (Output& each : outputs_) {
    const bool is_lost = each.to == STDOUT_FILENO && !each.waiting.empty();
    lost_ = lost_ == 0 && is_lost ? EINTR : lost_;
    each.waiting.clear();
  }
}

}  // namespace tessera::rma::detail
