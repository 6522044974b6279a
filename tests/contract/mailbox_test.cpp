// SPDX-License-Identifier: BSD-3-Clause
//
// Messages from rank to rank: order, matching, any number and size of messages, and waiting senders
// and receivers.
#include "rma/armci/mailbox.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rma/armci/mailbox_region.hpp"
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
using rma::test::on_ranks;
using rma::test::random_in;

constexpr std::size_t part_bytes = detail::part_bytes;
constexpr std::size_t three_megabytes = 3'000'001;

// The bytes of a message; no other message has the same bytes.
std::vector<std::byte> content(std::uint32_t message, std::size_t bytes) {
  std::vector<std::byte> result(bytes);
  std::uint32_t state = message * 2'654'435'761U + 12'345U;
  for (std::byte& each : result) {
    state = state * 1'664'525U + 1'013'904'223U;
    each = static_cast<std::byte>(state >> 24U);
  }
  return result;
}

void expect_message(const Result<Received>& received, const std::vector<std::byte>& buffer,
                    WorldRank from, const std::vector<std::byte>& expected) {
  ASSERT_TRUE(ok(received));
  EXPECT_EQ(received->from, from);
  ASSERT_EQ(received->bytes, expected.size());
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), buffer.begin()))
      << expected.size() << " bytes from rank " << from.value << " are not those that were sent";
}

void expect_from(Mailbox& mailbox, std::int32_t tag, WorldRank from,
                 const std::vector<std::byte>& expected) {
  std::vector<std::byte> buffer(expected.size() + 3);
  expect_message(mailbox.receive(tag, buffer, from), buffer, from, expected);
}

WorldRank next(const Job& job) {
  return {(job.rank().value + 1) % job.size()};
}
WorldRank previous(const Job& job) {
  return {(job.rank().value + job.size() - 1) % job.size()};
}

// Runs `body` with a mailbox that is freed properly afterwards.
void with_mailbox(const std::function<void(Job&, Mailbox&)>& body) {
  on_ranks([&](Job& job) {
    Mailbox mailbox = Mailbox::create(job).value();
    body(job, mailbox);
    EXPECT_TRUE(ok(mailbox.free()));
  });
}

TEST(Announcements, KeepTheirPartsAndOrderEvenIfNumbersWrap) {
  using detail::Announcement;
  constexpr std::uint32_t numbers = 1U << Announcement::number_bits;
  for (const std::uint32_t number : {0U, 1U, 77U, numbers / 2, numbers - 1}) {
    for (const std::uint32_t units : {1U, 65U, 127U}) {
      for (const std::uint32_t slot : {0U, 1U, 63U}) {
        const auto decoded = Announcement::decode(Announcement{number, units, slot}.encode());
        EXPECT_EQ(decoded.number, number);
        EXPECT_EQ(decoded.units, units);
        EXPECT_EQ(decoded.slot, slot);
      }
    }
    EXPECT_EQ(Announcement::decode(Announcement{number + numbers, 1, 1}.encode()).number, number);
    EXPECT_EQ(detail::distance((number + 68) % numbers, number), 68);
    EXPECT_EQ(detail::distance(number, (number + 68) % numbers), -68);
    EXPECT_EQ(detail::distance(number + numbers, number), 0);
  }
}

TEST(Mailbox, KeepsTheOrderOfMessagesWithOneTag) {
  with_mailbox([](Job& job, Mailbox& mailbox) {
    constexpr std::uint32_t messages = 50;
    for (std::uint32_t i = 0; i < messages; ++i) {
      ASSERT_TRUE(ok(mailbox.send(7, content(i, i), next(job))));
    }
    for (std::uint32_t i = 0; i < messages; ++i) {
      expect_from(mailbox, 7, previous(job), content(i, i));
    }
  });
}

TEST(Mailbox, LetsMessagesWithOtherTagsWait) {
  with_mailbox([](Job& job, Mailbox& mailbox) {
    constexpr std::int32_t tags = 60;
    for (std::int32_t tag = 0; tag < tags; ++tag) {
      const auto number = static_cast<std::uint32_t>(tag);
      ASSERT_TRUE(ok(mailbox.send(tag - 30, content(number, 1000), next(job))));
    }
    for (std::int32_t tag = tags - 1; tag >= 0; --tag) {
      const auto number = static_cast<std::uint32_t>(tag);
      expect_from(mailbox, tag - 30, previous(job), content(number, 1000));
    }
  });
}

TEST(Mailbox, CarriesEverySize) {
  with_mailbox([](Job& job, Mailbox& mailbox) {
    const std::vector<std::size_t> sizes{0,
                                         1,
                                         48,
                                         49,
                                         short_message_bytes - 1,
                                         short_message_bytes,
                                         short_message_bytes + 1,
                                         part_bytes - 1,
                                         part_bytes,
                                         part_bytes + 1,
                                         4 * part_bytes,
                                         4 * part_bytes + 1,
                                         5 * part_bytes,
                                         three_megabytes};
    // Long messages wait for their receiver. Odd ranks receive first, and so does the last rank if
    // its number is even.
    const bool sends_first = job.rank().value % 2 == 0 && job.rank().value + 1 < job.size();
    for (std::uint32_t i = 0; i < sizes.size(); ++i) {
      const std::vector<std::byte> message = content(i, sizes[i]);
      if (sends_first || job.size() == 1) {
        ASSERT_TRUE(ok(mailbox.send(1, message, next(job))));
      }
      expect_from(mailbox, 1, previous(job), message);
      if (!sends_first && job.size() > 1) {
        ASSERT_TRUE(ok(mailbox.send(1, message, next(job))));
      }
    }
  });
}

// No rank receives anything meanwhile: all wait in a barrier.
TEST(Mailbox, BuffersAsManyMessagesAsItPromises) {
  with_mailbox([](Job& job, Mailbox& mailbox) {
    for (int round = 0; round < 3; ++round) {
      for (std::uint32_t i = 0; i < max_short_messages; ++i) {
        ASSERT_TRUE(ok(mailbox.send(3, content(i, short_message_bytes), next(job))));
      }
      ASSERT_TRUE(ok(job.barrier()));
      for (std::uint32_t i = 0; i < max_short_messages; ++i) {
        expect_from(mailbox, 3, previous(job), content(i, short_message_bytes));
      }
    }
  });
}

TEST(Mailbox, LetsAllSendFirstHoweverManyMessages) {
  with_mailbox([](Job& job, Mailbox& mailbox) {
    const std::uint32_t messages = tessera::test::rounds(400U);
    for (std::uint32_t i = 0; i < messages; ++i) {
      for (std::int32_t to = 0; to < job.size(); ++to) {
        ASSERT_TRUE(ok(mailbox.send(5, content(i, i % 300), WorldRank{to})));
      }
    }
    for (std::int32_t from = 0; from < job.size(); ++from) {
      for (std::uint32_t i = 0; i < messages; ++i) {
        expect_from(mailbox, 5, WorldRank{from}, content(i, i % 300));
      }
    }
  });
}

TEST(Mailbox, ReceivesMessagesWhileALongOneIsSent) {
  with_mailbox([](Job& job, Mailbox& mailbox) {
    constexpr std::uint32_t messages = 3 * max_short_messages;
    const std::vector<std::byte> long_message = content(1, three_megabytes);
    if (job.size() == 1) {
      return;
    }
    if (job.rank().value == 0) {
      ASSERT_TRUE(ok(mailbox.send(1, long_message, WorldRank{job.size() - 1})));
      for (std::uint32_t i = 0; i < messages; ++i) {
        expect_from(mailbox, 2, WorldRank{job.size() - 1}, content(i, 100));
      }
    } else if (job.rank().value == job.size() - 1) {
      for (std::uint32_t i = 0; i < messages; ++i) {
        ASSERT_TRUE(ok(mailbox.send(2, content(i, 100), WorldRank{0})));
      }
      expect_from(mailbox, 1, WorldRank{0}, long_message);
    }
  });
}

TEST(Mailbox, CarriesLongMessagesOfAllToOneInAnyOrder) {
  with_mailbox([](Job& job, Mailbox& mailbox) {
    const auto number = static_cast<std::uint32_t>(job.rank().value);
    if (job.rank().value > 0) {
      for (std::uint32_t round = 0; round < 3; ++round) {
        ASSERT_TRUE(ok(mailbox.send(4, content(number + round, 700'000), WorldRank{0})));
        ASSERT_TRUE(ok(mailbox.send(4, content(number + round, 7), WorldRank{0})));
      }
      return;
    }
    for (std::uint32_t round = 0; round < 3; ++round) {
      for (std::int32_t from = job.size() - 1; from > 0; --from) {
        const auto sender = static_cast<std::uint32_t>(from);
        expect_from(mailbox, 4, WorldRank{from}, content(sender + round, 700'000));
        expect_from(mailbox, 4, WorldRank{from}, content(sender + round, 7));
      }
    }
  });
}

TEST(Mailbox, ReceivesFromAnyRank) {
  with_mailbox([](Job& job, Mailbox& mailbox) {
    constexpr std::uint32_t messages = 40;
    const auto length = [](std::uint32_t i) -> std::size_t { return i % 20 == 7 ? 300'000 : i; };
    if (job.rank().value > 0 || job.size() == 1) {
      for (std::uint32_t i = 0; i < messages; ++i) {
        ASSERT_TRUE(ok(mailbox.send(9, content(i, length(i)), WorldRank{0})));
      }
    }
    if (job.rank().value > 0) {
      return;
    }
    std::vector<std::uint32_t> received_of(static_cast<std::size_t>(job.size()));
    const std::uint32_t senders = job.size() == 1 ? 1 : static_cast<std::uint32_t>(job.size()) - 1;
    std::vector<std::byte> buffer(300'000);
    for (std::uint32_t i = 0; i < messages * senders; ++i) {
      const auto received = mailbox.receive_any(9, buffer);
      ASSERT_TRUE(ok(received));
      std::uint32_t& count = received_of[static_cast<std::size_t>(received->from.value)];
      expect_message(received, buffer, received->from, content(count, length(count)));
      ++count;
    }
    EXPECT_EQ(std::count(received_of.begin(), received_of.end(), messages), senders);
  });
}

TEST(Mailbox, CarriesMessagesToOneself) {
  with_mailbox([](Job& job, Mailbox& mailbox) {
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{5}, three_megabytes}) {
      ASSERT_TRUE(ok(mailbox.send(1, content(1, bytes), job.rank())));
      ASSERT_TRUE(ok(mailbox.send(1, content(2, bytes), job.rank())));
      expect_from(mailbox, 1, job.rank(), content(1, bytes));
      std::vector<std::byte> buffer(bytes);
      expect_message(mailbox.receive_any(1, buffer), buffer, job.rank(), content(2, bytes));
    }
    std::vector<std::byte> buffer(10);
    EXPECT_TRUE(fails(mailbox.receive(1, buffer, job.rank()), Code::invalid_argument,
                      {"tag 1", "has not sent itself this message"}));
  });
}

TEST(Mailbox, ReportsMessagesThatAreTooLongAndContinues) {
  with_mailbox([](Job& job, Mailbox& mailbox) {
    for (const std::size_t bytes :
         {std::size_t{10}, short_message_bytes, std::size_t{600'000}, std::size_t{900'000}}) {
      for (const std::size_t room : {std::size_t{0}, std::size_t{9}, bytes - 1, bytes / 2}) {
        const std::vector<std::byte> message = content(1, bytes);
        const auto receive = [&] {
          std::vector<std::byte> buffer(room);
          EXPECT_TRUE(
              fails(mailbox.receive(6, buffer, previous(job)), Code::invalid_argument,
                    {"tag 6", "rank " + std::to_string(previous(job).value),
                     std::to_string(bytes) + " bytes", "buffer for it " + std::to_string(room)}));
          EXPECT_TRUE(std::equal(buffer.begin(), buffer.end(), message.begin()));
          expect_from(mailbox, 6, previous(job), content(2, 20));
        };
        const auto send = [&] {
          ASSERT_TRUE(ok(mailbox.send(6, message, next(job))));
          ASSERT_TRUE(ok(mailbox.send(6, content(2, 20), next(job))));
        };
        if (job.rank().value == 0) {
          send();
          receive();
        } else {
          receive();
          send();
        }
      }
    }
  });
}

TEST(Mailbox, RefusesInvalidArguments) {
  with_mailbox([](Job& job, Mailbox& mailbox) {
    std::vector<std::byte> buffer(10);
    const std::string no_such_rank = "there is no rank " + std::to_string(job.size());
    EXPECT_TRUE(fails(mailbox.send(1, buffer, WorldRank{job.size()}), Code::invalid_argument,
                      {no_such_rank}));
    EXPECT_TRUE(fails(mailbox.send(1, buffer, WorldRank{-1}), Code::invalid_argument,
                      {"there is no rank -1"}));
    EXPECT_TRUE(fails(mailbox.receive(1, buffer, WorldRank{job.size()}), Code::invalid_argument,
                      {no_such_rank}));
    const std::span<const std::byte> nowhere(static_cast<const std::byte*>(nullptr), 5);
    EXPECT_TRUE(
        fails(mailbox.send(1, nowhere, next(job)), Code::invalid_argument, {"null pointer"}));
    if (job.size() == 1) {
      EXPECT_TRUE(fails(mailbox.receive_any(1, buffer), Code::invalid_argument,
                        {"has not sent itself this message"}));
    }
    ASSERT_TRUE(ok(mailbox.free()));
    EXPECT_TRUE(ok(mailbox.free()));
    EXPECT_TRUE(fails(mailbox.send(1, buffer, next(job)), Code::closed, {"was freed"}));
    EXPECT_TRUE(fails(mailbox.receive(1, buffer, next(job)), Code::closed, {"was freed"}));
    EXPECT_TRUE(fails(mailbox.receive_any(1, buffer), Code::closed, {"was freed"}));
  });
}

TEST(Mailbox, DropsUnreceivedMessagesAndMayBeMadeAgain) {
  on_ranks([](Job& job) {
    for (std::uint32_t round = 0; round < 4; ++round) {
      Mailbox mailbox = Mailbox::create(job).value();
      Mailbox other = Mailbox::create(job).value();
      ASSERT_TRUE(ok(mailbox.send(1, content(round, 100), next(job))));
      ASSERT_TRUE(ok(other.send(1, content(round + 50, 100), next(job))));
      ASSERT_TRUE(ok(other.send(2, content(round, 100), next(job))));
      expect_from(other, 1, previous(job), content(round + 50, 100));
      expect_from(mailbox, 1, previous(job), content(round, 100));
      mailbox = std::move(other);
    }
    EXPECT_TRUE(ok(job.barrier()));
  });
}

TEST(Mailbox, ReportsARankThatHasLeft) {
  if (!rma::test::ranks_are_threads() || rma::test::rank_count() < 2) {
    GTEST_SKIP() << "stops the jobs that it starts; the job of this program must not stop";
  }
  const auto body = [](Job& job) -> Status {
    TESSERA_ASSIGN_OR_RETURN(Mailbox mailbox, Mailbox::create(job));
    TESSERA_RETURN_IF_ERROR(job.barrier());
    const WorldRank leaving_rank{job.size() - 1};
    if (job.rank() == leaving_rank) {
      TESSERA_RETURN_IF_ERROR(mailbox.send(1, content(1, 10), WorldRank{0}));
      return job.stop();
    }
    std::vector<std::byte> buffer(10);
    if (job.rank().value == 0) {
      // A message that the leaver sent before it left can still be received if its memory still
      // exists.
      static_cast<void>(mailbox.receive(1, buffer, leaving_rank));
    }
    const Result<Received> nothing = mailbox.receive(2, buffer, leaving_rank);
    EXPECT_TRUE(fails(nothing, Code::peer_lost, {"tag 2", "is gone"}));
    EXPECT_EQ(nothing.status().rank(), leaving_rank);
    // If the leaver's node has announced that it left, the send fails with Code::closed instead.
    const Status unsent = mailbox.send(2, content(1, 600'000), leaving_rank);
    EXPECT_TRUE(fails(unsent, Code::peer_lost, {"tag 2"}) ||
                fails(unsent, Code::closed, {"tag 2", "has left"}))
        << unsent.describe();
    return {};
  };
  EXPECT_TRUE(ok(run_on_threads(
      rma::test::rank_count(), body,
      {.transports = {rma::test::toy_transport(), rma::test::fake_verbs_transport()}})));
}

// ---- Random traffic -----------------------------------------------------------------------------

enum class Kind : std::int32_t { short_message, long_message, for_any };

struct Message {
  WorldRank from;
  WorldRank to;
  Kind kind = Kind::short_message;
  std::int32_t tag = 0;
  std::size_t bytes = 0;
  std::size_t received_at = 0;  // the script's step after which it is received
};

std::size_t random_bytes(std::mt19937_64& random, Kind kind) {
  if (kind == Kind::long_message) {
    const std::vector<std::size_t> sizes{short_message_bytes + 1, part_bytes, 4 * part_bytes + 1,
                                         three_megabytes};
    return random_in(random, 0, 3) > 0
               ? static_cast<std::size_t>(random_in(random, short_message_bytes + 1, 900'000))
               : sizes[static_cast<std::size_t>(random_in(random, 0, 3))];
  }
  const std::vector<std::size_t> sizes{0, 1, short_message_bytes - 1, short_message_bytes};
  return random_in(random, 0, 1) > 0
             ? static_cast<std::size_t>(random_in(random, 0, short_message_bytes))
             : sizes[static_cast<std::size_t>(random_in(random, 0, 3))];
}

// Makes the same script at all ranks. Long messages are received at the step in which they are
// sent, and have tags of their own, so that ranks do not wait for each other in a circle. Other
// messages are received any number of steps later.
std::vector<Message> make_script(std::mt19937_64& random, std::int32_t ranks) {
  std::vector<Message> script(tessera::test::rounds(std::size_t{1200}));
  for (std::size_t step = 0; step < script.size(); ++step) {
    Message& each = script[step];
    const std::int64_t die = random_in(random, 0, 19);
    each.kind = die == 0 ? Kind::long_message : die < 5 ? Kind::for_any : Kind::short_message;
    each.from = WorldRank{static_cast<std::int32_t>(random_in(random, 0, ranks - 1))};
    each.to = WorldRank{static_cast<std::int32_t>(random_in(random, 0, ranks - 1))};
    each.tag = static_cast<std::int32_t>(each.kind) * 100 +
               static_cast<std::int32_t>(random_in(random, 0, 7));
    each.bytes = random_bytes(random, each.kind);
    each.received_at =
        step +
        (each.kind == Kind::long_message ? 0 : static_cast<std::size_t>(random_in(random, 0, 150)));
  }
  return script;
}

// Plays the part of one rank in the script. Compares each received message with the oldest one
// outstanding from that sender with that tag.
class Player {
 public:
  Player(Job& job, Mailbox& mailbox, const std::vector<Message>& script)
      : job_(job), mailbox_(mailbox), script_(script) {
    for (std::uint32_t step = 0; step < script.size(); ++step) {
      if (script[step].to == job.rank()) {
        coming_[{script[step].from, script[step].tag}].push_back(step);
      }
    }
  }

  void play() {
    std::multimap<std::size_t, std::uint32_t> due;
    for (std::uint32_t step = 0; step < script_.size(); ++step) {
      const Message& message = script_[step];
      if (message.from == job_.rank()) {
        ASSERT_TRUE(ok(mailbox_.send(message.tag, content(step, message.bytes), message.to)));
      }
      if (message.to == job_.rank()) {
        due.emplace(message.received_at, step);
      }
      while (!due.empty() && due.begin()->first <= step) {
        ASSERT_NO_FATAL_FAILURE(receive_one(script_[due.begin()->second]));
        due.erase(due.begin());
      }
    }
    for (const auto& [at, step] : due) {
      ASSERT_NO_FATAL_FAILURE(receive_one(script_[step]));
    }
  }

 private:
  void receive_one(const Message& like) {
    std::vector<std::byte> buffer(like.kind == Kind::long_message ? three_megabytes
                                                                  : short_message_bytes);
    const Result<Received> received = like.kind == Kind::for_any
                                          ? mailbox_.receive_any(like.tag, buffer)
                                          : mailbox_.receive(like.tag, buffer, like.from);
    ASSERT_TRUE(ok(received));
    std::deque<std::uint32_t>& oldest = coming_[{received->from, like.tag}];
    ASSERT_FALSE(oldest.empty()) << "rank " << received->from.value << " sent no such message";
    expect_message(received, buffer, like.kind == Kind::for_any ? received->from : like.from,
                   content(oldest.front(), script_[oldest.front()].bytes));
    oldest.pop_front();
  }

  Job& job_;
  Mailbox& mailbox_;
  const std::vector<Message>& script_;
  std::map<std::pair<WorldRank, std::int32_t>, std::deque<std::uint32_t>> coming_;
};

TEST(Mailbox, CarriesRandomTrafficAsItWasSent) {
  with_mailbox([](Job& job, Mailbox& mailbox) {
    const rma::test::SharedSeed seed(job);
    std::mt19937_64 random = seed.generator(-1);
    for (int round = 0; round < tessera::test::rounds(3); ++round) {
      const std::vector<Message> script = make_script(random, job.size());
      ASSERT_NO_FATAL_FAILURE(Player(job, mailbox, script).play());
      // Without this barrier, a receive from any rank could take messages of the next round.
      ASSERT_TRUE(ok(job.barrier()));
    }
  });
}

}  // namespace
}  // namespace tessera::rma::armci
