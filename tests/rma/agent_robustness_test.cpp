// SPDX-License-Identifier: BSD-3-Clause
//
// An agent survives faulty peers. In each test a peer sends, byte by byte, what no Tessera client
// sends, while another client works. The agent logs what was wrong, reports it to the peer if it
// can, and changes only the memory that the request named. The other client notices nothing.
#include <gtest/gtest.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/resource.h>

#include <atomic>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "tests/rma/agent_rig.hpp"

namespace tessera::rma::server {
namespace {

using test::fails;
using test::ok;

// --- truncated frames -------------------------------------------------------------------------

TEST_F(AgentRobustness, ATruncatedHeaderIsReported) {
  {
    RawPeer peer = authenticated_peer();
    peer.send(first_bytes(frame(request(Kind::fence)), 50));
  }
  expect_warning("rank 2 at 127.0.0.1:",
                 "was lost in the middle of a request, which is not executed"
                 ": the connection with");
}

TEST_F(AgentRobustness, ATruncatedPutOfShortRowsStoresNothing) {
  {
    RawPeer peer = authenticated_peer();
    const Bytes whole =
        frame(request(Kind::put), shape_descriptor(CopyShape::rows(16, 1000, 16, 64)),
              Bytes(16'000, std::byte{1}));
    peer.send(std::span(whole).first(whole.size() - 1));
  }
  expect_warning("rank 2 at 127.0.0.1:", "was lost in the middle of a request");
  expect_slice_unchanged();
}

// Kills a peer when 300,000 bytes of its put of 1 MiB are on their way.
TEST_F(AgentRobustness, APeerKilledInAPutHarmsOnlyWhatItPutTo) {
  constexpr std::uint64_t start = 4096;
  constexpr std::size_t size = 1U << 20U;
  std::array<int, 2> ready{};
  ASSERT_EQ(pipe(ready.data()), 0);
  detail::ForkedRank killed([&] {
    RawPeer peer(node_.address());
    const bool is_in = peer.authenticate(node_.secret(), foreign_rank).ok();
    const Bytes whole = frame(request(Kind::put, start), {}, Bytes(size, std::byte{1}));
    const char mark = is_in && peer.send(std::span(whole).first(300'000)) ? 'y' : 'n';
    static_cast<void>(!write(ready[1], &mark, 1));
    pause();
  });
  char mark = 0;
  ASSERT_EQ(read(ready[0], &mark, 1), 1);
  ASSERT_EQ(mark, 'y');
  killed.end();
  close(ready[0]);
  close(ready[1]);
  expect_warning("rank 2 at 127.0.0.1:",
                 "was lost in the middle of a put to rank 1; some of its "
                 "bytes may have been stored");
  std::memset(node_.slice() + start, 0, size);
  expect_slice_unchanged();
}

TEST_F(AgentRobustness, ATruncatedHandshakeIsReported) {
  { RawPeer(node_.address()).send(std::as_bytes(std::span("TSRH\1\0\1", 7))); }
  expect_warning("127.0.0.1:", "was lost in the middle of its handshake");
}

TEST_F(AgentRobustness, AProbeOfThePortIsNotLogged) {
  { const RawPeer peer(node_.address()); }
  other_client_.expect_served();
  EXPECT_TRUE(node_.warnings(0).empty());
}

// The late bytes must not be stored in memory that has another use by then.
TEST_F(AgentRobustness, APutWhoseRegionIsFreedMeanwhileStoresNothingMore) {
  RawPeer peer = authenticated_peer();
  constexpr std::size_t size = 1U << 20U;
  const Bytes whole = frame(request(Kind::put), {}, Bytes(size, std::byte{1}));
  ASSERT_TRUE(peer.send(std::span(whole).first(size / 2)));
  // After this the agent has read and stored the first half: it has served the other client since
  // then, under the same lock.
  other_client_.expect_served();
  other_client_.expect_served();
  node_.free_region();
  std::memset(node_.slice(), 0, slice_bytes);
  ASSERT_TRUE(peer.send(std::span(whole).subspan(size / 2)));
  EXPECT_TRUE(fails(peer.receive_failure(), Code::closed, {"rank 1 has no slice of region 5"}));
  expect_fence_answered(peer);
  expect_slice_unchanged();
}

TEST_F(AgentRobustness, AnAccumulateWhoseRegionIsFreedMeanwhileAddsNothing) {
  RawPeer peer = authenticated_peer();
  Bytes terms;
  encode_accumulate(Scale::of(1.0), CopyShape::contiguous(8000), terms);
  const Bytes whole = frame(request(Kind::accumulate), terms, Bytes(8000, std::byte{1}));
  ASSERT_TRUE(peer.send(std::span(whole).first(4000)));
  other_client_.expect_served();  // so the agent has read the first half
  node_.free_region();
  ASSERT_TRUE(peer.send(std::span(whole).subspan(4000)));
  EXPECT_TRUE(fails(peer.receive_failure(), Code::closed, {"rank 1 has no slice of region 5"}));
  expect_slice_unchanged();
}

// A delivery of 300,000 bytes after the flag at the beginning of the long mailbox.
class LongDelivery : public AgentRobustness {
 protected:
  static constexpr std::size_t size = 300'000;
  static constexpr std::uint64_t start = 4096 + 8;

  LongDelivery() {
    FrameHeader header = request(Kind::deliver, start, long_mailbox_region);
    header.target = WorldRank{0};
    header.words = {0, 17};
    for (std::size_t i = 0; i < size; ++i) {
      bytes_[i] = static_cast<std::byte>(i * 7 + i / 4096);
    }
    whole_ = frame(header, {}, bytes_);
  }
  // On return the agent has read `some`: it has served the other client since then.
  void send_and_wait(RawPeer& peer, std::span<const std::byte> some) {
    ASSERT_TRUE(peer.send(some));
    other_client_.expect_served();
    other_client_.expect_served();
  }
  [[nodiscard]] std::uint64_t flag() const {
    return reinterpret_cast<std::atomic<std::uint64_t>*>(node_.long_mailbox())->load();
  }
  void expect_zeros(std::size_t from, std::size_t to) const {
    EXPECT_TRUE(std::all_of(node_.long_mailbox() + from, node_.long_mailbox() + to,
                            [](std::byte each) { return each == std::byte{0}; }));
  }

  Bytes bytes_ = Bytes(size);
  Bytes whole_;
};

TEST_F(LongDelivery, RaisesItsFlagWhenAllHasArrived) {
  RawPeer peer = authenticated_peer();
  const std::size_t half = whole_.size() / 2;
  send_and_wait(peer, std::span(whole_).first(half));
  EXPECT_EQ(flag(), 0U);
  send_and_wait(peer, std::span(whole_).subspan(half, half - 1));
  EXPECT_EQ(flag(), 0U);
  ASSERT_TRUE(peer.send(std::span(whole_).last(whole_.size() - (2 * half - 1))));
  ASSERT_TRUE(test::eventually([&] { return flag() == 17; }));
  EXPECT_TRUE(std::equal(bytes_.begin(), bytes_.end(), node_.long_mailbox() + start));
  expect_zeros(8, start);
  expect_zeros(start + size, long_mailbox_bytes);
  expect_fence_answered(peer);
}

TEST_F(LongDelivery, ThatIsTruncatedRaisesNoFlag) {
  {
    RawPeer peer = authenticated_peer();
    ASSERT_TRUE(peer.send(std::span(whole_).first(whole_.size() - 1)));
  }
  expect_warning("rank 2 at 127.0.0.1:",
                 "was lost in the middle of a request, which is not executed");
  EXPECT_EQ(flag(), 0U);
  expect_zeros(start + size, long_mailbox_bytes);
}

TEST_F(LongDelivery, WhoseMailboxIsWithdrawnMeanwhileStoresNothingMore) {
  RawPeer peer = authenticated_peer();
  const std::size_t half = whole_.size() / 2;
  send_and_wait(peer, std::span(whole_).first(half));
  node_.withdraw_long_mailbox();
  std::memset(node_.long_mailbox(), 0, long_mailbox_bytes);
  ASSERT_TRUE(peer.send(std::span(whole_).subspan(half)));
  EXPECT_TRUE(fails(peer.receive_failure(), Code::closed,
                    {"memory 10 is no longer published on this node"}));
  expect_fence_answered(peer);
  expect_zeros(0, long_mailbox_bytes);
}

// --- unauthenticated peers and replayed connections -------------------------------------------

TEST_F(AgentRobustness, AReplayedConnectionIsRefused) {
  Bytes recorded;
  {
    RawPeer peer(node_.address());
    ASSERT_TRUE(ok(peer.authenticate(node_.secret(), foreign_rank, &recorded)));
    const FrameHeader bye{.kind = Kind::bye, .origin = foreign_rank};
    ASSERT_TRUE(peer.send(frame(bye)));
  }
  const Bytes put = frame(request(Kind::put), {}, Bytes(1000, std::byte{1}));
  recorded.insert(recorded.end(), put.begin(), put.end());
  RawPeer again(node_.address());
  ASSERT_TRUE(again.send(recorded));
  Bytes received;
  EXPECT_TRUE(again.is_closed_by_the_other(&received));
  ASSERT_EQ(received.size(), challenge_bytes + refusal_bytes) << "a new challenge, and the refusal";
  EXPECT_EQ(received.back(), std::byte{5}) << "the proof";
  expect_warning("closed the connection with 127.0.0.1:",
                 "a client that says it is rank 2 does not know this job's secret, or replays an "
                 "old connection");
  expect_slice_unchanged();
}

TEST_F(AgentRobustness, AFrameWithoutAHandshakeIsNotParsed) {
  RawPeer peer(node_.address());
  ASSERT_TRUE(peer.send(frame(request(Kind::put), {}, Bytes(1000, std::byte{1}))));
  Bytes received;
  EXPECT_TRUE(peer.is_closed_by_the_other(&received));
  EXPECT_TRUE(received.empty()) << "an unauthenticated peer gets no information";
  expect_warning("closed the connection with 127.0.0.1:",
                 "a connection begins with 'TSRA....', which is not Tessera's handshake");
  expect_slice_unchanged();
}

TEST_F(AgentRobustness, AFrameOfAnotherConnectionIsRefused) {
  RawPeer peer = authenticated_peer(foreign_rank);
  FrameHeader recorded = request(Kind::put);
  recorded.origin = origin;  // the rank that it was recorded from
  ASSERT_TRUE(peer.send(frame(recorded, {}, Bytes(1000, std::byte{1}))));
  EXPECT_TRUE(
      fails(peer.receive_failure(), Code::protocol, {"sent a request in the name of rank 3"}));
  expect_slice_unchanged();
}

TEST_F(AgentRobustness, ARankOfTheAgentsOwnNodeMayOnlyAskForTheAddressOfItsDevice) {
  std::size_t warnings = 0;
  for (const Kind kind : {Kind::put, Kind::get, Kind::deliver, Kind::join, Kind::lock}) {
    RawPeer peer = authenticated_peer(WorldRank{0});
    FrameHeader way = request(Kind::locate);
    way.origin = WorldRank{0};
    ASSERT_TRUE(peer.send(frame(way)));
    EXPECT_TRUE(fails(peer.receive_failure(), Code::unsupported, {"no network other than TCP"}));
    FrameHeader other = request(kind);
    other.origin = WorldRank{0};
    ASSERT_TRUE(peer.send(frame(other)));
    EXPECT_TRUE(fails(peer.receive_failure(), Code::protocol,
                      {"rank 0 at 127.0.0.1:", "to the agent of its own node"}));
    EXPECT_TRUE(peer.is_closed_by_the_other());
    expect_warning("closed the connection with rank 0 at", "its own node", ++warnings);
  }
  expect_slice_unchanged();
}

TEST_F(AgentRobustness, RanksThatTheJobDoesNotHaveAreRefused) {
  for (const std::int32_t rank : {-1, job_ranks}) {
    RawPeer peer(node_.address());
    EXPECT_TRUE(fails(peer.authenticate(node_.secret(), WorldRank{rank}), Code::protocol,
                      {"its job has no such rank"}));
  }
  expect_warning(
      "closed the connection with 127.0.0.1:", "says that it is rank 4 of a job of 4 ranks", 2);
}

TEST_F(AgentRobustness, AClientOfAnotherVersionReceivesTheReason) {
  RawPeer peer(node_.address());
  ASSERT_TRUE(peer.send(std::as_bytes(std::span("TSRH\2\0\1\0", 8))));
  Bytes received;
  EXPECT_TRUE(peer.is_closed_by_the_other(&received));
  ASSERT_EQ(received.size(), refusal_bytes);
  EXPECT_EQ(received.back(), std::byte{1});
  expect_warning("closed the connection with 127.0.0.1:",
                 "the other side's handshake has version 2; this library's has 1");
}

TEST_F(AgentRobustness, ListensOnItsOwnAddressOnly) {
  const TcpAddress beside{loopback_host + 1, node_.address().port};
  EXPECT_TRUE(fails(connect_tcp(beside, std::chrono::seconds(10)), Code::peer_lost,
                    {"cannot connect to 127.0.0.2:", "Connection refused"}));
}

// --- peers that send nothing, or read nothing -------------------------------------------------

class SilentUnauthenticatedPeer : public testing::TestWithParam<PollDuration> {};

TEST_P(SilentUnauthenticatedPeer, IsDisconnected) {
  ServedNode node(
      {.stay_awake = GetParam(), .authentication_timeout = std::chrono::milliseconds(500)});
  OtherClient other_client(node);
  RawPeer silent(node.address());
  RawPeer hesitant(node.address());
  ASSERT_TRUE(hesitant.send(std::as_bytes(std::span("TSRH", 4))));
  EXPECT_TRUE(silent.is_closed_by_the_other());
  EXPECT_TRUE(hesitant.is_closed_by_the_other());
  const auto warnings = node.warnings(2);
  ASSERT_EQ(warnings.size(), 2U);
  for (const std::string& each : warnings) {
    EXPECT_TRUE(each.ends_with("did not complete the handshake within 500 ms and was disconnected"))
        << each;
  }
  other_client.expect_served();
}

INSTANTIATE_TEST_SUITE_P(Waiting, SilentUnauthenticatedPeer, testing::ValuesIn(ways_to_wait),
                         name_of_way);

TEST_F(AgentRobustness, UnauthenticatedPeersAreLimitedInNumber) {
  other_client_.expect_served();  // so it has completed its handshake
  std::vector<RawPeer> silent;
  for (int i = 0; i < 70; ++i) {
    silent.emplace_back(node_.address());
  }
  expect_warning("127.0.0.1:",
                 "was disconnected: 65 connections have not completed the handshake; the limit "
                 "is 64",
                 6);
  EXPECT_TRUE(silent.front().is_closed_by_the_other())
      << "the peer that has been silent longest is disconnected first";
  RawPeer peer = authenticated_peer();
  expect_fence_answered(peer);
}

// Any process can open any number of connections. The log names the first few, and then a count.
TEST(ManyUnauthenticatedPeers, AreCountedInTheLogAfterTheFirstFew) {
  constexpr int lines = 3;
  constexpr int connections = 50;
  ServedNode node({.peer_log_limits = {.lines = lines}});
  for (int i = 0; i < connections; ++i) {
    RawPeer foreign_rank(node.address());
    ASSERT_TRUE(foreign_rank.send(Bytes(100, std::byte{'x'})));
    EXPECT_TRUE(foreign_rank.is_closed_by_the_other());
  }
  node.stop_agent();  // which logs the count
  const std::vector<std::string> warnings = node.warnings(lines + 1);
  ASSERT_GE(warnings.size(), lines + 1U);
  for (int i = 0; i < lines; ++i) {
    EXPECT_NE(warnings[static_cast<std::size_t>(i)].find("which is not Tessera's handshake"),
              std::string::npos)
        << warnings[static_cast<std::size_t>(i)];
  }
  int counted = 0;
  for (std::size_t i = lines; i < warnings.size(); ++i) {
    EXPECT_TRUE(warnings[i].ends_with(
        " more connections ended without proving that they belong to this job"))
        << warnings[i];
    counted += std::stoi(warnings[i]);
  }
  EXPECT_EQ(counted, connections - lines);
  EXPECT_LE(warnings.size(), lines + 20U);
}

// The rank's program needs descriptors for its own files.
TEST(ManyUnauthenticatedPeers, LeaveMostDescriptorsToTheProgram) {
  constexpr rlim_t few = 256;
  constexpr int part = 8;
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit low{.rlim_cur = few, .rlim_max = before.rlim_max};
  ServedNode node;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  std::vector<RawPeer> silent;
  for (int i = 0; i < 60; ++i) {
    silent.emplace_back(node.address());
  }
  const auto closed = [&] {
    return std::count_if(silent.begin(), silent.end(), [](RawPeer& each) {
      char byte = 0;
      return recv(each.descriptor(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
    });
  };
  EXPECT_TRUE(test::eventually([&] { return closed() >= 60 - static_cast<int>(few) / part; }));
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
}

TEST(AgentThatEnds, WaitsForItsPeersAndNotForUnauthenticatedOnes) {
  ServedNode node;
  const RawPeer silent(node.address());
  std::atomic<bool> has_left{false};
  std::thread peer([&] {
    OtherClient other_client(node);
    other_client.expect_served();
    has_left = true;
    other_client.end();
  });
  ASSERT_TRUE(test::eventually([&] { return has_left.load(); }));
  node.agent().wait_for_peers_to_close();
  peer.join();
}

long resident_mib() {
  std::ifstream file("/proc/self/statm");
  long size = 0;
  long resident = 0;
  file >> size >> resident;
  return resident * sysconf(_SC_PAGESIZE) >> 20;
}

// Requests 4 GB, a megabyte per request, before it reads anything.
TEST_F(AgentRobustness, APeerThatDoesNotReadCostsLittleMemory) {
  constexpr int requests = 4000;
  constexpr std::size_t rows = 60'000;
  const CopyShape shape = CopyShape::rows(16, rows, 16, 32);
  std::memset(node_.slice(), 0x5a, slice_bytes);
  const long before = resident_mib();
  RawPeer peer = authenticated_peer();
  const Bytes one = frame(request(Kind::get), shape_descriptor(shape));
  for (int i = 0; i < requests; ++i) {
    ASSERT_TRUE(peer.send(one));
  }
  other_client_.expect_served();
  other_client_.expect_served();
  EXPECT_LT(resident_mib() - before, 300);
  // When it reads, it gets all replies completely and in order.
  for (int i = 0; i < 50; ++i) {
    const auto answer = peer.receive_frame();
    ASSERT_TRUE(answer);
    ASSERT_EQ(answer->first.kind, Kind::data);
    ASSERT_EQ(answer->second.size(), shape.total_bytes());
    ASSERT_TRUE(std::all_of(answer->second.begin(), answer->second.end(),
                            [](std::byte each) { return each == std::byte{0x5a}; }));
  }
}

// Requests that wait in the agent's buffer until there is room for replies are not lost.
TEST_F(AgentRobustness, APeerThatReadsLateGetsAllItsAnswers) {
  constexpr std::uint64_t requests = 500;
  RawPeer peer = authenticated_peer();
  for (std::uint64_t i = 0; i < requests; ++i) {
    FrameHeader header = request(Kind::get);
    header.words[1] = 100'000;
    header.operation = i + 1;
    ASSERT_TRUE(peer.send(frame(header)));
  }
  for (std::uint64_t i = 0; i < requests; ++i) {
    const auto answer = peer.receive_frame();
    ASSERT_TRUE(answer);
    ASSERT_EQ(answer->first.operation, i + 1);
    ASSERT_EQ(answer->second.size(), 100'000U);
  }
  expect_fence_answered(peer);
}

// The peer's stream never pauses: the agent must interrupt it to serve the others.
TEST_F(AgentRobustness, APeerThatFloodsDoesNotKeepOthersWaiting) {
  std::atomic<bool> is_over{false};
  std::thread flood([&] {
    RawPeer peer = authenticated_peer();
    Bytes many;
    for (int i = 0; i < 1000; ++i) {
      FrameHeader header = request(Kind::put);
      header.flags = flags::inline_data;
      header.words = {1, 8};
      const Bytes one = frame(header);
      many.insert(many.end(), one.begin(), one.end());
    }
    while (!is_over && peer.send(many)) {
    }
  });
  for (int i = 0; i < 10; ++i) {
    other_client_.expect_served();
  }
  is_over = true;
  flood.join();
}

// --- locks ------------------------------------------------------------------------------------

FrameHeader lock_request(Kind kind) {
  FrameHeader header = request(kind, 0, lock_memory);
  header.target = WorldRank{0};
  header.flags = kind == Kind::unlock ? flags::wants_answer : std::uint8_t{0};
  return header;
}

TEST_F(AgentRobustness, ARankThatWaitsForVeryManyLocksIsRefusedMore) {
  int dead = -1;
  ASSERT_EQ(node_.lock(0).lock(node_.node(), dead), detail::QueueLock::Outcome::acquired);
  RawPeer greedy = authenticated_peer();
  for (int i = 0; i < 1025; ++i) {
    ASSERT_TRUE(greedy.send(frame(lock_request(Kind::lock))));
  }
  EXPECT_TRUE(fails(greedy.receive_failure(), Code::limit_exceeded,
                    {"rank 2 already waits for 1024 locks of rank 0's node, which is the limit"}));
  expect_fence_answered(greedy);
  EXPECT_TRUE(node_.lock(0).unlock(node_.node()));
}

TEST_F(AgentRobustness, GarbageInTheNameOfARankDoesNotReleaseItsLocks) {
  RawPeer holder = authenticated_peer();
  ASSERT_TRUE(holder.send(frame(lock_request(Kind::lock))));
  ASSERT_TRUE(holder.receive_frame());
  {
    RawPeer other = authenticated_peer();
    ASSERT_TRUE(other.send(Bytes(200, std::byte{'x'})));
    EXPECT_TRUE(other.is_closed_by_the_other());
  }
  ASSERT_TRUE(holder.send(frame(lock_request(Kind::unlock))));
  const auto done = holder.receive_frame();
  ASSERT_TRUE(done);
  EXPECT_EQ(done->first.kind, Kind::done) << "it no longer holds the lock";
}

// The handshake's last bytes, a request for a lock and the closing frame arrive in one segment: the
// agent processes all three in one step.
TEST_F(AgentRobustness, ARankThatEndsWithItsFirstRequestKeepsNoLock) {
  const FrameHeader lock = lock_request(Kind::lock);
  for (const Kind last : {Kind::bye, Kind::done}) {
    ServedNode node;
    RawPeer peer(node.address());
    auto side = HandshakeClient::create(
                    node.secret(), {.job = job_number, .origin = lock.origin, .node = NodeId{0}})
                    .value();
    ASSERT_TRUE(peer.send(side.outgoing()));
    side.sent(side.outgoing().size());
    ASSERT_TRUE(ok(side.feed(peer.receive_all(challenge_bytes))));
    Bytes all(side.outgoing().begin(), side.outgoing().end());
    for (const Bytes& next : {frame(lock), frame({.kind = last, .origin = lock.origin})}) {
      all.insert(all.end(), next.begin(), next.end());
    }
    ASSERT_TRUE(peer.send(all));
    EXPECT_TRUE(peer.is_closed_by_the_other());
    int dead = -1;
    std::optional<detail::QueueLock::Outcome> outcome;
    EXPECT_TRUE(test::eventually(
        [&] {
          outcome = node.lock(0).try_lock(node.node(), 0, dead);
          return outcome.has_value();
        },
        detail::rig_time_limit));
    EXPECT_EQ(outcome, detail::QueueLock::Outcome::holder_died);
    EXPECT_EQ(dead, node.node().remote_rank_slot(lock.origin));
    EXPECT_EQ(node.node().has_left(dead), last == Kind::bye);
  }
}

// --- connections whose other end is gone ------------------------------------------------------

int option_of(int fd, int level, int name) {
  int value = -1;
  socklen_t size = sizeof(value);
  getsockopt(fd, level, name, &value, &size);
  return value;
}

TEST(HalfOpen, BothEndsProbeTheOther) {
  auto listener = TcpListener::create({loopback_host, 0}).value();
  const auto outer = connect_tcp(listener.address(), std::chrono::seconds(10)).value();
  std::unique_ptr<Channel> inner;
  ASSERT_TRUE(test::eventually([&] {
    inner = listener.accept().value();
    return inner != nullptr;
  }));
  for (const Channel* each : {outer.get(), inner.get()}) {
    EXPECT_EQ(option_of(each->descriptor(), SOL_SOCKET, SO_KEEPALIVE), 1);
    EXPECT_LE(option_of(each->descriptor(), IPPROTO_TCP, TCP_KEEPIDLE), 5);
    // A user timeout would end connections with live peers that do not read for a while.
    EXPECT_EQ(option_of(each->descriptor(), IPPROTO_TCP, TCP_USER_TIMEOUT), 0);
    EXPECT_TRUE(ok(each->check()));
  }
}

// With TCP_REPAIR a socket closes without sending anything, as when its machine loses power.
TEST_F(AgentRobustness, APeerThatVanishesSilentlyIsDetected) {
  RawPeer peer = authenticated_peer();
  ASSERT_TRUE(peer.send(first_bytes(frame(request(Kind::fence)), 50)));
  const int on = 1;
  if (setsockopt(peer.descriptor(), IPPROTO_TCP, TCP_REPAIR, &on, sizeof(on)) != 0) {
    GTEST_SKIP() << "TCP_REPAIR needs CAP_NET_ADMIN";
  }
  { const RawPeer gone = std::move(peer); }
  expect_warning("rank 2 at 127.0.0.1:", "was lost in the middle of a request");
}

// --- no descriptors ---------------------------------------------------------------------------

rlim_t descriptors_in_use() {
  const int next = dup(0);
  close(next);
  return static_cast<rlim_t>(next);
}

// Runs in a separate process, since the limit applies to a process. The agent serves its connected
// client while it cannot accept another one, and accepts that when a descriptor is free again.
int serve_without_descriptors(const Secret& secret, int to_parent, int from_parent) {
  ServedNode node({.secret = secret});
  OtherClient other_client(node);
  other_client.expect_served();
  const TcpAddress address = node.address();
  const rlim_t before = [] {
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    return limit.rlim_cur;
  }();
  const rlimit none{descriptors_in_use(), before};
  setrlimit(RLIMIT_NOFILE, &none);
  static_cast<void>(!write(to_parent, &address, sizeof(address)));
  const auto warnings = node.warnings(1);
  for (int i = 0; i < 20; ++i) {
    other_client.expect_served();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(warnings.size(), 1U);
  EXPECT_EQ(warnings.front(),
            "node 0 (rank 0): its agent cannot accept a connection until a descriptor is free: "
            "cannot open a socket: "
            "Too many open files (this process may have " +
                std::to_string(none.rlim_cur) +
                ")\n  hint: raise the limit on open files (ulimit -n)");
  EXPECT_EQ(node.warnings(1).size(), 1U) << "logged once, and not at each attempt";
  const rlimit again{before, before};
  setrlimit(RLIMIT_NOFILE, &again);
  char end = 0;
  static_cast<void>(!read(from_parent, &end, 1));
  other_client.expect_served();
  return testing::Test::HasFailure() ? 1 : 0;
}

TEST(Descriptors, ThatAreExhaustedDelayNewPeersAndHarmNoOthers) {
#ifdef TESSERA_SANITIZED
  GTEST_SKIP() << "a sanitizer needs descriptors of its own";
#endif
  const Secret secret = new_secret().value();
  std::array<int, 2> up{};
  std::array<int, 2> down{};
  ASSERT_EQ(pipe(up.data()), 0);
  ASSERT_EQ(pipe(down.data()), 0);
  detail::ForkedRank agent([&] {
    close(up[0]);
    close(down[1]);
    _exit(serve_without_descriptors(secret, up[1], down[0]));
  });
  close(up[1]);
  close(down[0]);
  TcpAddress address;
  ASSERT_EQ(read(up[0], &address, sizeof(address)), static_cast<ssize_t>(sizeof(address)));
  RawPeer peer(address);
  EXPECT_TRUE(ok(peer.authenticate(secret, foreign_rank))) << "it is accepted in the end";
  close(down[1]);
  EXPECT_EQ(agent.wait(), 0);
  close(up[0]);
}

}  // namespace
}  // namespace tessera::rma::server
