// SPDX-License-Identifier: BSD-3-Clause
#include "tests/rma/armci/request_count.h"

#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <mutex>
#include <span>
#include <vector>

#include "rma/server/wire/wire.hpp"

namespace tessera::rma::server {
namespace {

// Counts the frames that pass through one socket. Other bytes, those of a handshake, are skipped.
class FrameCounter {
 public:
  template <class Action>
  void take(std::span<const std::byte> bytes, const Action& action) {
    while (!bytes.empty()) {
      if (to_skip_ > 0) {
        const std::size_t skipped = std::min<std::uint64_t>(to_skip_, bytes.size());
        to_skip_ -= skipped;
        bytes = bytes.subspan(skipped);
        continue;
      }
      const std::size_t taken = std::min(header_bytes - header_.size(), bytes.size());
      header_.insert(header_.end(), bytes.begin(), bytes.begin() + static_cast<long>(taken));
      bytes = bytes.subspan(taken);
      if (header_.size() == header_bytes) {
        if (const auto frame = decode(std::span<const std::byte, header_bytes>(header_));
            frame.ok()) {
          action(*frame);
          to_skip_ = frame->descriptor_bytes + frame->payload_bytes;
          header_.clear();
        } else {
          header_.erase(header_.begin());
        }
      }
    }
  }

 private:
  std::vector<std::byte> header_;
  std::uint64_t to_skip_ = 0;
};

class Counts {
 public:
  static Counts& all() {
    static Counts counts;
    return counts;
  }
  void forget() {
    const std::lock_guard guard(mutex_);
    sockets_.clear();
    requests_ = {};
    answers_ = 0;
    data_replies_ = 0;
    reads_ = 0;
    thread_ = gettid();
    is_counting_ = true;
  }
  // A caller that has the reply to a message finds the message counted.
  ssize_t send(int socket, const msghdr& message, int flags) {
    const std::lock_guard guard(mutex_);
    const ssize_t sent = syscall(SYS_sendmsg, socket, &message, flags);
    if (is_counting_ && sent > 0) {
      const int error = errno;
      record_sent(socket, message, static_cast<std::size_t>(sent));
      errno = error;
    }
    return sent;
  }
  void record_read() {
    const std::lock_guard guard(mutex_);
    reads_ += gettid() == thread_ ? 1 : 0;
  }
  Requests requests() {
    const std::lock_guard guard(mutex_);
    return requests_;
  }
  int answers() {
    const std::lock_guard guard(mutex_);
    return answers_;
  }
  int data_replies() {
    const std::lock_guard guard(mutex_);
    return data_replies_;
  }
  int reads() {
    const std::lock_guard guard(mutex_);
    return reads_;
  }

 private:
  void record_sent(int socket, const msghdr& message, std::size_t bytes) {
    for (const iovec& piece : std::span(message.msg_iov, message.msg_iovlen)) {
      const std::size_t here = std::min(bytes, piece.iov_len);
      sockets_[socket].take({static_cast<const std::byte*>(piece.iov_base), here},
                            [&](const FrameHeader& frame) { count(frame); });
      bytes -= here;
    }
  }
  void count(const FrameHeader& frame) {
    requests_.puts += frame.kind == Kind::put ? 1 : 0;
    requests_.gets += frame.kind == Kind::get ? 1 : 0;
    requests_.accumulates += frame.kind == Kind::accumulate ? 1 : 0;
    requests_.atomics += frame.kind == Kind::atomic ? 1 : 0;
    data_replies_ += frame.kind == Kind::data ? 1 : 0;
    answers_ += is_answer(frame.kind) && gettid() == thread_ ? 1 : 0;
  }

  std::mutex mutex_;
  std::map<int, FrameCounter> sockets_;
  Requests requests_{};
  int answers_ = 0;
  int data_replies_ = 0;
  int reads_ = 0;
  pid_t thread_ = 0;
  bool is_counting_ = false;
};

}  // namespace
}  // namespace tessera::rma::server

using tessera::rma::server::Counts;

extern "C" {

// Replaces the function of the C library.
ssize_t sendmsg(int socket, const msghdr* message, int flags) {
  return Counts::all().send(socket, *message, flags);
}
ssize_t recvmsg(int socket, msghdr* message, int flags) {
  Counts::all().record_read();
  return syscall(SYS_recvmsg, socket, message, flags);
}

void forget_requests(void) {
  Counts::all().forget();
}
Requests requests_sent(void) {
  return Counts::all().requests();
}
int answers_by_this_thread(void) {
  return Counts::all().answers();
}
int reads_by_this_thread(void) {
  return Counts::all().reads();
}
int data_replies(void) {
  return Counts::all().data_replies();
}

}  // extern "C"
