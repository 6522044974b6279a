// SPDX-License-Identifier: BSD-3-Clause
//
// The two ranks' boxes are divided in z. So both neighbours of a rank are the other one, and its
// faces are whole planes, sent from and received into their final locations; all of an exchange
// takes one call. There are no headers, requests or replies: both ranks exchange in the same order.
// What one rank sends at the start of an exchange, the other receives at its end, or when it has no
// room to send.
#include "bench/apps/others.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "bench/baselines/tcp_baseline.hpp"
#include "bench/baselines/tcp_socket.hpp"

namespace tessera::bench {
namespace {

using apps::mg::Grid;
using arrays::Array;
using arrays::Distribution;
using arrays::Extents;
using arrays::HaloOptions;
using rma::Status;

/// Memory that is sent or received piece by piece.
class Pieces {
 public:
  void begin(std::span<const iovec> pieces) {
    pieces_.assign(pieces.begin(), pieces.end());
    next_ = 0;
  }
  [[nodiscard]] bool is_done() const { return next_ == pieces_.size(); }
  [[nodiscard]] std::span<const iovec> left() const { return std::span(pieces_).subspan(next_); }
  void drop(std::size_t bytes) {
    while (bytes > 0) {
      iovec& first = pieces_[next_];
      const std::size_t some = std::min(bytes, first.iov_len);
      first.iov_base = static_cast<std::byte*>(first.iov_base) + some;
      first.iov_len -= some;
      bytes -= some;
      next_ += first.iov_len == 0 ? 1 : 0;
    }
  }

 private:
  std::vector<iovec> pieces_;
  std::size_t next_ = 0;
};

/// Both directions at once, in the order in which exchanges start; one exchange at a time.
class FaceSocket {
 public:
  explicit FaceSocket(TcpSocket socket) : socket_(std::move(socket)) {}

  void start(std::span<const iovec> out, std::span<const iovec> in) {
    out_.begin(out);
    in_.begin(in);
    PollBackoff backoff;
    while (!out_.is_done()) {
      if (advance(out_, &TcpSocket::try_send) || advance(in_, &TcpSocket::try_receive)) {
        continue;
      }
      backoff.pause();
    }
  }
  void finish() {
    PollBackoff backoff;
    while (!in_.is_done()) {
      if (!advance(in_, &TcpSocket::try_receive)) {
        backoff.pause();
      }
    }
  }

 private:
  /// Whether any bytes were moved.
  bool advance(Pieces& pieces, std::size_t (TcpSocket::*move)(std::span<const iovec>)) {
    const std::size_t bytes = pieces.is_done() ? 0 : (socket_.*move)(pieces.left());
    pieces.drop(bytes);
    return bytes > 0;
  }

  TcpSocket socket_;
  Pieces out_;
  Pieces in_;
};

class SocketGhosts final : public apps::mg::GhostExchange {
 public:
  SocketGhosts(std::shared_ptr<FaceSocket> line, Array<double>& array) : line_(std::move(line)) {
    const Extents slice = array.distribution().local_extents(array.team().rank());
    const std::int64_t plane = slice[1] * slice[2];
    const std::int64_t width = array.distribution().ghosts()[0];
    auto* const first = reinterpret_cast<double*>(array.region().local());
    const auto planes = [&](std::int64_t at) {
      return iovec{first + at * plane, static_cast<std::size_t>(width * plane) * sizeof(double)};
    };
    // The other rank's low layers are this one's high ghost cells.
    out_ = {planes(width), planes(slice[0] - 2 * width)};
    in_ = {planes(slice[0] - width), planes(0)};
  }

  Status start() override {
    line_->start(out_, in_);
    return {};
  }
  Status finish() override {
    line_->finish();
    return {};
  }

 private:
  std::shared_ptr<FaceSocket> line_;
  std::array<iovec, 2> out_ = {};
  std::array<iovec, 2> in_ = {};
};

class SocketGathering final : public apps::mg::Gathering {
 public:
  SocketGathering(std::shared_ptr<FaceSocket> line, const Grid& whole, const apps::mg::Box& own,
                  const apps::mg::Box& others)
      : line_(std::move(line)),
        whole_(whole),
        own_(own),
        others_(others),
        mine_(static_cast<std::size_t>(own.points())),
        came_(static_cast<std::size_t>(others.points())) {}

  Status start() override {
    apps::mg::pack(whole_, own_, mine_.data());
    const iovec out{mine_.data(), mine_.size() * sizeof(double)};
    const iovec in{came_.data(), came_.size() * sizeof(double)};
    line_->start(std::span(&out, 1), std::span(&in, 1));
    return {};
  }
  Status finish() override {
    line_->finish();
    apps::mg::unpack(whole_, others_, came_.data());
    return {};
  }

 private:
  std::shared_ptr<FaceSocket> line_;
  Grid whole_;
  apps::mg::Box own_;
  apps::mg::Box others_;
  std::vector<double> mine_;
  std::vector<double> came_;
};

class SocketExchange final : public apps::mg::Exchange {
 public:
  explicit SocketExchange(TcpSocket socket)
      : line_(std::make_shared<FaceSocket>(std::move(socket))) {}

  // The right-hand side is exchanged once, untimed: no other code sets the ends of its rows.
  rma::Result<std::unique_ptr<apps::mg::GhostExchange>> plan(Array<double>& array,
                                                             const HaloOptions& options) override {
    if (options.left_out.none()) {
      return apps::mg::OneSidedExchange().plan(array, options);
    }
    return std::unique_ptr<apps::mg::GhostExchange>(std::make_unique<SocketGhosts>(line_, array));
  }
  rma::Result<std::unique_ptr<apps::mg::Gathering>> plan_gathering(const rma::Job& job,
                                                                   const Distribution& distribution,
                                                                   const Grid& whole) override {
    const std::int32_t own = job.rank().value;
    return std::unique_ptr<apps::mg::Gathering>(
        std::make_unique<SocketGathering>(line_, whole, apps::mg::box_of(distribution, own),
                                          apps::mg::box_of(distribution, 1 - own)));
  }

 private:
  std::shared_ptr<FaceSocket> line_;
};

}  // namespace

std::unique_ptr<apps::mg::Exchange> make_socket_exchange(RankGroup& group, std::string& missing) {
  if (group.size() != 2) {
    missing = "tcp: needs exactly two ranks";
    return nullptr;
  }
  auto socket = connect_ranks_0_and_1(group, false, missing);
  return socket ? std::make_unique<SocketExchange>(std::move(*socket)) : nullptr;
}

}  // namespace tessera::bench
