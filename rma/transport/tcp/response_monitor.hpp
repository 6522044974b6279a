// SPDX-License-Identifier: BSD-3-Clause
//
// ResponseMonitor: decides whether the machine at the other end of a connection has stopped
// responding, from what the kernel reports about the connection at each check.
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

class ResponseMonitor {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  /// The kernel's report, as far as it is used.
  struct Report {
    unsigned retransmits = 0;        ///< retransmissions without an acknowledgement of anything new
    unsigned window_probes = 0;      ///< window probes without a reply
    std::uint64_t acknowledged = 0;  ///< bytes so far
    std::chrono::milliseconds since_packet{0};  ///< since anything last came from there
  };

  explicit ResponseMonitor(std::chrono::milliseconds longest) noexcept : longest_(longest) {}

  /// To be called about once a second. True if the machine is gone.
  [[nodiscard]] bool is_gone(const Report& report, TimePoint now) noexcept {
    constexpr unsigned often = 3;
    const bool is_sent_again = report.retransmits > 0;
    if (!is_sent_again || !was_retransmitted_ || acknowledged_ != report.acknowledged) {
      acknowledged_ = report.acknowledged;
      since_ = now;
    }
    was_retransmitted_ = is_sent_again;
    const bool is_unheard = report.retransmits >= often && now - since_ >= longest_;
    return is_unheard || (report.window_probes >= often && report.since_packet > longest_);
  }

 private:
  std::chrono::milliseconds longest_;
  bool was_retransmitted_ = false;  // at the last check
  std::uint64_t acknowledged_ = 0;
  TimePoint since_{};  // when the unacknowledged bytes were first retransmitted
};

}  // namespace tessera::rma::server
