// SPDX-License-Identifier: BSD-3-Clause
//
// Messages that are sent without waiting, and questions for messages that have arrived.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <optional>
#include <thread>
#include <vector>

#include "rma/armci/mailbox.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/effort.hpp"
#include "tests/support/fake_verbs_transport.hpp"
#include "tests/support/rank_main.hpp"
#include "tests/support/shared_seed.hpp"
#include "tests/support/toy_transport.hpp"

namespace tessera::rma::armci {
namespace {

using rma::test::fails;
using rma::test::ok;
using rma::test::random_in;

constexpr std::size_t long_bytes = 700'001;

std::vector<std::byte> numbered_bytes(std::uint32_t number, std::size_t bytes) {
  std::vector<std::byte> result(bytes);
  std::uint32_t state = number * 2'246'822'519U + 7U;
  for (std::byte& each : result) {
    state = state * 1'664'525U + 1'013'904'223U;
    each = static_cast<std::byte>(state >> 24U);
  }
  return result;
}

void on_mailbox(const std::function<void(Job&, Mailbox&)>& body) {
  rma::test::on_ranks([&](Job& job) {
    Mailbox mailbox = Mailbox::create(job).value();
    body(job, mailbox);
    EXPECT_TRUE(ok(mailbox.free()));
  });
}

WorldRank rank_after(const Job& job, std::int32_t distance) {
  return {(job.rank().value + distance + job.size()) % job.size()};
}

void expect_numbered(Mailbox& mailbox, std::int32_t tag, WorldRank from, std::uint32_t number,
                     std::size_t bytes) {
  std::vector<std::byte> buffer(bytes + 1);
  const Result<Received> received = mailbox.receive(tag, buffer, from);
  ASSERT_TRUE(ok(received));
  ASSERT_EQ(received->bytes, bytes);
  buffer.resize(bytes);
  EXPECT_TRUE(buffer == numbered_bytes(number, bytes));
}

TEST(MailboxAsync, AllSendLongMessagesFirst) {
  on_mailbox([](Job& job, Mailbox& mailbox) {
    const auto first = numbered_bytes(1, long_bytes);
    const auto second = numbered_bytes(2, 3 * long_bytes);
    ASSERT_TRUE(ok(mailbox.send_async(1, first, rank_after(job, 1))));
    ASSERT_TRUE(ok(mailbox.send_async(1, second, rank_after(job, 1))));
    expect_numbered(mailbox, 1, rank_after(job, -1), 1, first.size());
    expect_numbered(mailbox, 1, rank_after(job, -1), 2, second.size());
    EXPECT_TRUE(ok(mailbox.wait_all_sent()));
  });
}

TEST(MailboxAsync, MessagesToOneRankKeepTheirOrder) {
  on_mailbox([](Job& job, Mailbox& mailbox) {
    const std::vector<std::size_t> sizes{10, long_bytes, 0, 4096, 4097, 20, long_bytes, 7};
    std::vector<std::vector<std::byte>> messages;
    for (std::uint32_t i = 0; i < sizes.size(); ++i) {
      messages.push_back(numbered_bytes(i, sizes[i]));
    }
    for (const auto& message : messages) {
      ASSERT_TRUE(ok(mailbox.send_async(3, message, rank_after(job, 1))));
    }
    for (std::uint32_t i = 0; i < sizes.size(); ++i) {
      expect_numbered(mailbox, 3, rank_after(job, -1), i, sizes[i]);
    }
    EXPECT_TRUE(ok(mailbox.wait_sent(rank_after(job, 1))));
  });
}

// A long message that its receiver does not yet want stops no message to another rank.
TEST(MailboxAsync, OtherRanksAreServedMeanwhile) {
  on_mailbox([](Job& job, Mailbox& mailbox) {
    if (job.size() < 3) {
      return;
    }
    const WorldRank last{job.size() - 1};
    const auto message = numbered_bytes(1, long_bytes);
    if (job.rank().value == 0) {
      ASSERT_TRUE(ok(mailbox.send_async(1, message, WorldRank{1})));
      for (std::uint32_t i = 0; i < 200; ++i) {
        ASSERT_TRUE(ok(mailbox.send(2, numbered_bytes(i, 100), last)));
      }
      EXPECT_TRUE(ok(mailbox.wait_sent(WorldRank{1})));
    } else if (job.rank() == last) {
      for (std::uint32_t i = 0; i < 200; ++i) {
        expect_numbered(mailbox, 2, WorldRank{0}, i, 100);
      }
      ASSERT_TRUE(ok(mailbox.send(3, {}, WorldRank{1})));
    } else if (job.rank().value == 1) {
      expect_numbered(mailbox, 3, last, 0, 0);
      expect_numbered(mailbox, 1, WorldRank{0}, 1, long_bytes);
    }
  });
}

// A send that waits goes after messages that were sent before without waiting.
TEST(MailboxAsync, ASendThatWaitsDoesNotOvertake) {
  on_mailbox([](Job& job, Mailbox& mailbox) {
    const auto message = numbered_bytes(1, long_bytes);
    if (job.rank().value == 0 && job.size() > 1) {
      ASSERT_TRUE(ok(mailbox.send_async(1, message, WorldRank{1})));
      ASSERT_TRUE(ok(mailbox.send(1, numbered_bytes(2, 5), WorldRank{1})));
      ASSERT_TRUE(ok(mailbox.send(1, numbered_bytes(3, long_bytes), WorldRank{1})));
    } else if (job.rank().value == 1) {
      expect_numbered(mailbox, 1, WorldRank{0}, 1, long_bytes);
      expect_numbered(mailbox, 1, WorldRank{0}, 2, 5);
      expect_numbered(mailbox, 1, WorldRank{0}, 3, long_bytes);
    }
  });
}

TEST(MailboxAsync, MoreMessagesThanSlots) {
  on_mailbox([](Job& job, Mailbox& mailbox) {
    constexpr std::uint32_t messages = 5 * max_short_messages;
    std::vector<std::vector<std::byte>> all;
    for (std::uint32_t i = 0; i < messages; ++i) {
      all.push_back(numbered_bytes(i, i % 300));
    }
    for (const auto& message : all) {
      ASSERT_TRUE(ok(mailbox.send_async(4, message, rank_after(job, 1))));
    }
    ASSERT_TRUE(ok(mailbox.wait_all_sent()));
    for (std::uint32_t i = 0; i < messages; ++i) {
      expect_numbered(mailbox, 4, rank_after(job, -1), i, i % 300);
    }
  });
}

Received wait_for_probe(const std::function<Result<std::optional<Received>>()>& probe) {
  while (true) {
    const auto found = probe();
    if (!ok(found)) {
      return {};
    }
    if (found->has_value()) {
      return **found;
    }
    std::this_thread::yield();
  }
}

TEST(MailboxAsync, AProbeFindsWhatHasArrived) {
  on_mailbox([](Job& job, Mailbox& mailbox) {
    const WorldRank before = rank_after(job, -1);
    EXPECT_FALSE(mailbox.probe(5, before).value().has_value());
    EXPECT_FALSE(mailbox.probe_any(5).value().has_value());
    ASSERT_TRUE(ok(job.barrier()));
    const auto message = numbered_bytes(2, long_bytes);
    ASSERT_TRUE(ok(mailbox.send(5, numbered_bytes(1, 77), rank_after(job, 1))));
    ASSERT_TRUE(ok(mailbox.send_async(6, message, rank_after(job, 1))));
    const Received small = wait_for_probe([&] { return mailbox.probe(5, before); });
    EXPECT_EQ(small.bytes, 77U);
    EXPECT_EQ(small.from, before);
    const Received large = wait_for_probe([&] { return mailbox.probe_any(6); });
    EXPECT_EQ(large.bytes, long_bytes);
    EXPECT_EQ(large.from, before);
    EXPECT_FALSE(mailbox.probe_any(7).value().has_value());
    if (job.size() > 1) {
      EXPECT_FALSE(mailbox.probe(5, job.rank()).value().has_value());
    }
    expect_numbered(mailbox, 6, before, 2, long_bytes);
    expect_numbered(mailbox, 5, before, 1, 77);
    EXPECT_FALSE(mailbox.probe_any(5).value().has_value());
    EXPECT_TRUE(ok(mailbox.wait_all_sent()));
  });
}

TEST(MailboxAsync, RefusesWrongRanks) {
  on_mailbox([](Job& job, Mailbox& mailbox) {
    const WorldRank wrong{job.size()};
    EXPECT_TRUE(
        fails(mailbox.send_async(1, {}, wrong), Code::invalid_argument, {"there is no rank"}));
    EXPECT_TRUE(fails(mailbox.wait_sent(wrong), Code::invalid_argument, {"there is no rank"}));
    EXPECT_TRUE(
        fails(mailbox.probe(1, WorldRank{-1}), Code::invalid_argument, {"there is no rank"}));
    const std::span<const std::byte> nothing(static_cast<const std::byte*>(nullptr), 3);
    EXPECT_TRUE(fails(mailbox.send_async(1, nothing, job.rank()), Code::invalid_argument,
                      {"3 bytes at a null pointer"}));
    EXPECT_TRUE(ok(mailbox.wait_all_sent()));
  });
}

TEST(MailboxAsync, ARankThatHasLeftFailsItsMessages) {
  if (!rma::test::ranks_are_threads() || rma::test::rank_count() < 2) {
    GTEST_SKIP() << "stops the jobs that it starts; the job of this program must not stop";
  }
  const auto body = [](Job& job) -> Status {
    TESSERA_ASSIGN_OR_RETURN(Mailbox mailbox, Mailbox::create(job));
    TESSERA_RETURN_IF_ERROR(job.barrier());
    const WorldRank leaving_rank{job.size() - 1};
    if (job.rank() == leaving_rank) {
      return job.stop();
    }
    const auto message = numbered_bytes(1, long_bytes);
    // The second waits for the first.
    Status sent = mailbox.send_async(2, message, leaving_rank);
    if (sent.ok()) {
      sent = mailbox.send_async(2, message, leaving_rank);
    }
    if (sent.ok()) {
      sent = mailbox.wait_sent(leaving_rank);
    }
    EXPECT_TRUE(sent.code() == Code::peer_lost || sent.code() == Code::closed) << sent.describe();
    // It was reported once, and the window is free for others.
    EXPECT_TRUE(ok(mailbox.wait_all_sent()));
    if (job.size() > 2 && job.rank().value < 2) {
      const WorldRank other{1 - job.rank().value};
      EXPECT_TRUE(ok(mailbox.send_async(3, message, other)));
      std::vector<std::byte> buffer(long_bytes);
      EXPECT_TRUE(ok(mailbox.receive(3, buffer, other)));
      EXPECT_TRUE(ok(mailbox.wait_all_sent()));
    }
    return {};
  };
  EXPECT_TRUE(ok(run_on_threads(
      rma::test::rank_count(), body,
      {.transports = {rma::test::toy_transport(), rma::test::fake_verbs_transport()}})));
}

// Each rank sends all its messages, in a random order of sizes and receivers, without waiting, and
// receives what the others sent to it.
TEST(MailboxAsync, RandomTrafficArrives) {
  on_mailbox([](Job& job, Mailbox& mailbox) {
    const rma::test::SharedSeed seed(job);
    std::mt19937_64 random = seed.generator(-1);
    struct Sent {
      WorldRank from;
      WorldRank to;
      std::int32_t tag = 0;
      std::vector<std::byte> content;
    };
    std::vector<Sent> script(tessera::test::rounds(std::size_t{200}));
    for (std::uint32_t i = 0; i < script.size(); ++i) {
      Sent& each = script[i];
      each.from = {static_cast<std::int32_t>(random_in(random, 0, job.size() - 1))};
      each.to = {static_cast<std::int32_t>(random_in(random, 0, job.size() - 1))};
      each.tag = static_cast<std::int32_t>(random_in(random, 0, 2));
      const bool is_long = random_in(random, 0, 3) == 0;
      each.content = numbered_bytes(
          i, static_cast<std::size_t>(random_in(random, 0, is_long ? 400'000 : 4096)));
    }
    for (const Sent& each : script) {
      if (each.from == job.rank()) {
        ASSERT_TRUE(ok(mailbox.send_async(each.tag, each.content, each.to)));
      }
    }
    std::vector<std::byte> buffer(400'000);
    for (const Sent& each : script) {
      if (each.to != job.rank()) {
        continue;
      }
      const Result<Received> received = mailbox.receive(each.tag, buffer, each.from);
      ASSERT_TRUE(ok(received));
      ASSERT_EQ(received->bytes, each.content.size());
      ASSERT_TRUE(std::equal(each.content.begin(), each.content.end(), buffer.begin()));
    }
    EXPECT_TRUE(ok(mailbox.wait_all_sent()));
  });
}

}  // namespace
}  // namespace tessera::rma::armci
