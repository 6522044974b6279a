// SPDX-License-Identifier: BSD-3-Clause
//
// The node's shared memory, the liveness of its ranks, its inboxes and doorbells, and how
// descriptors are passed between processes.
#include "rma/node/node.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "rma/base/fd_passing.hpp"
#include "rma/base/memory.hpp"
#include "tests/rma/node_rig.hpp"

namespace tessera::rma::detail {
namespace {

using std::chrono::milliseconds;

TEST(NodeMemory, TakesLessAddressSpaceIfItMustAndReportsIfEvenTheMinimumIsTooMuch) {
#ifdef TESSERA_SANITIZED
  GTEST_SKIP() << "a sanitizer needs address space of its own";
#endif
  ForkedRank limited([] {
    const rlimit half_a_gib{512ULL << 20, 512ULL << 20};
    setrlimit(RLIMIT_AS, &half_a_gib);
    const auto made = NodeMemory::create(2, 16ULL << 30);
    // The arena takes at most half of the limit; the other half is for the program.
    _exit(made.ok() && (*made)->size() >= 64ULL << 20 && (*made)->size() <= 256ULL << 20 &&
                  (*made)->hint_to_enlarge() ==
                      "raise the limit on address space, 512.0 MiB (ulimit -v unlimited): it "
                      "limits the arena"
              ? 0
              : 1);
  });
  EXPECT_EQ(limited.wait(), 0);
  ForkedRank child([] {
    const rlimit one_gib{1ULL << 30, 1ULL << 30};
    setrlimit(RLIMIT_AS, &one_gib);
    const auto made = NodeMemory::create(2, 128ULL << 20);
    _exit(made.ok() && (*made)->size() == 128ULL << 20 &&
                  (*made)->hint_to_enlarge() == "set TESSERA_ARENA_MIB to a larger value"
              ? 0
              : 1);
  });
  EXPECT_EQ(child.wait(), 0) << "the size in a setting is taken in full if it fits";
  ForkedRank starved([] {
    const rlimit nothing{1 << 20, 1 << 20};
    setrlimit(RLIMIT_AS, &nothing);
    const auto made = NodeMemory::create(2, 16ULL << 30);
    const Status& status = made.status();
    _exit(status.code() == Code::no_memory &&
                  status.message() ==
                      "cannot map 64.0 MiB of shared memory: Cannot allocate memory; 0 bytes are "
                      "left of the 1.0 MiB of address space that this process may have\n"
                      "  hint: raise the limit on address space: ulimit -v unlimited"
              ? 0
              : 1);
  });
  EXPECT_EQ(starved.wait(), 0);
}

TEST(NodeMemory, IsLaidOutWithoutOverlaps) {
  for (const int ranks : {1, 3, 64}) {
    const auto memory = rig_memory(ranks);
    const NodeHeader& header = memory->header();
    EXPECT_GE(header.records_offset, sizeof(NodeHeader));
    EXPECT_EQ(header.notices_offset,
              header.records_offset + static_cast<std::uint64_t>(ranks) * sizeof(RankRecord));
    EXPECT_GE(header.bitmap_offset, header.notices_offset + static_cast<std::uint64_t>(ranks) *
                                                                static_cast<std::uint64_t>(ranks) *
                                                                8);
    EXPECT_GE(header.arena_offset, header.bitmap_offset + header.total_bytes / granule_bytes / 8);
    EXPECT_EQ(header.arena_offset % granule_bytes, 0U);
    memory->notices(ranks - 1, 0) = 5;
    EXPECT_EQ(memory->notices(ranks - 1, 0), 5U);
    EXPECT_EQ(memory->notices(0, ranks - 1), ranks == 1 ? 5U : 0U);
  }
}

TEST(NodeMemory, AFileOfThisJobIsAdoptedAndAForeignOneRefused) {
  const auto memory = rig_memory(2);
  memory->notices(1, 0) = 42;
  auto adopted =
      NodeMemory::adopt(Descriptor(dup(memory->file())), Descriptor(dup(memory->agent_bell())));
  ASSERT_TRUE(adopted.ok());
  EXPECT_NE((*adopted)->base(), memory->base());
  EXPECT_EQ((*adopted)->notices(1, 0), 42U);

  Descriptor foreign(memfd_create("not-ours", 0));
  ASSERT_EQ(ftruncate(foreign.get(), 128 << 20), 0);
  const auto refused = NodeMemory::adopt(std::move(foreign), Descriptor());
  EXPECT_EQ(refused.status().code(), Code::protocol);
  EXPECT_EQ(refused.status().message(),
            "the node's shared memory was created by another version of Tessera");
}

TEST(NodeMemory, ItsAgentIsWokenOnlyIfItSleeps) {
  const auto memory = rig_memory(2);
  const auto adopted =
      NodeMemory::adopt(Descriptor(dup(memory->file())), Descriptor(dup(memory->agent_bell())));
  ASSERT_TRUE(adopted.ok());
  const auto is_called = [&] {
    pollfd bell{.fd = memory->agent_bell(), .events = POLLIN, .revents = 0};
    return poll(&bell, 1, 0) == 1;
  };
  (*adopted)->wake_agent();
  EXPECT_EQ(memory->header().agent_bell.rings, 1U);
  EXPECT_FALSE(is_called());
  memory->header().agent_bell.sleepers = 1;
  (*adopted)->wake_agent();
  EXPECT_EQ(memory->header().agent_bell.rings, 2U);
  EXPECT_TRUE(is_called());
}

TEST(LivenessLock, GoesWithTheProcessHoweverItEnds) {
  const auto memory = rig_memory(3);
  EXPECT_FALSE(memory->has_liveness_lock(1));
  ForkedRank killed([&] {
    EXPECT_TRUE(memory->hold_liveness_lock(1).ok());
    pause();
  });
  ASSERT_TRUE(eventually([&] { return memory->has_liveness_lock(1); }));
  // A stopped process is alive.
  kill(killed.pid(), SIGSTOP);
  EXPECT_TRUE(memory->has_liveness_lock(1));
  kill(killed.pid(), SIGCONT);
  killed.end();
  EXPECT_FALSE(memory->has_liveness_lock(1));

  // This process has ended, but its parent has not reaped it yet.
  ForkedRank zombie([&] { memory->hold_liveness_lock(2).ignore("checked below"); });
  siginfo_t info{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(zombie.pid()), &info, WEXITED | WNOWAIT), 0);
  EXPECT_FALSE(memory->has_liveness_lock(2));
}

TEST(LivenessLock, IsNotInheritedByChildren) {
  const auto memory = rig_memory(2);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  ForkedRank rank([&] {
    EXPECT_TRUE(memory->hold_liveness_lock(1).ok());
    if (fork() == 0) {
      char byte = 0;
      _exit(read(ends[0], &byte, 1) == 1 ? 0 : 1);  // this child outlives the rank
    }
  });
  EXPECT_EQ(rank.wait(), 0);
  EXPECT_FALSE(memory->has_liveness_lock(1));
  EXPECT_EQ(write(ends[1], "x", 1), 1);
  close(ends[0]);
  close(ends[1]);
}

TEST(LivenessLock, OfALocalRankThatAnotherProcessHoldsIsAnInternalError) {
  const auto memory = rig_memory(2);
  ForkedRank owner([&] {
    memory->hold_liveness_lock(1).ignore("checked below");
    pause();
  });
  ASSERT_TRUE(eventually([&] { return memory->has_liveness_lock(1); }));
  const Status status = memory->hold_liveness_lock(1);
  EXPECT_EQ(status.code(), Code::internal);
  EXPECT_TRUE(
      status.message().starts_with("cannot lock the byte that marks local rank 1 as alive: "));
}

TEST(Node, KnowsTheLocalRanksOfRanksThatAreNotConsecutive) {
  const auto memory = rig_memory(3);
  const std::vector<WorldRank> ranks{WorldRank{2}, WorldRank{5}, WorldRank{9}};
  const Node node(memory, ranks, 1, true, {});
  EXPECT_EQ(node.rank_span(), 8);
  for (std::int32_t rank = -1; rank < 12; ++rank) {
    const auto found = std::find(ranks.begin(), ranks.end(), WorldRank{rank});
    EXPECT_EQ(node.local_rank_of(WorldRank{rank}),
              found == ranks.end() ? -1 : static_cast<int>(found - ranks.begin()))
        << rank;
  }
}

TEST(Node, DistinguishesLeavingDyingAndNotYetEntering) {
  const auto memory = rig_memory(4);
  const auto node = rig_node(memory, 0, false);
  EXPECT_FALSE(node->is_gone(1)) << "has not entered yet";
  ForkedRank leaver([&] { rig_node(memory, 1, false)->leave(); });
  ForkedRank dier([&] { rig_node(memory, 2, false); });
  leaver.wait();
  dier.wait();
  EXPECT_TRUE(node->is_gone(1));
  EXPECT_TRUE(node->has_left(1));
  EXPECT_TRUE(node->is_gone(2));
  EXPECT_FALSE(node->has_left(2));
  EXPECT_FALSE(node->is_gone(0)) << "a rank is present for itself";
}

TEST(Node, GivesUpDuringWakeUpsForOthers) {
  const auto memory = rig_memory(2);
  const auto node = rig_node(memory, 0, true);
  const auto noisy = rig_node(memory, 1, true);
  std::atomic<bool> done{false};
  std::thread ringer([&] {
    EXPECT_TRUE(eventually([&] {
      for (int i = 0; i < 1000 && !done; ++i) {
        noisy->ring(0);
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      }
      return done.load();
    })) << "the waiter's bell rings all the time, and the waiter never checks its peer";
    done = true;
  });
  bool asked = false;
  EXPECT_FALSE(node->listen_until([&] { return done.load(); },
                                  [&] {
                                    asked = true;
                                    return true;
                                  }));
  EXPECT_TRUE(asked);
  done = true;
  ringer.join();
}

// Receives from a rank of the same node, until that rank is gone.
Result<JoinMessage> accept(Node& node, std::uint64_t key, int sender_local_rank) {
  return node.receive_join(key, node.rank_at(sender_local_rank),
                           [&] { return node.is_gone(sender_local_rank); });
}

TEST(Inbox, DeliversByKeyAndInOrderOfPosting) {
  const auto memory = rig_memory(2);
  const auto sender = rig_node(memory, 0, true);
  const auto receiver = rig_node(memory, 1, true);
  ASSERT_TRUE(sender->send_join(1, {.key = 7, .offset = 70}).ok());
  ASSERT_TRUE(sender->send_join(1, {.key = 8, .offset = 80}).ok());
  ASSERT_TRUE(sender->send_join(1, {.key = 7, .offset = 71}).ok());
  EXPECT_EQ(accept(*receiver, 8, 0)->offset, 80U);
  EXPECT_EQ(accept(*receiver, 7, 0)->offset, 70U);
  EXPECT_EQ(accept(*receiver, 7, 0)->offset, 71U);
}

TEST(Inbox, AFullInboxMakesTheSenderWait) {
  const auto memory = rig_memory(2);
  const auto sender = rig_node(memory, 0, true);
  const auto receiver = rig_node(memory, 1, true);
  constexpr std::uint64_t messages = 500;
  std::thread post([&] {
    for (std::uint64_t i = 0; i < messages; ++i) {
      EXPECT_TRUE(sender->send_join(1, {.key = 3, .offset = i}).ok());
    }
  });
  for (std::uint64_t i = 0; i < messages; ++i) {
    EXPECT_EQ(accept(*receiver, 3, 0)->offset, i);
  }
  post.join();
}

// The sender whose messages fill the inbox may also be the one whose message the receiver waits
// for.
TEST(Inbox, AFullInboxIsEmptiedByAWaiterForALaterMessage) {
  const auto memory = rig_memory(2);
  const auto sender = rig_node(memory, 0, true);
  const auto receiver = rig_node(memory, 1, true);
  constexpr std::uint64_t messages = 500;
  std::thread post([&] {
    for (std::uint64_t i = 0; i < messages; ++i) {
      EXPECT_TRUE(sender->send_join(1, {.key = 3, .offset = i}).ok());
    }
    EXPECT_TRUE(sender->send_join(1, {.key = 4, .offset = 44}).ok());
  });
  EXPECT_EQ(accept(*receiver, 4, 0)->offset, 44U);
  EXPECT_EQ(accept(*receiver, 3, 0)->offset, 0U);
  post.join();
}

TEST(Inbox, NeitherSenderNorReceiverWaitsForTheDead) {
  const auto memory = rig_memory(2);
  const auto node = rig_node(memory, 0, false);
  ForkedRank peer([&] { rig_node(memory, 1, false); });
  peer.wait();
  const auto nothing = accept(*node, 5, 1);
  EXPECT_EQ(nothing.status().code(), Code::peer_lost);
  EXPECT_EQ(nothing.status().rank(), WorldRank{1});
  Status last;
  for (int i = 0; i < 100 && last.ok(); ++i) {
    last = node->send_join(1, {.key = 5, .offset = 1});
  }
  EXPECT_EQ(last.code(), Code::peer_lost);
  EXPECT_EQ(last.message(), "rank 1 is gone and does not join the team");
}

TEST(Inbox, SurvivesADeathAtAnyInstructionOfPosting) {
  for (int steps = 0; steps < 1000; steps += steps_between_deaths) {
    const auto memory = rig_memory(2);
    const auto node = rig_node(memory, 0, false);
    ASSERT_TRUE(node->send_join(0, {.key = 1, .offset = 10}).ok());
    std::unique_ptr<Node> its_node;
    SteppedRank rank([&] { its_node = rig_node(memory, 1, false); },
                     [&] { its_node->send_join(0, {.key = 2, .offset = 20}).ignore("it dies"); });
    if (!rank.is_possible()) {
      GTEST_SKIP() << SteppedRank::impossible;
    }
    const bool more = rank.step(steps);
    rank.end();
    ASSERT_TRUE(node->send_join(0, {.key = 3, .offset = 30}).ok());
    EXPECT_EQ(accept(*node, 1, 0)->offset, 10U) << steps;
    const auto from_dead_owner = accept(*node, 2, 1);
    EXPECT_TRUE(!from_dead_owner.ok() || from_dead_owner->offset == 20) << steps;
    EXPECT_EQ(accept(*node, 3, 0)->offset, 30U) << steps;
    if (!more) {
      EXPECT_GT(steps, 30);
      break;
    }
  }
}

TEST(DescriptorPassing, HandsTheSameFilesToSeveralProcesses) {
  auto server = DescriptorServer::create();
  ASSERT_TRUE(server.ok());
  EXPECT_EQ(server->name().size(), 32U);
  const Descriptor file(memfd_create("shared", MFD_CLOEXEC));
  const Descriptor other(memfd_create("shared too", MFD_CLOEXEC));
  ASSERT_EQ(ftruncate(file.get(), 4096), 0);
  ASSERT_EQ(ftruncate(other.get(), 4096), 0);
  const std::string name = server->name();
  const auto fetch_and_sign = [&](char sign) {
    const auto fetched = fetch_descriptors(name, 2, milliseconds(5000));
    _exit(fetched.ok() && pwrite(fetched->front().get(), &sign, 1, sign - 'a') == 1 &&
                  pwrite(fetched->back().get(), &sign, 1, sign - 'a') == 1
              ? 0
              : 1);
  };
  ForkedRank first([&] { fetch_and_sign('a'); });
  ForkedRank second([&] { fetch_and_sign('b'); });
  const std::array served{file.get(), other.get()};
  EXPECT_TRUE(server->serve(served, 2, milliseconds(5000)).ok());
  EXPECT_EQ(first.wait(), 0);
  EXPECT_EQ(second.wait(), 0);
  char signs[3] = {};
  EXPECT_EQ(pread(file.get(), signs, 2, 0), 2);
  EXPECT_STREQ(signs, "ab");
  EXPECT_EQ(pread(other.get(), signs, 2, 0), 2);
  EXPECT_STREQ(signs, "ab");
}

constexpr std::array standard_input{0};

TEST(DescriptorPassing, OtherCountsThanExpectedAreRefused) {
  auto server = DescriptorServer::create();
  ASSERT_TRUE(server.ok());
  ForkedRank expecting([&] {
    const auto fetched = fetch_descriptors(server->name(), 2, milliseconds(5000));
    _exit(fetched.status().message() ==
                  "the first rank of this node sent 1 descriptors of its shared memory instead of 2"
              ? 0
              : 1);
  });
  EXPECT_TRUE(server->serve(standard_input, 1, milliseconds(5000)).ok());
  EXPECT_EQ(expecting.wait(), 0);
}

TEST(DescriptorPassing, ReportsHowManyCame) {
  auto server = DescriptorServer::create();
  ASSERT_TRUE(server.ok());
  const Status status = server->serve(standard_input, 3, milliseconds(20));
  EXPECT_EQ(status.code(), Code::timed_out);
  EXPECT_EQ(status.message(),
            "only 0 of 3 processes of this node fetched its shared memory within 20 ms");
}

TEST(DescriptorPassing, AnUnknownNameIsUnreachable) {
  const auto fetched = fetch_descriptors("tessera-nobody-listens-here", 1, milliseconds(20));
  EXPECT_EQ(fetched.status().code(), Code::unreachable);
}

TEST(DescriptorPassing, AServerThatIsSilentOrGoesAwayIsAnError) {
  std::string name;
  {
    auto server = DescriptorServer::create();
    ASSERT_TRUE(server.ok());
    name = server->name();
    const auto silent = fetch_descriptors(name, 1, milliseconds(20));
    EXPECT_EQ(silent.status().code(), Code::timed_out);
    std::thread leaver([&server] {
      std::this_thread::sleep_for(milliseconds(50));
      const auto gone = std::move(server);
    });
    const auto closed = fetch_descriptors(name, 1, milliseconds(5000));
    leaver.join();
    EXPECT_EQ(closed.status().code(), Code::protocol);
    EXPECT_TRUE(
        closed.status().message().starts_with("the first rank of this node closed the connection"))
        << closed.status().message();
    EXPECT_EQ(closed.status().message().find("Success"), std::string::npos);
  }
}

TEST(DescriptorPassing, NamesTheLimitOnDescriptors) {
#ifdef TESSERA_SANITIZED
  GTEST_SKIP() << "a sanitizer needs descriptors of its own";
#endif
  auto server = DescriptorServer::create();
  ASSERT_TRUE(server.ok());
  for (const rlim_t room : {0U, 1U}) {  // none for the socket; none for the received descriptor
    ForkedRank limited([&] {
      const int lowest_free = dup(0);
      close(lowest_free);
      const rlim_t limit = static_cast<rlim_t>(lowest_free) + room;
      const rlimit few{limit, limit};
      setrlimit(RLIMIT_NOFILE, &few);
      const auto fetched = fetch_descriptors(server->name(), 1, milliseconds(5000));
      _exit(static_cast<int>(fetched.status().code()));
    });
    server->serve(standard_input, 1, milliseconds(500))
        .ignore("no process connects in the first case");
    const int state = limited.wait();
    EXPECT_EQ(WEXITSTATUS(state), static_cast<int>(Code::limit_exceeded)) << room;
  }
}

}  // namespace
}  // namespace tessera::rma::detail
