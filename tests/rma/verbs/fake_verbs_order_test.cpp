// SPDX-License-Identifier: BSD-3-Clause
//
// The order in which the simulated network executes requests, what threads see meanwhile, and its
// notifications.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <thread>
#include <vector>

#include "tests/rma/verbs/verbs_rig.hpp"
#include "tests/support/effort.hpp"
#include "tests/support/fake_verbs.hpp"

namespace tessera::rma::test {
namespace {

using tessera::test::rounds;

std::uint64_t read_word(const std::uint64_t& word) {
  return std::atomic_ref(const_cast<std::uint64_t&>(word)).load(std::memory_order_acquire);
}

bool is_readable(int fd) {
  pollfd poller{.fd = fd, .events = POLLIN, .revents = 0};
  return poll(&poller, 1, 0) == 1;
}

/// Writes eight words and then a flag, by one call. Only the flag is signaled.
void post_data_and_flag(Pair& pair, std::uint64_t value) {
  for (std::size_t i = 0; i < 8; ++i) {
    pair.here.words[i] = value;
  }
  pair.here.words[8] = value;
  Sending data(pair.here, IBV_WR_RDMA_WRITE);
  Sending flag(pair.here, IBV_WR_RDMA_WRITE);
  data.piece(0, 8).at(pair.there, 0).flags(0);
  flag.piece(8, 1).at(pair.there, 8);
  ASSERT_EQ(data.post({&flag}), 0);
}

// --- order

TEST(FakeVerbsOrder, WritesOfAQueuePairLandInTheirOrder) {
  FakeVerbs fake;
  Pair pair(fake);
  for (std::uint64_t value = 1; value <= rounds(200U); ++value) {
    post_data_and_flag(pair, value);
    ASSERT_TRUE(eventually([&] { return read_word(pair.there.words[8]) == value; }));
    for (std::size_t i = 0; i < 8; ++i) {
      EXPECT_EQ(pair.there.words[i], value);  // a plain access: the flag orders it
    }
    pair.here.next_sent();
  }
}

TEST(FakeVerbsOrder, RelaxedWritesMayLandInAnyOrder) {
  FakeVerbs fake;
  SideOptions options;
  options.access |= IBV_ACCESS_RELAXED_ORDERING;
  Pair pair(fake, options);
  bool was_early = false;
  for (std::uint64_t value = 1; value <= 2000 && !was_early; ++value) {
    post_data_and_flag(pair, value);
    bool is_complete = false;
    while (read_word(pair.there.words[8]) != value && !is_complete) {
      is_complete = pair.here.has_sent();
    }
    for (std::size_t i = 0; i < 8; ++i) {
      was_early = was_early || read_word(pair.there.words[i]) != value;
    }
    if (!is_complete) {
      pair.here.next_sent();
    }
  }
  // The flag is polled without a completion, so it is eventually seen before the data.
  EXPECT_TRUE(was_early);
}

TEST(FakeVerbsOrder, ACompletionOrdersRelaxedWrites) {
  FakeVerbs fake;
  SideOptions options;
  options.access |= IBV_ACCESS_RELAXED_ORDERING;
  Pair pair(fake, options);
  for (std::uint64_t value = 1; value <= rounds(200U); ++value) {
    post_data_and_flag(pair, value);
    EXPECT_EQ(pair.here.next_sent().status, IBV_WC_SUCCESS);
    for (std::size_t i = 0; i <= 8; ++i) {
      ASSERT_EQ(pair.there.words[i], value);
    }
  }
}

TEST(FakeVerbsOrder, ASendOrdersRelaxedWrites) {
  FakeVerbs fake;
  SideOptions options;
  options.access |= IBV_ACCESS_RELAXED_ORDERING;
  Pair pair(fake, options);
  for (std::uint64_t value = 1; value <= rounds(200U); ++value) {
    ASSERT_EQ(pair.there.receive(value, 32, 1), 0);
    pair.here.words[0] = value;
    Sending data(pair.here, IBV_WR_RDMA_WRITE);
    Sending send(pair.here, IBV_WR_SEND);
    data.piece(0, 8).at(pair.there, 0).flags(0);
    send.piece(0, 1);
    ASSERT_EQ(data.post({&send}), 0);
    EXPECT_EQ(pair.there.next_received().wr_id, value);
    ASSERT_EQ(pair.there.words[0], value);
    pair.here.next_sent();
  }
}

TEST(FakeVerbsOrder, AnAtomicAndAReadOrderRelaxedWrites) {
  FakeVerbs fake;
  SideOptions options;
  options.access |= IBV_ACCESS_RELAXED_ORDERING;
  Pair pair(fake, options);
  for (std::uint64_t value = 1; value <= rounds(200U); ++value) {
    for (const ibv_wr_opcode opcode : {IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD}) {
      pair.here.words[0] = value;
      Sending data(pair.here, IBV_WR_RDMA_WRITE);
      Sending answer(pair.here, opcode);
      data.piece(0, 1).at(pair.there, 0).flags(0);
      answer.piece(9, 1).at(pair.there, 0);  // adds 0
      ASSERT_EQ(data.post({&answer}), 0);
      EXPECT_EQ(pair.here.next_sent().status, IBV_WC_SUCCESS);
      ASSERT_EQ(pair.here.words[9], value);
    }
  }
}

TEST(FakeVerbsOrder, WithoutAFenceAWriteOvertakesTheAnswerToARead) {
  // A read puts `round` into word 0, a write sends word 0 to word 20.
  const auto count_overtaken = [](unsigned fence) {
    FakeVerbs fake;
    Pair pair(fake);
    int overtaken = 0;
    for (std::uint64_t round = 1; round <= 200; ++round) {
      pair.there.words[10] = round;
      Sending read(pair.here, IBV_WR_RDMA_READ);
      Sending write(pair.here, IBV_WR_RDMA_WRITE);
      read.piece(0, 1).at(pair.there, 10).flags(0);
      write.piece(0, 1).at(pair.there, 20).flags(IBV_SEND_SIGNALED | fence);
      EXPECT_EQ(read.post({&write}), 0);
      pair.here.next_sent();
      overtaken += pair.there.words[20] == round ? 0 : 1;
    }
    return overtaken;
  };
  EXPECT_GT(count_overtaken(0), 0);
  EXPECT_EQ(count_overtaken(IBV_SEND_FENCE), 0);
}

TEST(FakeVerbsOrder, QueuePairsDoNotWaitForEachOther) {
  FakeVerbs fake;
  Pair waiting(fake);
  Pair going(fake);
  ASSERT_EQ(Sending(waiting.here, IBV_WR_SEND).piece(0, 1).post(), 0);  // has no receive
  ASSERT_EQ(Sending(going.here, IBV_WR_RDMA_WRITE).piece(0, 1).at(going.there, 0).post(), 0);
  EXPECT_EQ(going.here.next_sent().status, IBV_WC_SUCCESS);
  EXPECT_FALSE(waiting.here.has_sent());
}

TEST(FakeVerbsOrder, AtomicsOfManyQueuePairsAddUp) {
  FakeVerbs fake;
  Side target(fake, {.device = "fake1"});
  const unsigned iterations = rounds(400U);
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      Pair pair(fake);
      ibv_mr* const region = fake.reg_mr(pair.there.domain.get(), target.words.data(), 8,
                                         IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_ATOMIC);
      for (unsigned iteration = 0; iteration < iterations; ++iteration) {
        EXPECT_EQ(Sending(pair.here, IBV_WR_ATOMIC_FETCH_AND_ADD)
                      .piece(0, 1)
                      .at(reinterpret_cast<std::uint64_t>(target.words.data()), region->rkey)
                      .operands(1)
                      .post(),
                  0);
        EXPECT_EQ(pair.here.next_sent().status, IBV_WC_SUCCESS);
      }
      EXPECT_EQ(fake.dereg_mr(region), 0);
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(read_word(target.words[0]), 3 * iterations);
}

TEST(FakeVerbsOrder, ADeviceMayKeepItsAtomicsWithThoseOfProcessors) {
  auto models = soft_roce_devices(2);
  models[1].attributes.atomic_cap = IBV_ATOMIC_GLOB;
  FakeVerbs fake(models);
  Pair pair(fake);
  const unsigned iterations = rounds(400U);
  std::thread processor([&] {
    for (unsigned iteration = 0; iteration < iterations; ++iteration) {
      std::atomic_ref(pair.there.words[0]).fetch_add(1);
    }
  });
  for (unsigned iteration = 0; iteration < iterations; ++iteration) {
    EXPECT_EQ(Sending(pair.here, IBV_WR_ATOMIC_FETCH_AND_ADD)
                  .piece(0, 1)
                  .at(pair.there, 0)
                  .operands(1)
                  .post(),
              0);
    pair.here.next_sent();
  }
  processor.join();
  EXPECT_EQ(read_word(pair.there.words[0]), 2 * iterations);
}

TEST(FakeVerbsOrder, OnlySignalledRequestsComplete) {
  FakeVerbs fake;
  Pair pair(fake);
  Sending silent(pair.here, IBV_WR_RDMA_WRITE, 1);
  Sending loud(pair.here, IBV_WR_RDMA_WRITE, 2);
  silent.piece(0, 1).at(pair.there, 0).flags(0);
  loud.piece(0, 1).at(pair.there, 0);
  ASSERT_EQ(silent.post({&loud}), 0);
  EXPECT_EQ(pair.here.next_sent().wr_id, 2U);
  EXPECT_FALSE(pair.here.has_sent());
}

TEST(FakeVerbsOrder, WordsDoNotTearWhileTheyAreRead) {
  FakeVerbs fake;
  Pair pair(fake);
  std::atomic<bool> is_over{false};
  std::thread reader([&] {
    while (!is_over) {
      const std::uint64_t word = read_word(pair.there.words[5]);
      EXPECT_EQ(word >> 32, word & UINT32_MAX);
    }
  });
  for (std::uint64_t value = 1; value <= rounds(500U); ++value) {
    for (std::size_t i = 0; i < 16; ++i) {
      pair.here.words[i] = value << 32 | value;
    }
    EXPECT_EQ(Sending(pair.here, IBV_WR_RDMA_WRITE).piece(0, 16).at(pair.there, 0).post(), 0);
    pair.here.next_sent();
  }
  is_over = true;
  reader.join();
}

// --- events

TEST(FakeVerbsEvents, ArriveOnceAfterEachRequest) {
  FakeVerbs fake;
  Pair pair(fake);
  const int fd = pair.here.channel->fd;
  const auto write = [&] {
    EXPECT_EQ(Sending(pair.here, IBV_WR_RDMA_WRITE).piece(0, 1).at(pair.there, 0).post(), 0);
  };
  write();
  pair.here.next_sent();
  EXPECT_FALSE(is_readable(fd)) << "not requested";
  ASSERT_EQ(fake.req_notify_cq(pair.here.sent.get()), 0);
  write();
  ibv_cq* queue = nullptr;
  ASSERT_EQ(fake.get_cq_event(pair.here.channel.get(), queue), 0);
  EXPECT_EQ(queue, pair.here.sent.get());
  pair.here.next_sent();
  write();
  pair.here.next_sent();
  EXPECT_FALSE(is_readable(fd)) << "requested once";
  fake.ack_cq_events(queue, 1);
}

TEST(FakeVerbsEvents, AreNotForEarlierCompletions) {
  FakeVerbs fake;
  Pair pair(fake);
  pair.here.words[0] = 1;
  Sending signalled(pair.here, IBV_WR_RDMA_WRITE);
  Sending silent(pair.here, IBV_WR_RDMA_WRITE);
  signalled.piece(1, 1).at(pair.there, 1);
  silent.piece(0, 1).at(pair.there, 0).flags(0);
  ASSERT_EQ(signalled.post({&silent}), 0);
  ASSERT_TRUE(eventually([&] { return read_word(pair.there.words[0]) == 1; }));
  ASSERT_EQ(fake.req_notify_cq(pair.here.sent.get()), 0);
  EXPECT_FALSE(is_readable(pair.here.channel->fd));
  EXPECT_TRUE(pair.here.has_sent());
}

TEST(FakeVerbsEvents, DoNotBlockNonBlockingCallers) {
  FakeVerbs fake;
  Side side(fake);
  ASSERT_EQ(fcntl(side.channel->fd, F_SETFL, O_NONBLOCK), 0);
  ibv_cq* queue = nullptr;
  EXPECT_EQ(fake.get_cq_event(side.channel.get(), queue), -1);
  EXPECT_EQ(errno, EAGAIN);
}

TEST(FakeVerbsEvents, WakeWaiters) {
  FakeVerbs fake;
  Pair pair(fake);
  ASSERT_EQ(fake.req_notify_cq(pair.there.received.get()), 0);
  std::thread waiter([&] {
    ibv_cq* queue = nullptr;
    EXPECT_EQ(fake.get_cq_event(pair.there.channel.get(), queue), 0);
    EXPECT_EQ(queue, pair.there.received.get());
    fake.ack_cq_events(queue, 1);
  });
  ASSERT_EQ(pair.there.receive(1, 0, 1), 0);
  ASSERT_EQ(Sending(pair.here, IBV_WR_SEND).piece(0, 1).post(), 0);
  waiter.join();
}

TEST(FakeVerbsEvents, AreAcknowledgedBeforeTheirQueueIsDestroyed) {
  FakeVerbs fake;
  {
    Pair pair(fake);
    ASSERT_EQ(fake.req_notify_cq(pair.here.sent.get()), 0);
    ASSERT_EQ(Sending(pair.here, IBV_WR_RDMA_WRITE).piece(0, 1).at(pair.there, 0).post(), 0);
    ibv_cq* queue = nullptr;
    ASSERT_EQ(fake.get_cq_event(pair.here.channel.get(), queue), 0);
    pair.here.queue.reset();
    EXPECT_EQ(fake.destroy_cq(queue), EBUSY);
    EXPECT_EQ(fake.misuses().back(), "destroy_cq: events were not acknowledged");
    fake.ack_cq_events(queue, 1);
    fake.break_queue_pair(pair.there.queue->qp_num);
    ibv_async_event event{};
    ASSERT_EQ(fake.get_async_event(pair.there.device.get(), event), 0);
    EXPECT_EQ(fake.destroy_qp(pair.there.queue.get()), EBUSY);
    EXPECT_EQ(fake.misuses().back(), "destroy_qp: events were not acknowledged");
    fake.ack_async_event(event);
  }
  EXPECT_EQ(fake.live(), FakeVerbs::Live{});
}

}  // namespace
}  // namespace tessera::rma::test
