// SPDX-License-Identifier: BSD-3-Clause
//
// How the kernel's state of a connection shows that a machine is gone.
#include "rma/transport/tcp/response_monitor.hpp"

#include <gtest/gtest.h>

namespace tessera::rma::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds limit{15};
constexpr ResponseMonitor::TimePoint start{std::chrono::hours(10)};

// Checks once a second, beginning at second `from`; returns the second at which the machine was
// gone, or -1.
template <class SampleAt>
int gone_after(int from, int to, SampleAt&& sample_at) {
  ResponseMonitor monitor(limit);
  for (int second = from; second <= to; ++second) {
    if (monitor.is_gone(sample_at(second), start + seconds(second))) {
      return second;
    }
  }
  return -1;
}

// Packets come from the other machine all the time, but it acknowledges nothing: they get through
// in one direction only. The kernel here retransmits after 0.2, 0.6, 1.4 s and so on, last
// after 25.4 s.
TEST(AMachine, ThatSendsButReceivesNothingIsReportedGoneInTime) {
  const int gone = gone_after(0, 60, [](int second) {
    return ResponseMonitor::Report{
        .retransmits = static_cast<unsigned>(second == 0 ? 0 : 2 + second / 4),
        .acknowledged = 1000,
        .since_packet = milliseconds(100)};
  });
  EXPECT_GE(gone, 15);
  EXPECT_LE(gone, 17);
}

TEST(AMachine, ThatAcknowledgesSomethingOccasionallyIsPresent) {
  EXPECT_EQ(gone_after(0, 200,
                       [](int second) {
                         return ResponseMonitor::Report{
                             .retransmits = 4,
                             .acknowledged = static_cast<std::uint64_t>(second / 10),
                             .since_packet = seconds(9)};
                       }),
            -1);
}

// A program that does not wait checks its connections rarely.
TEST(AMachine, IsNotReportedGoneByALateCheck) {
  ResponseMonitor monitor(limit);
  EXPECT_FALSE(monitor.is_gone({.acknowledged = 5}, start));
  EXPECT_FALSE(monitor.is_gone({.retransmits = 3, .acknowledged = 5}, start + seconds(1000)));
  EXPECT_FALSE(monitor.is_gone({.retransmits = 5, .acknowledged = 5}, start + seconds(1014)));
  EXPECT_TRUE(monitor.is_gone({.retransmits = 6, .acknowledged = 5}, start + seconds(1015)));
}

// The machine's program is stopped and reads nothing; its kernel replies to each window probe.
TEST(AMachine, WithoutBufferSpaceIsPresentWhileItSaysSo) {
  const auto asked = [](milliseconds since) {
    return [since](int) {
      return ResponseMonitor::Report{.window_probes = 9, .acknowledged = 7, .since_packet = since};
    };
  };
  EXPECT_EQ(gone_after(0, 500, asked(seconds(14))), -1);
  EXPECT_EQ(gone_after(0, 500, asked(seconds(16))), 0);
}

}  // namespace
}  // namespace tessera::rma::server
