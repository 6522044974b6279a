// SPDX-License-Identifier: BSD-3-Clause
//
// Unanswered: decides whether the machine at the other end of a connection has stopped responding,
// from what the kernel reports about the connection at each check.
//
// A live machine acknowledges what is sent to it, even if its program does not read. Bytes that
// were retransmitted for longest_silence without an acknowledgement do not arrive. Packets coming
// from there do not count then, because they may get through in one direction only. If the other
// end has no room, the kernel sends only window probes, up to 120 s apart, and a live machine
// answers each of them.
#pragma once

#include <chrono>
#include <cstdint>

namespace tessera::rma::server {

class Unanswered {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  /// The kernel's report, as far as it is used.
  struct Look {
    unsigned sent_again = 0;         ///< retransmissions without an acknowledgement of anything new
    unsigned asked_for_room = 0;     ///< window probes without a reply
    std::uint64_t acknowledged = 0;  ///< bytes so far
    std::chrono::milliseconds since_packet{0};  ///< since anything last came from there
  };

  explicit Unanswered(std::chrono::milliseconds longest) noexcept : longest_(longest) {}

  /// To be called about once a second. True if the machine is gone.
  [[nodiscard]] bool is_gone(const Look& look, TimePoint now) noexcept {
    constexpr unsigned often = 3;
    const bool is_sent_again = look.sent_again > 0;
    if (!is_sent_again || !was_sent_again_ || acknowledged_ != look.acknowledged) {
      acknowledged_ = look.acknowledged;
      since_ = now;
    }
    was_sent_again_ = is_sent_again;
    const bool is_unheard = look.sent_again >= often && now - since_ >= longest_;
    return is_unheard || (look.asked_for_room >= often && look.since_packet > longest_);
  }

 private:
  std::chrono::milliseconds longest_;
  bool was_sent_again_ = false;  // at the last check
  std::uint64_t acknowledged_ = 0;
  TimePoint since_{};  // when the unacknowledged bytes were first retransmitted
};

}  // namespace tessera::rma::server
