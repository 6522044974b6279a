// SPDX-License-Identifier: BSD-3-Clause
//
// Unanswered: whether the machine at the other end of a connection has stopped to answer, by what
// the kernel says of the connection at each look.
//
// A live machine acknowledges what is sent to it, whether its program reads or not: what was sent
// again and again without an acknowledgement, for longest_silence, goes nowhere. It counts nothing
// then that packets come from there: they may get through in one direction only. Where the other
// end has no room, nothing is sent but questions whether it has some now, up to 120 s apart, and a
// live machine answers each of them.
#pragma once

#include <chrono>
#include <cstdint>

namespace tessera::rma::server {

class Unanswered {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  /// What the kernel says, in part.
  struct Look {
    unsigned sent_again = 0;         ///< how often without an acknowledgement of anything new
    unsigned asked_for_room = 0;     ///< how often without an answer
    std::uint64_t acknowledged = 0;  ///< bytes so far
    std::chrono::milliseconds since_packet{0};  ///< since anything came from there
  };

  explicit Unanswered(std::chrono::milliseconds longest) noexcept : longest_(longest) {}

  /// To be asked every second or so. True when the machine is gone.
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
  bool was_sent_again_ = false;  // at the last look
  std::uint64_t acknowledged_ = 0;
  TimePoint since_{};  // when something was sent again first, without an acknowledgement since
};

}  // namespace tessera::rma::server
