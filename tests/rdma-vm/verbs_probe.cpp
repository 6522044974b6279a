// SPDX-License-Identifier: BSD-3-Clause
//
// Checks rma/transport/verbs/ with the real libibverbs and a real device: all requests between
// two queue pairs of this process.
//
//   tests/rdma-vm/run -- build-vm/tests/bin/verbs_probe
//
// Ends with the line "N passed, N failed". Exits with 77 if there is no RDMA device.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <vector>

#include "rma/transport/verbs/device.hpp"
#include "rma/transport/verbs/queue_pair.hpp"

namespace tessera::rma::verbs {
namespace {

constexpr std::size_t half_bytes = std::size_t{256} * 1024;
constexpr std::uint32_t depth = 32;
constexpr std::uint32_t pieces = 5;
constexpr std::uint32_t receives = 8;
constexpr std::size_t message_bytes = 1024;
constexpr std::chrono::seconds time_limit{20};

std::uint64_t number_of(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address);
}

// The memory of both ends: `here` of the first queue pair, `there` of the second.
struct Memory {
  std::vector<std::uint64_t> words = std::vector<std::uint64_t>(2 * half_bytes / 8);
  [[nodiscard]] std::byte* here() { return reinterpret_cast<std::byte*>(words.data()); }
  [[nodiscard]] std::byte* there() { return here() + half_bytes; }
};

class Probe : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = Device::open(real_library(), {});
    ASSERT_TRUE(opened.ok()) << opened.status().describe();
    device_ = *opened;
    library_ = device_->library();
    region_ = OwnedRegion(library_,
                          library_->reg_mr(device_->domain(), memory_.here(), 2 * half_bytes,
                                           IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                                               IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC));
    ASSERT_TRUE(region_);
    channel_ = OwnedChannel(library_, library_->create_comp_channel(device_->context()));
    ASSERT_TRUE(channel_);
    sent_ = OwnedCompletions(library_,
                             library_->create_cq(device_->context(), 2 * depth, channel_.get()));
    received_ =
        OwnedCompletions(library_, library_->create_cq(device_->context(), 2 * depth, nullptr));
    ASSERT_TRUE(sent_ && received_);
    ibv_srq_init_attr shared{};
    shared.attr.max_wr = receives;
    shared.attr.max_sge = 1;
    receives_ = OwnedReceiveQueue(library_, library_->create_srq(device_->domain(), shared));
    ASSERT_TRUE(receives_);
    connect_both();
  }

  void connect_both() {
    const QueuePairOptions options{.send_completions = sent_.get(),
                                   .receive_completions = received_.get(),
                                   .receives = receives_.get(),
                                   .depth = depth,
                                   .send_sge = pieces,
                                   .inline_bytes = device_->limits().max_inline};
    for (std::size_t i = 0; i < 2; ++i) {
      auto pair = QueuePair::create(device_, options);
      ASSERT_TRUE(pair.ok()) << pair.status().describe();
      pairs_.push_back(std::move(pair).take());
    }
    for (std::size_t i = 0; i < 2; ++i) {
      // Encoded as between processes.
      const auto other = ConnectionAddress::decode(pairs_[1 - i].address().encode());
      ASSERT_TRUE(other.ok()) << other.status().describe();
      const Status status = pairs_[i].connect(*other);
      ASSERT_TRUE(status.ok()) << status.describe();
    }
  }

  ibv_sge piece(const std::byte* address, std::size_t bytes) const {
    return {.addr = number_of(address),
            .length = static_cast<std::uint32_t>(bytes),
            .lkey = region_->lkey};
  }

  ibv_send_wr request(ibv_wr_opcode opcode, std::span<ibv_sge> list, std::byte* remote) const {
    ibv_send_wr request{};
    request.wr_id = 1;
    request.opcode = opcode;
    request.send_flags = IBV_SEND_SIGNALED;
    request.sg_list = list.data();
    request.num_sge = static_cast<int>(list.size());
    if (opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
      request.wr.atomic.remote_addr = number_of(remote);
      request.wr.atomic.rkey = region_->rkey;
    } else {
      request.wr.rdma.remote_addr = number_of(remote);
      request.wr.rdma.rkey = region_->rkey;
    }
    return request;
  }

  int post(ibv_send_wr& list) {
    ibv_send_wr* bad = nullptr;
    return library_->post_send(pairs_[0].get(), &list, bad);
  }

  // The next completion, or one with an impossible status if none comes.
  ibv_wc next(ibv_cq* queue) {
    const auto deadline = std::chrono::steady_clock::now() + time_limit;
    std::array<ibv_wc, 1> found{};
    while (std::chrono::steady_clock::now() < deadline) {
      if (library_->poll_cq(queue, found) == 1) {
        return found[0];
      }
      sched_yield();
    }
    ADD_FAILURE() << "no completion arrived";
    found[0].status = IBV_WC_GENERAL_ERR;
    return found[0];
  }

  void run(ibv_send_wr& list) {
    ASSERT_EQ(post(list), 0);
    const ibv_wc completion = next(sent_.get());
    ASSERT_EQ(completion.status, IBV_WC_SUCCESS);
  }

  void write_inline(std::size_t count);

  // Waits for the first event of that kind.
  bool comes(EventKind kind) {
    const auto deadline = std::chrono::steady_clock::now() + time_limit;
    while (std::chrono::steady_clock::now() < deadline) {
      for (const DeviceEvent& event : device_->poll_events()) {
        fmt::print("  event: {}\n", event.text);
        if (event.kind == kind) {
          return true;
        }
      }
      sched_yield();
    }
    return false;
  }

  void post_receive(std::uint64_t id, std::byte* to) {
    ibv_sge list = piece(to, message_bytes);
    ibv_recv_wr receive{};
    receive.wr_id = id;
    receive.sg_list = &list;
    receive.num_sge = 1;
    ibv_recv_wr* bad = nullptr;
    ASSERT_EQ(library_->post_srq_recv(receives_.get(), &receive, bad), 0);
  }

  // Bytes that depend on their position.
  void fill(std::byte* from, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) {
      from[i] = static_cast<std::byte>(i * 7 + i / 251 + 1);
    }
  }

  std::shared_ptr<Device> device_;
  std::shared_ptr<VerbsLibrary> library_;
  Memory memory_;
  OwnedRegion region_;
  OwnedChannel channel_;
  OwnedCompletions sent_;
  OwnedCompletions received_;
  OwnedReceiveQueue receives_;
  std::vector<QueuePair> pairs_;
};

TEST_F(Probe, TheDeviceReportsItsLimits) {
  const DeviceLimits& limits = device_->limits();
  fmt::print("  {}\n  message {}, send pieces {}, inline {}, depth {}, completions {}\n",
             device_->describe(), limits.max_message, limits.max_send_sge, limits.max_inline,
             limits.max_queue_depth, limits.max_completions);
  fmt::print("  shared receives {} of {} pieces, reads {} and {}, atomics {}, fork status {}\n",
             limits.max_srq, limits.srq_sge, limits.reads_as_initiator, limits.reads_as_target,
             limits.has_atomics, static_cast<int>(limits.fork));
  fmt::print("  a queue pair for {} requests and {} inline bytes got {} and {}\n", depth,
             limits.max_inline, pairs_[0].capacities().max_send_wr,
             pairs_[0].capacities().max_inline_data);
  EXPECT_GT(limits.max_message, half_bytes);
  EXPECT_GE(limits.max_send_sge, pieces);
  EXPECT_TRUE(limits.has_atomics);
}

TEST_F(Probe, AWriteMovesItsBytes) {
  fill(memory_.here(), half_bytes);
  std::array list{piece(memory_.here(), half_bytes)};
  ibv_send_wr write = request(IBV_WR_RDMA_WRITE, list, memory_.there());
  run(write);
  EXPECT_TRUE(std::equal(memory_.here(), memory_.here() + half_bytes, memory_.there()));
}

// As `count` pieces, from memory that isn't registered.
void Probe::write_inline(std::size_t count) {
  const std::size_t bytes = device_->limits().max_inline / count;
  ASSERT_GT(bytes, 0U);
  std::vector<std::byte> source(count * bytes);
  fill(source.data(), source.size());
  const std::vector<std::byte> expected = source;
  std::vector<ibv_sge> list;
  for (std::size_t i = 0; i < count; ++i) {
    list.push_back(piece(source.data() + i * bytes, bytes));
    list.back().lkey = 0;
  }
  ibv_send_wr write = request(IBV_WR_RDMA_WRITE, list, memory_.there());
  write.send_flags |= IBV_SEND_INLINE;
  ASSERT_EQ(post(write), 0);
  std::fill(source.begin(), source.end(), std::byte{0});
  EXPECT_EQ(next(sent_.get()).status, IBV_WC_SUCCESS);
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), memory_.there()));
}

TEST_F(Probe, TheSourceOfAnInlineWriteMayBeReusedAtOnce) {
  write_inline(1);
}

TEST_F(Probe, AnInlineWriteMayHaveSeveralPieces) {
  write_inline(3);
}

TEST_F(Probe, AWriteGathersSeveralPieces) {
  constexpr std::size_t bytes = 1000;
  fill(memory_.here(), half_bytes);
  std::vector<ibv_sge> list;
  std::vector<std::byte> expected;
  for (std::size_t i = 0; i < pieces; ++i) {
    const std::byte* from = memory_.here() + (pieces - i) * 3000;
    list.push_back(piece(from, bytes + i));
    expected.insert(expected.end(), from, from + bytes + i);
  }
  ibv_send_wr write = request(IBV_WR_RDMA_WRITE, list, memory_.there());
  run(write);
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), memory_.there()));
}

TEST_F(Probe, AReadScattersWhatItGets) {
  constexpr std::size_t bytes = 5000;
  fill(memory_.there(), half_bytes);
  std::array list{piece(memory_.here() + 10'000, bytes), piece(memory_.here(), bytes)};
  ibv_send_wr read = request(IBV_WR_RDMA_READ, list, memory_.there());
  run(read);
  EXPECT_TRUE(std::equal(memory_.there(), memory_.there() + bytes, memory_.here() + 10'000));
  EXPECT_TRUE(std::equal(memory_.there() + bytes, memory_.there() + 2 * bytes, memory_.here()));
}

TEST_F(Probe, MessagesArriveInTheSharedReceiveQueue) {
  post_receive(71, memory_.there());
  post_receive(72, memory_.there() + message_bytes);
  fill(memory_.here(), message_bytes);
  std::array list{piece(memory_.here(), 100)};
  ibv_send_wr plain = request(IBV_WR_SEND, list, nullptr);
  ibv_send_wr with_number = request(IBV_WR_SEND_WITH_IMM, list, nullptr);
  plain.next = &with_number;
  plain.send_flags = 0;
  with_number.imm_data = 0x01020304;
  run(plain);
  const ibv_wc first = next(received_.get());
  EXPECT_EQ(first.wr_id, 71U);
  EXPECT_EQ(first.byte_len, 100U);
  EXPECT_EQ(first.qp_num, pairs_[1].number());
  EXPECT_EQ(first.wc_flags & IBV_WC_WITH_IMM, 0U);
  const ibv_wc second = next(received_.get());
  EXPECT_EQ(second.wr_id, 72U);
  EXPECT_NE(second.wc_flags & IBV_WC_WITH_IMM, 0U);
  EXPECT_EQ(second.imm_data, 0x01020304U);
  EXPECT_TRUE(std::equal(memory_.here(), memory_.here() + 100, memory_.there()));
  EXPECT_TRUE(std::equal(memory_.here(), memory_.here() + 100, memory_.there() + message_bytes));
}

TEST_F(Probe, AtomicsReturnTheOldValue) {
  std::uint64_t& before = memory_.words[0];
  std::uint64_t& target = memory_.words[half_bytes / 8];
  target = 40;
  std::array list{piece(memory_.here(), 8)};
  ibv_send_wr add = request(IBV_WR_ATOMIC_FETCH_AND_ADD, list, memory_.there());
  add.wr.atomic.compare_add = 2;
  run(add);
  EXPECT_EQ(before, 40U);
  EXPECT_EQ(target, 42U);
  ibv_send_wr swap = request(IBV_WR_ATOMIC_CMP_AND_SWP, list, memory_.there());
  swap.wr.atomic.compare_add = 42;
  swap.wr.atomic.swap = 7;
  run(swap);
  EXPECT_EQ(before, 42U);
  EXPECT_EQ(target, 7U);
  run(swap);  // is 7 now, not 42
  EXPECT_EQ(before, 7U);
  EXPECT_EQ(target, 7U);
}

TEST_F(Probe, AListCompletesOnceWhenOnlyItsLastIsSignalled) {
  constexpr std::size_t count = 16;
  fill(memory_.here(), count * 8);
  std::array<ibv_sge, count> list{};
  std::array<ibv_send_wr, count> writes{};
  for (std::size_t i = 0; i < count; ++i) {
    list[i] = piece(memory_.here() + 8 * i, 8);
    writes[i] = request(IBV_WR_RDMA_WRITE, std::span(&list[i], 1), memory_.there() + 8 * i);
    writes[i].wr_id = 100 + i;
    writes[i].send_flags = i + 1 == count ? unsigned{IBV_SEND_SIGNALED} : 0U;
    writes[i].next = i + 1 == count ? nullptr : &writes[i + 1];
  }
  ASSERT_EQ(post(writes[0]), 0);
  EXPECT_EQ(next(sent_.get()).wr_id, 100 + count - 1);
  EXPECT_TRUE(std::equal(memory_.here(), memory_.here() + 8 * count, memory_.there()));
  std::array<ibv_wc, 1> none{};
  EXPECT_EQ(library_->poll_cq(sent_.get(), none), 0);
}

TEST_F(Probe, AWaiterSleepsOnTheChannelUntilACompletion) {
  ASSERT_EQ(library_->req_notify_cq(sent_.get()), 0);
  std::array list{piece(memory_.here(), 8)};
  ibv_send_wr write = request(IBV_WR_RDMA_WRITE, list, memory_.there());
  pollfd wait{.fd = channel_->fd, .events = POLLIN, .revents = 0};
  EXPECT_EQ(poll(&wait, 1, 0), 0);
  ASSERT_EQ(post(write), 0);
  ASSERT_EQ(poll(&wait, 1, 20'000), 1);
  ibv_cq* which = nullptr;
  ASSERT_EQ(library_->get_cq_event(channel_.get(), which), 0);
  EXPECT_EQ(which, sent_.get());
  library_->ack_cq_events(which, 1);
  EXPECT_EQ(next(sent_.get()).status, IBV_WC_SUCCESS);
}

TEST_F(Probe, AListThatIsTooLongIsRefused) {
  const std::uint32_t count = 4 * pairs_[0].capacities().max_send_wr;
  std::array list{piece(memory_.here(), 8)};
  std::vector<ibv_send_wr> writes(count, request(IBV_WR_RDMA_WRITE, list, memory_.there()));
  for (std::size_t i = 0; i < count; ++i) {
    writes[i].wr_id = i;
    writes[i].send_flags = 0;
    writes[i].next = i + 1 == count ? nullptr : &writes[i + 1];
  }
  ibv_send_wr* bad = nullptr;
  const int error = library_->post_send(pairs_[0].get(), writes.data(), bad);
  ASSERT_NE(bad, nullptr);
  fmt::print("  from request {} of {} on\n", bad->wr_id, count);
  EXPECT_EQ(error, ENOMEM);
  ibv_send_wr last = request(IBV_WR_RDMA_WRITE, list, memory_.there());
  last.wr_id = count;
  const auto deadline = std::chrono::steady_clock::now() + time_limit;
  while (post(last) != 0 && std::chrono::steady_clock::now() < deadline) {
    sched_yield();
  }
  EXPECT_EQ(next(sent_.get()).wr_id, count);
}

TEST_F(Probe, AListMayMixAllKindsOfRequests) {
  fill(memory_.here(), 300);
  std::array whole{piece(memory_.here(), 100)};
  std::array parts{piece(memory_.here() + 100, 60), piece(memory_.here() + 160, 40)};
  std::array word{piece(memory_.here() + half_bytes / 2, 8)};
  ibv_send_wr first = request(IBV_WR_RDMA_WRITE, whole, memory_.there());
  ibv_send_wr second = request(IBV_WR_RDMA_WRITE, parts, memory_.there() + 100);
  ibv_send_wr nothing = request(IBV_WR_RDMA_WRITE, {}, memory_.there());
  ibv_send_wr add = request(IBV_WR_ATOMIC_FETCH_AND_ADD, word, memory_.there() + 4096);
  first.next = &second;
  second.next = &nothing;
  nothing.next = &add;
  first.send_flags = IBV_SEND_INLINE;
  second.send_flags = 0;
  nothing.send_flags = 0;
  add.wr.atomic.compare_add = 5;
  run(first);
  EXPECT_TRUE(std::equal(memory_.here(), memory_.here() + 200, memory_.there()));
  EXPECT_EQ(memory_.words[(half_bytes + 4096) / 8], 5U);
}

TEST_F(Probe, AnEmptyRequestIsAccepted) {
  ibv_send_wr nothing = request(IBV_WR_RDMA_WRITE, {}, memory_.there());
  run(nothing);
}

TEST_F(Probe, ATargetWithoutReceivesIsRetriedForALimitedTime) {
  std::array list{piece(memory_.here(), 8)};
  ibv_send_wr send = request(IBV_WR_SEND, list, nullptr);
  ASSERT_EQ(post(send), 0);
  EXPECT_EQ(next(sent_.get()).status, IBV_WC_RNR_RETRY_EXC_ERR);
}

TEST_F(Probe, AForeignKeyBreaksTheConnection) {
  std::array list{piece(memory_.here(), 8)};
  ibv_send_wr write = request(IBV_WR_RDMA_WRITE, list, memory_.there());
  write.wr.rdma.rkey ^= 0x5a5a;
  ASSERT_EQ(post(write), 0);
  const ibv_wc completion = next(sent_.get());
  EXPECT_EQ(completion.status, IBV_WC_REM_ACCESS_ERR);
}

TEST_F(Probe, WhatIsPostedToAQueuePairInErrorIsFlushed) {
  const Status status = pairs_[0].to_error();
  ASSERT_TRUE(status.ok()) << status.describe();
  std::array list{piece(memory_.here(), 8)};
  ibv_send_wr write = request(IBV_WR_RDMA_WRITE, list, memory_.there());
  ASSERT_EQ(post(write), 0);
  EXPECT_EQ(next(sent_.get()).status, IBV_WC_WR_FLUSH_ERR);
}

TEST_F(Probe, ASharedReceiveQueueReportsThatItIsLow) {
  post_receive(1, memory_.there());
  post_receive(2, memory_.there());
  ibv_srq_attr limit{};
  limit.srq_limit = 2;
  ASSERT_EQ(library_->modify_srq(receives_.get(), limit, IBV_SRQ_LIMIT), 0);
  std::array list{piece(memory_.here(), 8)};
  ibv_send_wr send = request(IBV_WR_SEND, list, nullptr);
  run(send);
  EXPECT_TRUE(comes(EventKind::low_on_receives));
}

}  // namespace
}  // namespace tessera::rma::verbs

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (tessera::rma::verbs::real_library()->device_names().empty()) {
    fmt::print("SKIPPED: there is no RDMA device\n");
    constexpr int skipped = 77;
    return skipped;
  }
  const int result = RUN_ALL_TESTS();
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  fmt::print("{} passed, {} failed\n", all.successful_test_count(), all.failed_test_count());
  return result;
}
