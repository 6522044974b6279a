// SPDX-License-Identifier: BSD-3-Clause
#include "rma/transport/tcp/tcp_times.hpp"

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <fstream>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "rma/base/timing.hpp"
#include "rma/kernels/copy.hpp"
#include "rma/shape.hpp"
#include "rma/tuning.hpp"

namespace tessera::rma::server {
namespace {

using Clock = std::chrono::steady_clock;
using detail::added;

constexpr double kib = 1024;
constexpr double never = std::numeric_limits<double>::max();
constexpr std::size_t short_bytes = 64;
constexpr std::size_t long_bytes = std::size_t{32} * 1024;
constexpr std::size_t pieces = 64;  // of short_bytes each
// Larger than a processor's own caches: data that come over a network or from another core are not
// cached either.
constexpr std::size_t far_bytes = std::size_t{2} * 1024 * 1024;

struct FrameTimes {
  double send = never;
  double receive = never;

  void keep_min(const FrameTimes& other) noexcept {
    send = std::min(send, other.send);
    receive = std::min(receive, other.receive);
  }
};

// Cycles through the parts of a large memory, so that each part was last used long ago.
class UncachedMemory {
 public:
  [[nodiscard]] std::byte* next(std::size_t bytes) noexcept {
    next_ = next_ + bytes > memory_.size() ? 0 : next_;
    return memory_.data() + std::exchange(next_, next_ + bytes);
  }

 private:
  std::vector<std::byte> memory_ = std::vector<std::byte>(far_bytes, std::byte{1});
  std::size_t next_ = 0;
};

std::vector<iovec> list_of(std::byte* memory, std::size_t count, std::size_t bytes_each) {
  std::vector<iovec> list;
  for (std::size_t i = 0; i < count; ++i) {
    list.push_back({memory + i * bytes_each, bytes_each});
  }
  return list;
}

// A connection of this process with itself.
class SelfConnection {
 public:
  static Result<SelfConnection> create() {
    TESSERA_ASSIGN_OR_RETURN(TcpListener listener, TcpListener::create({.host = INADDR_LOOPBACK}));
    TESSERA_ASSIGN_OR_RETURN(auto near, connect_tcp(listener.address(), std::chrono::seconds(1)));
    TESSERA_ASSIGN_OR_RETURN(auto far, listener.accept());
    if (far == nullptr) {
      return Status::error(Code::unreachable,
                           "a connection of this process with itself is too slow");
    }
    return SelfConnection(std::move(near), std::move(far));
  }

  /// The time that a frame of `count` pieces takes at each end, including building its list of
  /// pieces. If several frames are sent before the first is received, the average of one.
  Result<FrameTimes> time(std::size_t frames, std::size_t count, std::size_t bytes_each) {
    const std::size_t bytes = count * bytes_each;
    FrameTimes all{.send = 0, .receive = 0};
    for (std::size_t i = 0; i < frames; ++i) {
      std::byte* const from = memory_.next(bytes);
      const auto start = Clock::now();
      TESSERA_ASSIGN_OR_RETURN(const std::size_t sent,
                               near_->send(list_of(from, count, bytes_each)));
      all.send += detail::ns_since(start);
      if (sent < bytes) {
        return Status::error(Code::unreachable,
                             "a connection of this process with itself has no room");
      }
    }
    for (std::size_t left = frames * bytes; left > 0;) {
      std::byte* const to = memory_.next(bytes);
      const auto start = Clock::now();
      TESSERA_ASSIGN_OR_RETURN(const std::size_t come,
                               far_->receive(list_of(to, count, bytes_each)));
      all.receive += come > 0 ? detail::ns_since(start) : 0;
      left -= come;
    }
    const auto number = static_cast<double>(frames);
    return FrameTimes{.send = all.send / number, .receive = all.receive / number};
  }

  /// The time to pack a KiB from rows with gaps.
  double packed_kib() {
    constexpr std::size_t row = 256;
    const CopyShape shape = {
        .run_bytes = row, .levels = 1, .level = {CopyShape::Level{long_bytes / row, 2 * row, row}}};
    std::byte* const from = memory_.next(2 * long_bytes);
    const auto start = Clock::now();
    std::vector<std::byte> packed(long_bytes);
    kernels::copy_shape(from, packed.data(), shape, kernels::Direction::to_remote);
    return detail::ns_since(start) * kib / long_bytes;
  }

 private:
  SelfConnection(std::unique_ptr<Channel> near, std::unique_ptr<Channel> far) noexcept
      : near_(std::move(near)), far_(std::move(far)) {}

  UncachedMemory memory_;
  std::unique_ptr<Channel> near_;
  std::unique_ptr<Channel> far_;
};

struct Samples {
  FrameTimes word;
  FrameTimes whole;      // of as many bytes as `scattered`, in one piece
  FrameTimes scattered;  // in pieces
  FrameTimes large;
  double copied_kib = never;
};

TcpTimes times_of(const Samples& samples) {
  TcpTimes times;
  constexpr double large_kib = (long_bytes - short_bytes) / kib;
  times.send = samples.word.send;
  times.receive = samples.word.receive;
  times.sent_kib = added(samples.large.send, samples.word.send, large_kib);
  times.received_kib = added(samples.large.receive, samples.word.receive, large_kib);
  times.piece = added(samples.scattered.send + samples.scattered.receive,
                      samples.whole.send + samples.whole.receive, 2 * (pieces - 1));
  times.copied_kib = samples.copied_kib;
  return times;
}

struct Named {
  std::string_view name;
  double TcpTimes::*field;
};

constexpr std::array<Named, 7> fields{{{"send", &TcpTimes::send},
                                       {"receive", &TcpTimes::receive},
                                       {"piece", &TcpTimes::piece},
                                       {"sent", &TcpTimes::sent_kib},
                                       {"received", &TcpTimes::received_kib},
                                       {"copied", &TcpTimes::copied_kib},
                                       {"wire", &TcpTimes::wire_kib}}};

Status not_usable(std::string_view text, std::string_view entry) {
  return Status::error(
      Code::invalid_argument,
      fmt::format(
          "TESSERA_TUNE=tcp_times={} is not usable: '{}' is not a time: expected measured, fixed, "
          "or nanoseconds such as {}",
          text, entry, to_text(TcpTimes())));
}

}  // namespace

// Takes the minimum of several runs, because other processes on this processor slow some of them.
Result<TcpTimes> measure_tcp_times(std::chrono::nanoseconds longest) {
  constexpr int attempts = 8;
  constexpr int enough = 6;
  constexpr std::size_t large_frames = 8;
  const auto deadline = Clock::now() + longest;
  TESSERA_ASSIGN_OR_RETURN(SelfConnection mirror, SelfConnection::create());
  Samples least;
  int done = 0;
  for (; done < attempts && Clock::now() < deadline; ++done) {
    const auto take = [&](FrameTimes& spans, std::size_t frames, std::size_t count,
                          std::size_t bytes) -> Status {
      TESSERA_ASSIGN_OR_RETURN(const FrameTimes found, mirror.time(frames, count, bytes));
      spans.keep_min(found);
      return {};
    };
    TESSERA_RETURN_IF_ERROR(take(least.word, 1, 1, short_bytes));
    TESSERA_RETURN_IF_ERROR(take(least.whole, 1, 1, pieces * short_bytes));
    TESSERA_RETURN_IF_ERROR(take(least.scattered, 1, pieces, short_bytes));
    TESSERA_RETURN_IF_ERROR(take(least.large, large_frames, 1, long_bytes));
    least.copied_kib = std::min(least.copied_kib, mirror.packed_kib());
  }
  if (done < enough) {
    return Status::error(Code::timed_out, "this machine is too busy to measure the speed of TCP");
  }
  return times_of(least);
}

double wire_kib_of(TcpAddress address, const std::string& folder) {
  constexpr double mbit_ns = kib * 8 * 1e3;  // ns for a KiB at 1 Mbit/s
  double mbit = 0;
  std::ifstream file(fmt::format("{}/{}/speed", folder, interface_name(address)));
  return file >> mbit && mbit > 0 ? mbit_ns / mbit : 0;
}

std::string to_text(const TcpTimes& times) {
  std::string text;
  for (const Named& each : fields) {
    text += fmt::format("{}{}={:.0f}", text.empty() ? "" : ",", each.name, times.*each.field);
  }
  return text;
}

Result<TcpTimes> parse_tcp_times(std::string_view text) {
  TcpTimes times;
  for (const std::string_view entry : split_names(text)) {
    const std::size_t equals = std::min(entry.find('='), entry.size());
    const auto* const field = std::find_if(fields.begin(), fields.end(), [&](const Named& each) {
      return each.name == entry.substr(0, equals);
    });
    const std::string_view number = entry.substr(std::min(equals + 1, entry.size()));
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
    if (field == fields.end() || error != std::errc{} || end != number.data() + number.size() ||
        number.empty()) {
      return not_usable(text, entry);
    }
    times.*field->field = value;
  }
  return times;
}

}  // namespace tessera::rma::server
