// SPDX-License-Identifier: BSD-3-Clause
//
// Relay: stands between a client and an agent. It passes bytes on, resets connections as a
// middlebox does, or plays another program that listens at the agent's port.
#pragma once

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "rma/server/wire/handshake.hpp"
#include "rma/transport/tcp/tcp.hpp"

namespace tessera::rma::server {

class Relay {
 public:
  /// How the relay handles connections from now on.
  enum class Way { passes_on, is_silent, closes, other_protocol };

  explicit Relay(TcpAddress to) : to_(to), thread_([this] { work(); }) {}
  ~Relay() {
    is_ending_ = true;
    thread_.join();
  }
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  [[nodiscard]] TcpAddress address() const { return address_; }
  void set(Way way) { way_ = way; }
  /// Resets the next `count` connections after the client has sent more than a handshake.
  void reset_next(int count) { resets_ = count; }
  /// Passes nothing on until go_on(), as if the agent's process was stopped.
  void stop() { is_stopped_ = true; }
  void go_on() { is_stopped_ = false; }
  /// Resets all connections, at both ends.
  void reset_all() {
    const std::lock_guard guard(mutex_);
    for (Pair& each : pairs_) {
      abort(each.first);
      abort(each.second);
    }
    pairs_.clear();
  }
  /// Closes the relay's port.
  void stop_listening() {
    const std::lock_guard guard(mutex_);
    listener_.reset();
  }
  [[nodiscard]] int accepted() const { return accepted_; }

 private:
  using End = std::unique_ptr<Channel>;
  struct Pair {
    End first;
    End second;
    std::size_t sent_bytes = 0;  // bytes that the client has sent
  };

  static void abort(End& end) {
    const linger none{.l_onoff = 1, .l_linger = 0};
    setsockopt(end->descriptor(), SOL_SOCKET, SO_LINGER, &none, sizeof none);
    end.reset();
  }
  void work() {
    while (!is_ending_) {
      bool is_busy = false;
      {
        const std::lock_guard guard(mutex_);
        is_busy = accept_one();
        for (Pair& each : pairs_) {
          if (is_stopped_) {
            break;
          }
          is_busy = (each.second != nullptr && move_both_ways(each)) || is_busy;
        }
        std::erase_if(pairs_, [](const Pair& each) { return each.first == nullptr; });
      }
      if (!is_busy) {
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      }
    }
  }
  bool accept_one() {
    End caller = listener_ ? listener_->accept().value() : End();
    if (caller == nullptr) {
      return false;
    }
    ++accepted_;
    if (way_ == Way::passes_on) {
      pairs_.push_back({.first = std::move(caller),
                        .second = connect_tcp(to_, std::chrono::seconds(10)).value()});
    } else if (way_ != Way::closes) {
      constexpr std::string_view banner = "SSH-2.0-OpenSSH_9.2\r\n";
      if (way_ == Way::other_protocol) {
        send_all(*caller, std::as_bytes(std::span(banner)));
      }
      refused_.push_back(std::move(caller));
    }
    return true;
  }
  bool move_both_ways(Pair& pair) {
    const std::size_t went = move(*pair.first, *pair.second);
    pair.sent_bytes += went;
    if (resets_ > 0 && pair.sent_bytes > hello_bytes + answer_bytes) {
      --resets_;
      abort(pair.first);
      abort(pair.second);
      return true;
    }
    return move(*pair.second, *pair.first) + went > 0;
  }
  static std::size_t move(Channel& from, Channel& to) {
    std::array<std::byte, 65536> bytes;
    const iovec room{bytes.data(), bytes.size()};
    const auto came = from.receive(std::span(&room, 1));
    if (!came.ok()) {
      shutdown(to.descriptor(), SHUT_WR);
      return 0;
    }
    send_all(to, std::span<const std::byte>(bytes).first(*came));
    return *came;
  }
  static void send_all(Channel& to, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const iovec piece{const_cast<std::byte*>(bytes.data()), bytes.size()};
      const auto sent = to.send(std::span(&piece, 1));
      if (!sent.ok()) {
        return;
      }
      bytes = bytes.subspan(*sent);
      if (!bytes.empty()) {
        pollfd waiting{.fd = to.descriptor(), .events = POLLOUT, .revents = 0};
        poll(&waiting, 1, 100);
      }
    }
  }

  TcpAddress to_;
  std::optional<TcpListener> listener_ = TcpListener::create({0x7f00'0001, 0}).value();
  TcpAddress address_ = listener_->address();
  std::atomic<Way> way_{Way::passes_on};
  std::atomic<int> resets_{0};
  std::atomic<bool> is_stopped_{false};
  std::atomic<bool> is_ending_{false};
  std::atomic<int> accepted_{0};
  std::mutex mutex_;
  std::vector<Pair> pairs_;
  std::vector<End> refused_;
  std::thread thread_;
};

}  // namespace tessera::rma::server
