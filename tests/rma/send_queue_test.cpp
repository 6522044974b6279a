// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "rma/server/connection/send_queue.hpp"
#include "rma/transport/completion.hpp"
#include "tests/support/checks.hpp"

namespace tessera::rma::server {
namespace {

using test::fails;
using test::ok;
using When = SendQueue::When;

/// Accepts bytes up to its room, and keeps them.
class NarrowChannel final : public Channel {
 public:
  explicit NarrowChannel(std::size_t room) : room_(room) {}

  Result<std::size_t> send(std::span<const iovec> pieces) override {
    ++sends_;
    std::size_t taken = 0;
    for (const iovec& piece : pieces) {
      const std::size_t some = std::min(piece.iov_len, room_);
      sent_.append(static_cast<const char*>(piece.iov_base), some);
      room_ -= some;
      taken += some;
    }
    return taken;
  }
  Result<std::size_t> receive(std::span<const iovec>) override { return std::size_t{0}; }
  [[nodiscard]] Status check() const override { return {}; }
  [[nodiscard]] int descriptor() const noexcept override { return -1; }
  [[nodiscard]] std::string peer() const override { return "no peer"; }

  void make_room(std::size_t bytes) { room_ += bytes; }
  [[nodiscard]] const std::string& sent() const { return sent_; }
  [[nodiscard]] int sends() const { return sends_; }

 private:
  std::size_t room_;
  int sends_ = 0;
  std::string sent_;
};

/// A text as a frame's head or body.
struct Text {
  std::string text;
  [[nodiscard]] std::span<const std::byte> bytes() const { return std::as_bytes(std::span(text)); }
  [[nodiscard]] std::array<iovec, 1> piece() { return {iovec{text.data(), text.size()}}; }
};

/// The completion of a frame that is being sent.
struct Sent {
  Sent() { done.begin(); }
  Completion done;
};

Text long_text(char character) {
  return {std::string(5000, character)};
}

TEST(SendQueue, SendsAtOnceWhatThereIsRoomFor) {
  NarrowChannel channel(1'000'000);
  SendQueue queue(channel);
  Text body = long_text('b');
  Sent sent;
  EXPECT_TRUE(ok(queue.post(Text{"head"}.bytes(), body.piece(), &sent.done, When::now)));
  EXPECT_EQ(channel.sent(), "head" + body.text);
  EXPECT_TRUE(sent.done.done());
  EXPECT_FALSE(queue.is_held_up());
}

TEST(SendQueue, KeepsWhatThereIsNoRoomForAndSendsItInOrder) {
  NarrowChannel channel(1000);
  SendQueue queue(channel);
  Text first = long_text('1');
  Text second = long_text('2');
  Sent one;
  Sent two;
  EXPECT_TRUE(ok(queue.post(Text{"a"}.bytes(), first.piece(), &one.done)));
  EXPECT_TRUE(ok(queue.post(Text{"b"}.bytes(), second.piece(), &two.done)));
  EXPECT_EQ(channel.sent().size(), 1000U);
  EXPECT_TRUE(queue.is_held_up());
  channel.make_room(4001);
  EXPECT_TRUE(ok(queue.flush()));
  EXPECT_TRUE(one.done.done());
  EXPECT_FALSE(two.done.done());
  channel.make_room(1'000'000);
  EXPECT_TRUE(ok(queue.flush()));
  EXPECT_TRUE(two.done.done());
  EXPECT_EQ(channel.sent(), "a" + first.text + "b" + second.text);
}

// Long puts in the background: the progress thread copies them to the socket.
TEST(SendQueue, LeavesToFlushWhatMayGoLater) {
  NarrowChannel channel(1'000'000);
  SendQueue queue(channel);
  Text body = long_text('b');
  Sent sent;
  EXPECT_TRUE(ok(queue.post(Text{"head"}.bytes(), body.piece(), &sent.done, When::later)));
  EXPECT_EQ(channel.sent(), "") << "nothing is copied yet";
  EXPECT_TRUE(queue.is_held_up()) << "so that the progress thread is woken";
  EXPECT_FALSE(sent.done.done());
  EXPECT_TRUE(ok(queue.post(Text{"after"}.bytes(), {}, nullptr, When::now)));
  EXPECT_EQ(channel.sent(), "") << "frames stay in order";
  EXPECT_TRUE(ok(queue.flush()));
  EXPECT_EQ(channel.sent(), "head" + body.text + "after");
  EXPECT_TRUE(sent.done.done());
  EXPECT_TRUE(queue.is_empty());
}

TEST(SendQueue, SendsSmallFramesTogetherWhenTheyMayWait) {
  NarrowChannel channel(1'000'000);
  SendQueue queue(channel);
  EXPECT_TRUE(ok(queue.post(Text{"one "}.bytes(), {}, nullptr, When::soon)));
  EXPECT_TRUE(ok(queue.post(Text{"two "}.bytes(), {}, nullptr, When::soon)));
  EXPECT_EQ(channel.sent(), "");
  EXPECT_TRUE(ok(queue.post(Text{"three"}.bytes(), {}, nullptr, When::now)));
  EXPECT_EQ(channel.sent(), "one two three");
}

// A locally complete put and its fence, or a window of puts: a system call for each would take
// longer than copying them.
TEST(SendQueue, CopiesWhatMayWaitUntilItIsWorthACall) {
  NarrowChannel channel(1'000'000);
  SendQueue queue(channel);
  Text body{std::string(16 * 1024, 'b')};
  for (int frames = 0; frames < 3; ++frames) {
    Sent sent;
    EXPECT_TRUE(ok(queue.post(Text{"head"}.bytes(), body.piece(), &sent.done, When::soon)));
    EXPECT_TRUE(sent.done.done()) << "the memory is the caller's again";
  }
  EXPECT_EQ(channel.sends(), 0);
  EXPECT_TRUE(ok(queue.post(Text{"fence"}.bytes(), {}, nullptr, When::now)));
  EXPECT_EQ(channel.sends(), 1);
  std::string all;
  for (int frames = 0; frames < 3; ++frames) {
    all += "head" + body.text;
  }
  EXPECT_EQ(channel.sent(), all + "fence");
  for (int frames = 0; frames < 6; ++frames) {
    EXPECT_TRUE(ok(queue.post(Text{"head"}.bytes(), body.piece(), nullptr, When::soon)));
  }
  EXPECT_EQ(channel.sends(), 2) << "full";
  EXPECT_FALSE(queue.is_empty());
  EXPECT_FALSE(queue.is_held_up()) << "there is room";
  queue.release_unused();
  queue.release_unused();
  EXPECT_TRUE(ok(queue.flush()));
  EXPECT_EQ(channel.sent().size(), 3 * all.size() + 5);
}

TEST(SendQueue, SendsFromWhereItLiesWhatIsTooLongToCopy) {
  NarrowChannel channel(1'000'000);
  SendQueue queue(channel);
  Text body{std::string(17 * 1024, 'b')};
  EXPECT_TRUE(ok(queue.post(Text{"small "}.bytes(), {}, nullptr, When::soon)));
  EXPECT_TRUE(ok(queue.post(Text{"head"}.bytes(), body.piece(), nullptr, When::soon)));
  EXPECT_EQ(channel.sent(), "small head" + body.text);
  EXPECT_TRUE(queue.is_empty());
}

TEST(SendQueue, SendsWhatIsToGoTogetherWithOneCall) {
  NarrowChannel channel(1'000'000);
  SendQueue queue(channel);
  Text first = long_text('1');
  Text second = long_text('2');
  Sent one;
  Sent two;
  EXPECT_TRUE(ok(queue.post(Text{"small "}.bytes(), {}, nullptr, When::together)));
  EXPECT_TRUE(ok(queue.post(Text{"a"}.bytes(), first.piece(), &one.done, When::together)));
  EXPECT_TRUE(ok(queue.post(Text{"b"}.bytes(), second.piece(), &two.done, When::together)));
  Completion sent;
  sent.begin();
  Text seven{"7"};
  const std::string flag = "flag ";
  EXPECT_TRUE(ok(queue.append({.head = std::as_bytes(std::span(flag)),
                               .body = seven.piece(),
                               .sent = &sent,
                               .is_body_copied = true},
                              When::together)));
  EXPECT_TRUE(sent.done());
  EXPECT_TRUE(
      ok(queue.post(Text{"c"}.bytes(), std::vector<std::byte>(1, std::byte{'d'}), When::together)));
  EXPECT_EQ(channel.sends(), 0);
  EXPECT_FALSE(one.done.done());
  EXPECT_FALSE(queue.has_deferred());
  EXPECT_TRUE(ok(queue.flush()));
  EXPECT_EQ(channel.sent(), "small a" + first.text + "b" + second.text + "flag 7cd");
  EXPECT_EQ(channel.sends(), 1);
  EXPECT_TRUE(one.done.done());
  EXPECT_TRUE(two.done.done());
  EXPECT_TRUE(queue.is_empty());
  EXPECT_EQ(queue.kept_bytes(), 0U);
  EXPECT_EQ(queue.own_bytes(), 0U);
}

TEST(SendQueue, SendsSmallFramesThatGoTogetherAsOne) {
  NarrowChannel channel(1'000'000);
  SendQueue queue(channel);
  EXPECT_TRUE(ok(queue.post(Text{"one "}.bytes(), {}, nullptr, When::together)));
  EXPECT_TRUE(ok(queue.post(Text{"two"}.bytes(), {}, nullptr, When::together)));
  EXPECT_EQ(channel.sends(), 0);
  EXPECT_TRUE(ok(queue.flush()));
  EXPECT_EQ(channel.sent(), "one two");
  EXPECT_EQ(channel.sends(), 1);
}

// Wherever the channel becomes full, frames continue there and complete one by one.
TEST(SendQueue, GoesOnWithinAnyOfThoseThatGoTogether) {
  for (const std::size_t room : {1U, 5000U, 5001U, 5002U, 9000U, 10001U, 10002U}) {
    NarrowChannel channel(room);
    SendQueue queue(channel);
    Text first = long_text('1');
    Text second = long_text('2');
    Sent one;
    Sent two;
    EXPECT_TRUE(ok(queue.post(Text{"a"}.bytes(), first.piece(), &one.done, When::together)));
    EXPECT_TRUE(ok(queue.post(Text{"b"}.bytes(), second.piece(), &two.done, When::together)));
    EXPECT_TRUE(ok(queue.flush()));
    EXPECT_EQ(channel.sent().size(), std::min<std::size_t>(room, 10002));
    EXPECT_EQ(one.done.done(), room >= 5001) << room;
    EXPECT_EQ(two.done.done(), room >= 10002) << room;
    EXPECT_EQ(queue.kept_bytes(), 10002 - channel.sent().size());
    channel.make_room(1'000'000);
    EXPECT_TRUE(ok(queue.flush()));
    EXPECT_EQ(channel.sent(), "a" + first.text + "b" + second.text);
    EXPECT_TRUE(two.done.done());
  }
}

TEST(SendQueue, TellsWhenSomebodyElseIsToSend) {
  NarrowChannel channel(1000);
  SendQueue queue(channel);
  Text body = long_text('b');
  Sent sent;
  EXPECT_TRUE(ok(queue.post(Text{"head"}.bytes(), body.piece(), &sent.done, When::later)));
  EXPECT_TRUE(ok(queue.post(Text{"flag"}.bytes(), {}, nullptr, When::together)));
  EXPECT_TRUE(queue.has_deferred());
  EXPECT_TRUE(ok(queue.flush()));
  EXPECT_TRUE(queue.has_deferred());
  channel.make_room(1'000'000);
  EXPECT_TRUE(ok(queue.flush()));
  EXPECT_FALSE(queue.has_deferred());
  EXPECT_EQ(channel.sent(), "head" + body.text + "flag");
}

TEST(SendQueue, TellsThoseWhoWaitWhenTheyWaitInVain) {
  NarrowChannel channel(0);
  SendQueue queue(channel);
  Text body = long_text('b');
  Sent sent;
  EXPECT_TRUE(ok(queue.post(Text{"head"}.bytes(), body.piece(), &sent.done)));
  queue.fail(Status::error(Code::peer_lost, "it is gone"));
  EXPECT_TRUE(sent.done.done());
  EXPECT_TRUE(fails(sent.done.take_error(), Code::peer_lost, {"it is gone"}));
  EXPECT_TRUE(queue.is_empty());
}

}  // namespace
}  // namespace tessera::rma::server
