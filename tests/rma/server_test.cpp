// SPDX-License-Identifier: BSD-3-Clause
//
// Agent, client and endpoint together over real sockets: a node of two ranks with an agent, and
// clients for ranks of another node. Transfers are compared with a model of the slice. The tests
// create all objects directly, without a job.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include "rma/kernels/accumulate.hpp"
#include "rma/kernels/copy.hpp"
#include "rma/kernels/walk.hpp"
#include "rma/server/agent/executor.hpp"
#include "rma/server/client/change_tracker.hpp"
#include "rma/server/client/endpoint.hpp"
#include "tests/rma/server_rig.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/random_shape.hpp"

namespace tessera::rma::server {
namespace {

using test::fails;
using test::ok;

class ServerTest : public testing::TestWithParam<PollDuration> {
 protected:
  ServedNode node_{{.stay_awake = GetParam()}};
  Client client_{options_for(node_)};
  ServerEndpoint endpoint_{*client_.links().to(NodeId{0}).value(), origin, owner};

  static Target at(std::uint64_t offset, RegionId id = region) {
    return {.rank = TeamRank{1}, .offset = offset, .region = id};
  }
  // Starts one operation and waits for its completion.
  template <class Start>
  Status finish(Start&& start) {
    Completion done;
    done.begin();
    TESSERA_RETURN_IF_ERROR(start(done));
    while (!done.done()) {
      client_.progress().wait(done, std::chrono::milliseconds(1));
    }
    return done.take_error();
  }
  Status put(std::uint64_t offset, const void* from, const CopyShape& shape, RegionId id = region) {
    return finish(
        [&](Completion& done) { return endpoint_.put(at(offset, id), from, shape, done); });
  }
  Status get(void* to, std::uint64_t offset, const CopyShape& shape, RegionId id = region) {
    return finish([&](Completion& done) { return endpoint_.get(to, at(offset, id), shape, done); });
  }
};

Bytes random_bytes(std::mt19937& random, std::size_t count) {
  std::vector<std::byte> bytes(count);
  std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<std::byte>(random()); });
  return bytes;
}

INSTANTIATE_TEST_SUITE_P(Waiting, ServerTest, testing::ValuesIn(ways_to_wait), name_of_way);

TEST_P(ServerTest, PutsAndGetsOfAllSizesArrive) {
  std::mt19937 random(1);
  for (const std::size_t bytes : {1UL, 3UL, 4UL, 8UL, 9UL, 511UL, 512UL, 4096UL, 65537UL, 262144UL,
                                  262145UL, 1UL << 20, (4UL << 20) + 13}) {
    const auto sent = random_bytes(random, bytes);
    std::vector<std::byte> back(bytes);
    ASSERT_TRUE(ok(put(1000, sent.data(), CopyShape::contiguous(bytes))));
    ASSERT_TRUE(ok(get(back.data(), 1000, CopyShape::contiguous(bytes))));
    EXPECT_TRUE(back == sent) << bytes << " bytes";
    EXPECT_EQ(std::memcmp(node_.slice() + 1000, sent.data(), bytes), 0) << bytes << " bytes";
  }
}

TEST_P(ServerTest, RowsOfAnyLengthArriveAndNothingElseChanges) {
  std::mt19937 random(2);
  for (const std::size_t run : {1UL, 8UL, 16UL, 100UL, 511UL, 512UL, 1024UL, 5000UL}) {
    for (const std::int64_t count : {1L, 2L, 7L, 300L}) {
      const auto local_stride = static_cast<std::int64_t>(run) + 3;
      const auto remote_stride = static_cast<std::int64_t>(run) + 11;
      const CopyShape shape = CopyShape::rows(run, count, local_stride, remote_stride).normalised();
      const auto sent = random_bytes(random, static_cast<std::size_t>(local_stride * count));
      std::vector<std::byte> expected(node_.slice(), node_.slice() + (2UL << 20));
      kernels::copy_shape(const_cast<std::byte*>(sent.data()), expected.data() + 64, shape,
                          kernels::Direction::to_remote);
      ASSERT_TRUE(ok(put(64, sent.data(), shape)));
      ASSERT_TRUE(ok(endpoint_.fence()));
      ASSERT_TRUE(std::equal(expected.begin(), expected.end(), node_.slice()))
          << count << " rows of " << run;
      std::vector<std::byte> back(sent.size(), std::byte{0x55});
      std::vector<std::byte> wanted = back;
      kernels::copy_shape(wanted.data(), expected.data() + 64, shape,
                          kernels::Direction::from_remote);
      ASSERT_TRUE(ok(get(back.data(), 64, shape)));
      EXPECT_TRUE(back == wanted) << count << " rows of " << run;
    }
  }
}

// Fragments of one size and of several sizes; some need more than one request.
std::vector<std::vector<std::size_t>> lists_of_sizes() {
  std::vector<std::vector<std::size_t>> lists{
      {8}, {3, 5, 1}, std::vector<std::size_t>(9000, 8), {8, 300'000, 16, 700'001, 600}};
  lists.emplace_back(3000, 600);
  lists.emplace_back(700, 1000);
  lists.back()[350] = 9;
  return lists;
}

TEST_P(ServerTest, FragmentsOfAnySizesArriveAndNothingElseChanges) {
  std::mt19937 random(4);
  for (const auto& sizes : lists_of_sizes()) {
    const std::size_t total = std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
    auto sent = random_bytes(random, total);
    std::vector<std::byte> back(total);
    std::vector<std::byte> expected(node_.slice(), node_.slice() + slice_bytes);
    std::vector<Fragment> puts;
    std::vector<Fragment> gets;
    std::size_t local = 0;
    std::uint64_t remote = slice_bytes / 2;
    for (const std::size_t bytes : sizes) {
      remote -= bytes + random() % 64;  // backwards, with gaps
      puts.push_back({sent.data() + local, remote, bytes});
      gets.push_back({back.data() + local, remote, bytes});
      std::memcpy(expected.data() + 128 + remote, sent.data() + local, bytes);
      local += bytes;
    }
    ASSERT_TRUE(
        ok(finish([&](Completion& done) { return endpoint_.put_fragments(at(128), puts, done); })));
    ASSERT_TRUE(ok(endpoint_.fence()));
    ASSERT_TRUE(std::equal(expected.begin(), expected.end(), node_.slice())) << sizes.size();
    ASSERT_TRUE(
        ok(finish([&](Completion& done) { return endpoint_.get_fragments(at(128), gets, done); })));
    EXPECT_TRUE(back == sent) << sizes.size();
  }
}

TEST_P(ServerTest, FragmentsAreAddedEachOnItsOwn) {
  std::vector<std::int64_t> ones(10'000, 1);
  std::vector<Fragment> list;
  for (std::size_t i = 0; i < ones.size(); ++i) {
    list.push_back({&ones[i], 8 * (i % 100), 8});
  }
  const Scale twice = Scale::of(std::int64_t{2});
  ASSERT_TRUE(ok(finish(
      [&](Completion& done) { return endpoint_.accumulate_fragments(at(0), list, twice, done); })));
  ASSERT_TRUE(ok(endpoint_.fence()));
  std::vector<std::int64_t> sums(100);
  std::memcpy(sums.data(), node_.slice(), 800);
  EXPECT_EQ(sums, std::vector<std::int64_t>(100, 200));
}

TEST_P(ServerTest, BurstsOfPutsArriveWithoutAWait) {
  std::vector<std::uint64_t> values(1000);
  std::iota(values.begin(), values.end(), 1);
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_TRUE(ok(put(8 * i, &values[i], CopyShape::contiguous(8))));
  }
  const auto& last =
      *reinterpret_cast<std::atomic<std::uint64_t>*>(node_.slice() + 8 * std::ptrdiff_t{999});
  EXPECT_TRUE(detail::eventually([&] { return last.load() == values.back(); }));
  ASSERT_TRUE(ok(endpoint_.fence()));  // the local bytes may be read only after the fence
  EXPECT_EQ(std::memcmp(node_.slice(), values.data(), 8000), 0);
}

TEST_P(ServerTest, AccumulatesAreExact) {
  std::vector<double> values(100'000, 1.5);
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(ok(finish([&](Completion& done) {
      return endpoint_.accumulate(at(16), values.data(), CopyShape::contiguous(800'000),
                                  Scale::of(2.0), done);
    })));
    const CopyShape rows = CopyShape::rows(16, 1000, 16, 32);
    ASSERT_TRUE(ok(finish([&](Completion& done) {
      return endpoint_.accumulate(at(16), values.data(), rows, Scale::of(1.0), done);
    })));
  }
  ASSERT_TRUE(ok(endpoint_.fence()));
  const auto* const sums = reinterpret_cast<const double*>(node_.slice() + 16);
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(sums[i], i < 4000 && i % 4 < 2 ? 13.5 : 9.0) << i;
  }
}

TEST_P(ServerTest, ReadModifyWritesReturnTheWordFromBefore) {
  for (const RegionId id : {region, strict_region}) {
    for (const int bytes : {4, 8}) {
      std::int64_t previous = -1;
      const auto atomic = [&](AtomicRequest::Kind kind, std::int64_t operand,
                              std::int64_t expected) {
        const AtomicRequest request{kind, bytes, operand, expected, &previous};
        return finish(
            [&](Completion& done) { return endpoint_.atomic(at(64, id), request, done); });
      };
      std::memset(node_.slice() + (id == region ? 0 : slice_bytes) + 64, 0, 8);
      ASSERT_TRUE(ok(atomic(AtomicRequest::Kind::fetch_add, -5, 0)));
      EXPECT_EQ(previous, 0);
      ASSERT_TRUE(ok(atomic(AtomicRequest::Kind::swap, 9, 0)));
      EXPECT_EQ(previous, -5) << "sign-extended from " << bytes;
      ASSERT_TRUE(ok(atomic(AtomicRequest::Kind::compare_swap, 7, 8)));
      EXPECT_EQ(previous, 9);
      ASSERT_TRUE(ok(atomic(AtomicRequest::Kind::compare_swap, 7, 9)));
      ASSERT_TRUE(ok(atomic(AtomicRequest::Kind::fetch_add, 0, 0)));
      EXPECT_EQ(previous, 7);
    }
  }
  std::int64_t previous = 0;
  const AtomicRequest odd{AtomicRequest::Kind::fetch_add, 8, 1, 0, &previous};
  EXPECT_TRUE(fails(finish([&](Completion& done) { return endpoint_.atomic(at(61), odd, done); }),
                    Code::invalid_argument, {"8-byte word at offset 61"}));
}

TEST_P(ServerTest, ReadModifyWritesThatAreForADeviceAreRefused) {
  for (const int bytes : {4, 8}) {
    std::int64_t previous = -1;
    const AtomicRequest one{AtomicRequest::Kind::fetch_add, bytes, 1, 0, &previous};
    EXPECT_TRUE(fails(finish([&](Completion& done) {
                        return endpoint_.atomic(at(64, device_region), one, done);
                      }),
                      Code::unsupported, {"by this node's device only", "has no path to it"}));
    EXPECT_EQ(previous, -1);
    EXPECT_TRUE(fails(endpoint_.atomic_by_device(at(64, device_region), one), Code::unsupported,
                      {"no RDMA device reaches the peer's memory"}));
  }
  const double value = 1.5;
  ASSERT_TRUE(ok(put(64, &value, CopyShape::contiguous(8), device_region)));
  ASSERT_TRUE(ok(endpoint_.fence()));
  EXPECT_EQ(*reinterpret_cast<const double*>(node_.slice() + slice_bytes + 64), value);
}

TEST_P(ServerTest, OperationsOfOneThreadTakeEffectInTheirOrder) {
  std::vector<std::byte> large(300'000);
  for (int round = 0; round < 30; ++round) {
    std::memset(large.data(), round, large.size());
    ASSERT_TRUE(ok(put(0, large.data(), CopyShape::contiguous(large.size()))));
    const std::int64_t word = round;
    ASSERT_TRUE(ok(put(1024, &word, CopyShape::contiguous(8))));
    std::int64_t back = -1;
    ASSERT_TRUE(ok(get(&back, 1024, CopyShape::contiguous(8))));
    EXPECT_EQ(back, word);
    std::byte last{};
    ASSERT_TRUE(ok(get(&last, large.size() - 1, CopyShape::contiguous(1))));
    EXPECT_EQ(static_cast<int>(last), round);
  }
}

TEST_P(ServerTest, ManyMayBeOutstandingAndAreCompletedWithoutAWait) {
  std::vector<std::int64_t> sent(20'000);
  std::iota(sent.begin(), sent.end(), 1);
  ASSERT_TRUE(ok(put(0, sent.data(), CopyShape::contiguous(sent.size() * 8))));
  std::vector<std::int64_t> back(sent.size());
  Completion done;
  for (std::size_t i = 0; i < sent.size(); ++i) {
    done.begin();
    ASSERT_TRUE(ok(endpoint_.get(&back[i], at(8 * i), CopyShape::contiguous(8), done)));
  }
  client_.progress().wake_if_away();
  EXPECT_TRUE(done.wait_for(detail::rig_time_limit)) << "the progress thread does not move them";
  EXPECT_TRUE(ok(done.take_error()));
  EXPECT_TRUE(back == sent);
}

TEST_P(ServerTest, ManyThreadsMaySendRequestsAtOnce) {
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      const std::uint64_t offset = static_cast<std::uint64_t>(thread) * 100'000;
      for (int round = 0; round < 50; ++round) {
        const std::vector<int> sent(20'000, thread * 1000 + round);
        std::vector<int> back(sent.size());
        ASSERT_TRUE(ok(put(offset, sent.data(), CopyShape::contiguous(sent.size() * 4))));
        ASSERT_TRUE(ok(get(back.data(), offset, CopyShape::contiguous(sent.size() * 4))));
        ASSERT_TRUE(back == sent);
        std::int64_t previous = 0;
        const AtomicRequest one{AtomicRequest::Kind::fetch_add, 8, 1, 0, &previous};
        ASSERT_TRUE(ok(
            finish([&](Completion& done) { return endpoint_.atomic(at(1U << 20U), one, done); })));
      }
    });
  }
  for (std::thread& each : threads) {
    each.join();
  }
  std::int64_t count = 0;
  ASSERT_TRUE(ok(get(&count, 1U << 20U, CopyShape::contiguous(8))));
  EXPECT_EQ(count, 200);
}

TEST_P(ServerTest, AFenceCoversTheChangedRegionsAndRanksOnly) {
  ServerEndpoint another(*client_.links().to(NodeId{0}).value(), origin, WorldRank{0});
  const std::uint64_t value = 7;
  ASSERT_TRUE(ok(put(8, &value, CopyShape::contiguous(8), strict_region)));
  EXPECT_FALSE(endpoint_.is_fenced(strict_region));
  EXPECT_FALSE(endpoint_.is_fenced(any_region));
  EXPECT_TRUE(endpoint_.is_fenced(region));
  EXPECT_TRUE(another.is_fenced(any_region)) << "the rank is on the same node";
  std::uint64_t back = 0;
  ASSERT_TRUE(ok(get(&back, 8, CopyShape::contiguous(8), strict_region)));
  EXPECT_FALSE(endpoint_.is_fenced(strict_region)) << "no fence was requested yet";
  ASSERT_TRUE(ok(endpoint_.fence()));
  EXPECT_TRUE(endpoint_.is_fenced(strict_region));
  EXPECT_TRUE(endpoint_.is_fenced(any_region));
}

TEST(ChangeTracker, AreCoveredByAFenceBehindThem) {
  ChangeTracker changes;
  std::mt19937 random(5);
  // The last change of each pair of rank and region, without collisions of entries.
  std::map<std::pair<int, std::uint32_t>, std::uint64_t> last;
  std::uint64_t fenced = 0;
  for (int step = 0; step < 10'000; ++step) {
    const WorldRank rank{static_cast<int>(random() % 20)};
    const RegionId id{static_cast<std::uint32_t>(1 + random() % 40)};
    if (random() % 50 == 0) {
      fenced = changes.count() - random() % (changes.count() - fenced + 1);
      changes.record_fenced(fenced);
      changes.record_fenced(fenced / 2);  // a late reply
    } else {
      changes.record(rank, id);
      last[{rank.value, id.value}] = changes.count();
    }
    for (const auto& [pair, number] : last) {
      if (number > fenced) {
        ASSERT_FALSE(changes.is_fenced(WorldRank{pair.first}, RegionId{pair.second}));
        ASSERT_FALSE(changes.is_fenced(WorldRank{pair.first}, any_region));
      }
    }
  }
  changes.record_fenced(changes.count());
  for (const auto& [pair, number] : last) {
    EXPECT_TRUE(changes.is_fenced(WorldRank{pair.first}, RegionId{pair.second}));
    EXPECT_TRUE(changes.is_fenced(WorldRank{pair.first}, any_region));
  }
}

TEST_P(ServerTest, ATransferOutsideIsRefusedAndTheConnectionStaysOpen) {
  std::vector<std::byte> bytes(1000);
  std::int64_t previous = 0;
  const AtomicRequest one{AtomicRequest::Kind::fetch_add, 8, 1, 0, &previous};
  EXPECT_TRUE(fails(get(bytes.data(), slice_bytes - 999, CopyShape::contiguous(1000)),
                    Code::out_of_range,
                    {"get of bytes [8387609, 8388609) at rank 1", "region 5 has 8388608"}));
  EXPECT_TRUE(fails(get(bytes.data(), 100, CopyShape::rows(10, 20, 10, -10)), Code::out_of_range,
                    {"get of bytes [-90, 110)"}));
  EXPECT_TRUE(fails(get(bytes.data(), 0, CopyShape::contiguous(8), RegionId{99}), Code::closed,
                    {"rank 1 has no slice of region 99"}));
  EXPECT_TRUE(
      fails(finish([&](Completion& done) { return endpoint_.atomic(at(slice_bytes), one, done); }),
            Code::out_of_range));
  EXPECT_TRUE(ok(get(bytes.data(), 0, CopyShape::contiguous(1000))));
}

// Ranks that know the mode never send such requests. This protects against ranks that do not know
// it.
TEST_P(ServerTest, WhatASlicesModeForbidsIsRefused) {
  std::vector<std::string> errors;
  std::mutex mutex;
  ClientOptions options = options_for(node_, WorldRank{2});
  options.stray_error = [&](const Status& error) {
    const std::lock_guard guard(mutex);
    errors.push_back(error.message());
  };
  Client client(std::move(options));
  ServerEndpoint endpoint(*client.links().to(NodeId{0}).value(), WorldRank{2}, owner);
  const std::vector<std::byte> bytes(2000, std::byte{1});
  std::int64_t previous = -1;
  const AtomicRequest one{AtomicRequest::Kind::fetch_add, 8, 1, 0, &previous};
  Completion done;
  node_.set_mode(AccessMode::read_only);
  for (const std::size_t size : {8U, 2000U}) {
    done.begin();
    ASSERT_TRUE(ok(endpoint.put(at(64), bytes.data(), CopyShape::contiguous(size), done)));
  }
  done.begin();
  ASSERT_TRUE(ok(endpoint.accumulate(at(64), bytes.data(), CopyShape::contiguous(16),
                                     Scale::of(std::int64_t{1}), done)));
  ASSERT_TRUE(ok(endpoint.fence()));
  ASSERT_EQ(errors.size(), 3U);
  EXPECT_NE(errors[0].find("put on rank 1's slice of region 5, whose access mode is read_only"),
            std::string::npos)
      << errors[0];
  EXPECT_NE(errors[2].find("accumulate on rank 1's slice of region 5"), std::string::npos)
      << errors[2];
  EXPECT_TRUE(fails(finish([&](Completion& end) { return endpoint_.atomic(at(64), one, end); }),
                    Code::invalid_argument, {"whose access mode is read_only"}));
  EXPECT_TRUE(std::all_of(node_.slice(), node_.slice() + 4096,
                          [](std::byte each) { return each == std::byte{0}; }));
  std::vector<std::byte> back(2000);
  EXPECT_TRUE(ok(get(back.data(), 0, CopyShape::contiguous(2000))));
  node_.set_mode(AccessMode::accumulate_only);
  EXPECT_TRUE(fails(get(back.data(), 0, CopyShape::contiguous(2000)), Code::invalid_argument,
                    {"get on rank 1's slice of region 5, whose access mode is accumulate_only"}));
  node_.set_mode(AccessMode::any);
  EXPECT_TRUE(ok(put(64, bytes.data(), CopyShape::contiguous(2000))));
}

TEST_P(ServerTest, ARefusedPutIsReportedAfterItAndChangesNothing) {
  std::vector<std::string> errors;
  std::mutex mutex;
  ClientOptions options = options_for(node_, WorldRank{2});
  options.stray_error = [&](const Status& error) {
    const std::lock_guard guard(mutex);
    errors.push_back(error.message());
  };
  Client client(std::move(options));
  ServerEndpoint endpoint(*client.links().to(NodeId{0}).value(), WorldRank{2}, owner);
  const std::vector<std::byte> bytes(2000, std::byte{1});
  Completion done;
  done.begin();
  ASSERT_TRUE(
      ok(endpoint.put(at(slice_bytes - 100), bytes.data(), CopyShape::contiguous(2000), done)));
  ASSERT_TRUE(ok(endpoint.fence()));
  ASSERT_EQ(errors.size(), 1U) << "a fence completes after all refusals before it";
  EXPECT_NE(errors[0].find("put of bytes [8388508, 8390508)"), std::string::npos) << errors[0];
  EXPECT_EQ(node_.slice()[slice_bytes - 1], std::byte{0});
}

// Sends requests for the locks of a node, as ranks of other nodes do.
class LockClient {
 public:
  LockClient(const ServedNode& node, WorldRank rank)
      : rank_(rank),
        client_(options_for(node, rank)),
        connection_(*client_.links().to(NodeId{0}).value()) {}

  // Sends the request without waiting; result() waits.
  void ask(std::uint64_t offset, RegionId memory = lock_memory) {
    done_.begin();
    PendingReply pending;
    pending.done = &done_;
    pending.word = &word_;
    EXPECT_TRUE(ok(connection_.ask(request(Kind::lock, offset, memory), {}, std::move(pending))));
  }
  [[nodiscard]] bool has_answer() {
    client_.progress().advance();
    return done_.done();
  }
  Result<detail::LockOutcome> result() {
    connection_.wait(done_);
    TESSERA_RETURN_IF_ERROR(done_.take_error());
    return lock_outcome(static_cast<std::uint64_t>(word_));
  }
  Status unlock(std::uint64_t offset) {
    Completion done;
    done.begin();
    FrameHeader header = request(Kind::unlock, offset, lock_memory);
    header.flags = flags::wants_answer;
    PendingReply pending;
    pending.done = &done;
    TESSERA_RETURN_IF_ERROR(connection_.ask(header, {}, std::move(pending)));
    connection_.wait(done);
    return done.take_error();
  }
  void send_bye() { client_.close(); }

 private:
  [[nodiscard]] FrameHeader request(Kind kind, std::uint64_t offset, RegionId memory) const {
    return {
        .kind = kind, .origin = rank_, .target = WorldRank{0}, .region = memory, .offset = offset};
  }

  WorldRank rank_;
  Client client_;
  ClientConnection& connection_;
  Completion done_;
  std::int64_t word_ = 0;
};

TEST_P(ServerTest, LocksAreGrantedInOrderToRanksOfThisAndOtherNodes) {
  LockClient first(node_, WorldRank{2});
  LockClient second(node_, WorldRank{3});
  int dead = -1;
  ASSERT_EQ(node_.lock(1).lock(node_.node(), dead), detail::QueueLock::Outcome::acquired);
  first.ask(0);
  EXPECT_TRUE(first.result()->is_acquired);
  EXPECT_TRUE(ok(first.unlock(0)));
  first.ask(lock_bytes);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  second.ask(lock_bytes);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(first.has_answer());
  EXPECT_TRUE(node_.lock(1).unlock(node_.node()));
  EXPECT_TRUE(first.result()->is_acquired);
  EXPECT_FALSE(second.has_answer());
  EXPECT_TRUE(fails(second.unlock(lock_bytes), Code::invalid_argument,
                    {"rank 3 unlocked a lock of rank 0's node that it does not hold"}));
  EXPECT_TRUE(ok(first.unlock(lock_bytes)));
  EXPECT_TRUE(second.result()->is_acquired);
}

TEST_P(ServerTest, TheLockOfARankWhoseConnectionEndedPassesOn) {
  for (const bool in_good_order : {false, true}) {
    ServedNode node({.stay_awake = GetParam()});
    auto holder = std::make_unique<LockClient>(node, WorldRank{2});
    holder->ask(0);
    ASSERT_TRUE(holder->result()->is_acquired);
    LockClient next(node, WorldRank{3});
    next.ask(0);
    if (in_good_order) {
      holder->send_bye();
    }
    holder.reset();
    const auto outcome = next.result();
    ASSERT_TRUE(ok(outcome));
    EXPECT_FALSE(outcome->is_acquired);
    EXPECT_EQ(outcome->holder, WorldRank{2});
    EXPECT_EQ(outcome->holder_left, in_good_order);
    next.ask(0);
    EXPECT_TRUE(next.result()->is_acquired);
  }
}

TEST_P(ServerTest, InvalidLocksAreRefused) {
  LockClient client(node_, WorldRank{2});
  client.ask(8);
  EXPECT_TRUE(fails(client.result(), Code::out_of_range, {"there is no lock at 8 of memory 7"}));
  client.ask(lock_count * lock_bytes);
  EXPECT_TRUE(fails(client.result(), Code::out_of_range, {"there is no lock at"}));
  client.ask(0, region);
  EXPECT_TRUE(fails(client.result(), Code::closed, {"the locks were freed"}));
  // Locks are not a region either.
  ServerEndpoint to_first(*client_.links().to(NodeId{0}).value(), origin, WorldRank{0});
  std::uint64_t value = 1;
  EXPECT_TRUE(fails(finish([&](Completion& done) {
                      return to_first.get(&value, at(0, lock_memory), CopyShape::contiguous(8),
                                          done);
                    }),
                    Code::closed, {"memory 7 of rank 0's node is not a region"}));
  client.ask(0);
  EXPECT_TRUE(client.result()->is_acquired);
}

TEST_P(ServerTest, AnAgentThatEndsNotifiesAllWaiters) {
  std::vector<std::byte> bytes(1000);
  ASSERT_TRUE(ok(get(bytes.data(), 0, CopyShape::contiguous(1000))));
  node_.stop_agent();
  Status lost;
  for (int i = 0; i < 1000 && lost.ok(); ++i) {
    lost = get(bytes.data(), 0, CopyShape::contiguous(1000));
  }
  EXPECT_TRUE(fails(lost, Code::closed, {"node 0", "has left the job"}));
  EXPECT_TRUE(fails(put(0, bytes.data(), CopyShape::contiguous(8)), Code::closed));
  EXPECT_EQ(client_.links().to(NodeId{0}).value()->is_lost(), true);
}

// --- inaccessible memory ----------------------------------------------------------------------

// Three megabytes; only the first is accessible.
class HalfABuffer {
 public:
  static constexpr std::size_t bytes = 3U << 20U;
  HalfABuffer()
      : start_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    mprotect(static_cast<std::byte*>(start_) + (bytes / 3), bytes - bytes / 3, PROT_NONE);
  }
  ~HalfABuffer() { munmap(start_, bytes); }
  HalfABuffer(const HalfABuffer&) = delete;
  HalfABuffer& operator=(const HalfABuffer&) = delete;
  [[nodiscard]] void* start() const { return start_; }

 private:
  void* start_;
};

// The stream ends inside a frame, so the link is lost. The agent does not wait for this client any
// longer.
TEST_P(ServerTest, ABadLocalBufferEndsItsOperationAndTheConnection) {
  const HalfABuffer half;
  constexpr WorldRank rank{2};
  const CopyShape shape = CopyShape::contiguous(HalfABuffer::bytes);
  for (const bool is_put : {false, true}) {
    Client client(options_for(node_, rank));
    ClientConnection* const connection = client.links().to(NodeId{0}).value();
    ServerEndpoint endpoint(*connection, rank, owner);
    Completion done;
    done.begin();
    Status status = is_put ? endpoint.put(at(0), half.start(), shape, done)
                           : endpoint.get(half.start(), at(0), shape, done);
    ASSERT_TRUE(ok(status));
    ASSERT_TRUE(
        test::eventually([&] { return client.progress().wait(done, std::chrono::milliseconds(1)); },
                         detail::rig_time_limit));
    status = done.take_error();
    EXPECT_TRUE(fails(status, Code::invalid_argument, {"the local buffer of an operation"}));
    EXPECT_FALSE(status.rank().has_value());
    EXPECT_TRUE(connection->is_lost());
    client.close();
    EXPECT_TRUE(
        test::eventually([&] { return node_.node().is_gone(node_.node().remote_rank_slot(rank)); },
                         detail::rig_time_limit));
  }
  client_.close();
  node_.agent().wait_for_peers_to_close();
}

// Another process may have the dead process's number by now. Here it is the number of the test's
// own process.
TEST(AttachedMemory, OfADeadRankIsNotReadFromAnotherProcess) {
  const auto memory = detail::rig_memory(2);
  const auto node = detail::rig_node(memory, 0, false);
  detail::ForkedRank rank([&] { detail::rig_node(memory, 1, false); });
  ASSERT_EQ(rank.wait(), 0);
  std::array<std::uint64_t, 8> innocent{};
  const detail::DirectorySlice slice{.owner = WorldRank{1},
                                     .process = getpid(),
                                     .location = reinterpret_cast<std::uintptr_t>(innocent.data()),
                                     .bytes = sizeof innocent};
  detail::Directory directory(node->arena(), node->lock_context());
  ASSERT_TRUE(ok(directory.insert(region, std::span(&slice, 1))));
  const Executor executor(*node);
  const FrameHeader header{
      .kind = Kind::put, .origin = origin, .target = WorldRank{1}, .region = region};
  for (const std::size_t bytes : {8U, 64U}) {
    const Pattern pattern = CopyShape::contiguous(bytes);
    Bytes packed(bytes, std::byte{0x55});
    const auto found = executor.find(header, pattern);
    ASSERT_TRUE(ok(found));
    EXPECT_TRUE(fails(executor.put(*found, pattern, packed.data()), Code::peer_lost,
                      {"rank 1 died, and the memory that it attached with it"}));
    EXPECT_TRUE(fails(executor.get(*found, pattern, packed.data()), Code::peer_lost));
    EXPECT_EQ(packed, Bytes(bytes, std::byte{0x55}));
  }
  EXPECT_EQ(innocent, (std::array<std::uint64_t, 8>{}));
}

// --- unauthenticated peers --------------------------------------------------------------------

TEST(ServerUnauthenticatedPeers, AClientOfAnotherJobReceivesTheReason) {
  ServedNode node;
  ClientOptions foreign = options_for(node);
  foreign.secret = new_secret().value();
  Client client(std::move(foreign));
  EXPECT_TRUE(fails(client.links().to(NodeId{0}), Code::protocol, {"secret"}));
  ClientOptions other = options_for(node);
  other.job = job_number + 1;
  Client late(std::move(other));
  EXPECT_TRUE(fails(late.links().to(NodeId{0}), Code::protocol, {"job"}));
  // The first client closed the connection itself, since the agent has another secret.
  const auto warnings = node.warnings(2);
  ASSERT_EQ(warnings.size(), 2U);
  EXPECT_NE(warnings[0].find("in the middle of its handshake"), std::string::npos) << warnings[0];
  EXPECT_NE(warnings[1].find("a client of job"), std::string::npos) << warnings[1];
}

// Sends `bytes` and waits until the agent closes the connection.
void send_and_be_dropped(TcpAddress address, std::span<const std::byte> bytes) {
  auto channel = connect_tcp(address, std::chrono::seconds(5)).value();
  const iovec piece{const_cast<std::byte*>(bytes.data()), bytes.size()};
  ASSERT_TRUE(channel->send(std::span(&piece, 1)).ok());
  std::array<std::byte, 512> answer;
  const iovec room{answer.data(), answer.size()};
  const auto deadline = std::chrono::steady_clock::now() + detail::rig_time_limit;
  while (channel->receive(std::span(&room, 1)).ok()) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline);
    pollfd waiting{.fd = channel->descriptor(), .events = POLLIN, .revents = 0};
    poll(&waiting, 1, 100);
  }
}

TEST(ServerUnauthenticatedPeers, GarbageEndsItsOwnConnectionOnly) {
  ServedNode node;
  Client client(options_for(node));
  ServerEndpoint endpoint(*client.links().to(NodeId{0}).value(), origin, owner);
  const std::string_view http =
      "GET / HTTP/1.1\r\nHost: node\r\n\r\nand some more bytes to be read";
  send_and_be_dropped(node.address(), std::as_bytes(std::span(http)));
  EXPECT_EQ(node.warnings(1).size(), 1U);
  const std::int64_t word = 3;
  Completion done;
  done.begin();
  EXPECT_TRUE(ok(endpoint.put({.rank = TeamRank{1}, .offset = 0, .region = region}, &word,
                              CopyShape::contiguous(8), done)));
  EXPECT_TRUE(ok(endpoint.fence()));
}

}  // namespace
}  // namespace tessera::rma::server
