// SPDX-License-Identifier: BSD-3-Clause
//
// The network of tests/support/datagram_provider.hpp: that it has no order, and that the library
// needs none.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <vector>

#include "rma/job.hpp"
#include "rma/notify.hpp"
#include "rma/progress/poller.hpp"
#include "rma/region.hpp"
#include "rma/server/transport.hpp"
#include "rma/transfer.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/datagram_context.hpp"
#include "tests/support/datagram_provider.hpp"

namespace tessera::rma {
namespace {

using test::DatagramConnection;
using test::DatagramContext;
using test::DatagramSocket;
using test::ok;

class Buffer final : public detail::ReachableMemory {
 public:
  [[nodiscard]] std::span<std::byte> bytes() const noexcept override {
    return std::as_writable_bytes(std::span(words_));
  }
  Status keep(std::span<std::byte>) override { return {}; }
  [[nodiscard]] std::uint64_t& first() const noexcept { return words_.front(); }

 private:
  mutable std::vector<std::uint64_t> words_ = std::vector<std::uint64_t>(64);
};

// Stands for the TCP stream beside a path.
class OpenStream final : public detail::Channel {
 public:
  // Above all descriptors of the process.
  explicit OpenStream(int number) noexcept : descriptor_((1 << 20) + number) {}
  Result<std::size_t> send(std::span<const iovec>) override { return std::size_t{0}; }
  Result<std::size_t> receive(std::span<const iovec>) override { return std::size_t{0}; }
  [[nodiscard]] Status check() const override { return {}; }
  [[nodiscard]] int descriptor() const noexcept override { return descriptor_; }
  [[nodiscard]] std::string peer() const override { return "the other end"; }

 private:
  int descriptor_;
};

// A connection between two contexts, whose memory is a buffer.
class Datagrams : public testing::Test {
 protected:
  void SetUp() override {
    for (std::size_t i = 0; i < 2; ++i) {
      contexts_[i] =
          std::make_unique<DatagramContext>(DatagramSocket::open(i + 1).value(), memory_, false);
      connections_[i] = contexts_[i]->open_connection().value();
    }
    for (std::size_t i = 0; i < 2; ++i) {
      ASSERT_TRUE(ok(connections_[i]->connect(connections_[1 - i]->address())));
      connections_[i]->watch(std::make_unique<OpenStream>(static_cast<int>(i)));
    }
  }
  [[nodiscard]] DatagramConnection& origin() {
    return static_cast<DatagramConnection&>(*connections_[0]);
  }
  void advance() {
    contexts_[0]->progress();
    contexts_[1]->progress();
  }
  void write(const std::uint64_t& value, Completion& done) {
    ASSERT_TRUE(origin()
                    .write(reinterpret_cast<std::uintptr_t>(&memory_->first()),
                           reinterpret_cast<const std::byte*>(&value), sizeof value, done)
                    .value());
  }
  void send(std::uint64_t value) {
    const iovec piece{&value, sizeof value};
    ASSERT_EQ(origin().send(std::span(&piece, 1)).value(), sizeof value);
  }
  [[nodiscard]] std::uint64_t next_message() {
    std::uint64_t value = 0;
    const iovec room{&value, sizeof value};
    while (connections_[1]->receive(std::span(&room, 1)).value() == 0) {
      advance();
    }
    return value;
  }

  static constexpr std::uint64_t rounds = 200;
  std::shared_ptr<Buffer> memory_ = std::make_shared<Buffer>();
  std::unique_ptr<DatagramContext> contexts_[2];
  std::unique_ptr<detail::RdmaConnection> connections_[2];
};

TEST_F(Datagrams, DeliverMessagesBeforeEarlierWrites) {
  EXPECT_FALSE(origin().has_ordered_writes());
  std::uint64_t overtaken = 0;
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    Completion done;
    write(round, done);
    send(round);
    EXPECT_EQ(next_message(), round);
    overtaken += memory_->first() < round ? 1U : 0U;
    while (!done.done()) {
      advance();
    }
    EXPECT_EQ(memory_->first(), round);
    EXPECT_TRUE(ok(done.take_error()));
  }
  EXPECT_GT(overtaken, rounds / 4);
}

TEST_F(Datagrams, KeepTheOrderOfMessages) {
  constexpr std::uint64_t burst = 8;
  for (std::uint64_t first = 0; first < rounds; first += burst) {
    for (std::uint64_t i = 0; i < burst; ++i) {
      send(first + i);
    }
    for (std::uint64_t i = 0; i < burst; ++i) {
      ASSERT_EQ(next_message(), first + i);
    }
    for (int polls = 0; polls < 10; ++polls) {
      advance();  // the origin has room for the next burst
    }
  }
}

TEST_F(Datagrams, AdvanceOnlyWhenPolled) {
  EXPECT_EQ(contexts_[1]->descriptor(), -1);
  Completion done;
  const std::uint64_t value = 5;
  write(value, done);
  EXPECT_FALSE(done.wait_for(std::chrono::milliseconds(50)));
  EXPECT_EQ(memory_->first(), 0U);
  EXPECT_TRUE(contexts_[0]->is_busy());
  while (!done.done()) {
    advance();
  }
  EXPECT_FALSE(contexts_[0]->is_busy());
}

TEST_F(Datagrams, AreRefusedOutsideTheMemory) {
  Completion done;
  std::uint64_t word = 0;
  ASSERT_TRUE(origin()
                  .read(reinterpret_cast<std::uintptr_t>(&word),
                        reinterpret_cast<std::byte*>(&word), sizeof word, done)
                  .value());
  while (!done.done()) {
    advance();
  }
  EXPECT_TRUE(test::fails(done.take_error(), Code::peer_lost, {"refused access"}));
}

TEST(Poller, PausesGrowWhileNothingComes) {
  using namespace std::chrono_literals;
  EXPECT_EQ(detail::Poller::polling_pause(0us), 50us);
  EXPECT_EQ(detail::Poller::polling_pause(800us), 100us);
  EXPECT_EQ(detail::Poller::polling_pause(1h), 1ms);
}

TEST(Poller, AcceptsWhatHasNoDescriptor) {
  using namespace std::chrono_literals;
  detail::Poller poller;
  ASSERT_TRUE(ok(poller.open("a queue")));
  EXPECT_TRUE(ok(poller.watch(-1, EPOLLIN)));
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_FALSE(poller.wait(300us));
  const auto passed = std::chrono::steady_clock::now() - begun;
  EXPECT_GE(passed, 300us);
  EXPECT_LT(passed, 10s);
}

// How often a flag came before the put that was started before it.
int early_flags(bool claims_order) {
  constexpr std::int32_t rounds = 300;
  constexpr std::size_t words = 4096;
  std::atomic<int> early{0};
  Settings settings;
  settings.transport = "shm,datagrams";
  settings.ranks_per_node = 1;
  settings.arena_mib = 64;
  settings.log = "silent";
  ThreadRunOptions how;
  how.settings = settings;
  how.transports = {server::factory("datagrams", [=](const detail::RdmaProviderContext& context) {
    return test::find_datagram_provider(context, {.seed = 3, .claims_order = claims_order});
  })};
  const auto body = [&](Job& job) -> Status {
    constexpr std::uint64_t flag_at = 8 * words;
    TESSERA_ASSIGN_OR_RETURN(Region region, Region::allocate(job.world(), flag_at + 8));
    for (std::int32_t round = 1; round <= rounds; ++round) {
      if (job.rank().value == 0) {
        const std::vector<std::int64_t> data(words, round);
        Handle put = put_async(job, region.at(TeamRank{1}), data.data(), 8 * words);
        TESSERA_RETURN_IF_ERROR(raise_flag(job, region.at(TeamRank{1}, flag_at), round));
        TESSERA_RETURN_IF_ERROR(put.wait());
      } else {
        TESSERA_RETURN_IF_ERROR(
            wait_for_flag(job, region.at(TeamRank{1}, flag_at), round, WorldRank{0}));
        std::vector<std::int64_t> seen(words);
        TESSERA_RETURN_IF_ERROR(get(job, region.at(TeamRank{1}), seen.data(), 8 * words));
        early += seen == std::vector<std::int64_t>(words, round) ? 0 : 1;
      }
      TESSERA_RETURN_IF_ERROR(job.world().barrier());
    }
    return {};
  };
  EXPECT_TRUE(ok(run_on_threads(2, body, how)));
  return early;
}

TEST(Datagram, FlagsFollowPutsWithoutAnOrderOfTheNetwork) {
  EXPECT_EQ(early_flags(false), 0);
}

// The test above can fail: this network does break the order.
TEST(Datagram, FlagsComeEarlyIfTheNetworkClaimsAnOrder) {
  EXPECT_GT(early_flags(true), 0);
}

}  // namespace
}  // namespace tessera::rma
