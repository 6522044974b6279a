// SPDX-License-Identifier: BSD-3-Clause
//
// When a machine counts as gone, by what the kernel says of a connection to it.
#include "rma/server/unanswered.hpp"

#include <gtest/gtest.h>

namespace tessera::rma::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds longest{15};
constexpr Unanswered::TimePoint start{std::chrono::hours(10)};

// Looks once a second from `from` on; the second at which the machine was gone, or −1.
template <class LookAt>
int gone_after(int from, int to, LookAt&& look_at) {
  Unanswered unanswered(longest);
  for (int second = from; second <= to; ++second) {
    if (unanswered.is_gone(look_at(second), start + seconds(second))) {
      return second;
    }
  }
  return -1;
}

// The other end sends all the time, and hears nothing: what it sends again comes at 0.2, 0.6, 1.4
// and so on, the last time at 25.4 s.
TEST(AMachine, ThatIsHeardAndHearsNothingIsGoneInTime) {
  const int gone = gone_after(0, 60, [](int second) {
    return Unanswered::Look{.sent_again = static_cast<unsigned>(second == 0 ? 0 : 2 + second / 4),
                            .acknowledged = 1000,
                            .since_packet = milliseconds(100)};
  });
  EXPECT_GE(gone, 15);
  EXPECT_LE(gone, 17);
}

TEST(AMachine, ThatAcknowledgesSomethingNowAndThenIsThere) {
  EXPECT_EQ(gone_after(0, 200,
                       [](int second) {
                         return Unanswered::Look{
                             .sent_again = 4,
                             .acknowledged = static_cast<std::uint64_t>(second / 10),
                             .since_packet = seconds(9)};
                       }),
            -1);
}

// A program that waits for nothing looks at its connections seldom.
TEST(AMachine, IsNotGoneByALookThatComesLate) {
  Unanswered unanswered(longest);
  EXPECT_FALSE(unanswered.is_gone({.acknowledged = 5}, start));
  EXPECT_FALSE(unanswered.is_gone({.sent_again = 3, .acknowledged = 5}, start + seconds(1000)));
  EXPECT_FALSE(unanswered.is_gone({.sent_again = 5, .acknowledged = 5}, start + seconds(1014)));
  EXPECT_TRUE(unanswered.is_gone({.sent_again = 6, .acknowledged = 5}, start + seconds(1015)));
}

// Its program is stopped and reads nothing, and its kernel says so whenever it is asked.
TEST(AMachine, WithoutRoomIsThereWhileItSaysSo) {
  const auto asked = [](milliseconds since) {
    return [since](int) {
      return Unanswered::Look{.asked_for_room = 9, .acknowledged = 7, .since_packet = since};
    };
  };
  EXPECT_EQ(gone_after(0, 500, asked(seconds(14))), -1);
  EXPECT_EQ(gone_after(0, 500, asked(seconds(16))), 0);
}

}  // namespace
}  // namespace tessera::rma::server
