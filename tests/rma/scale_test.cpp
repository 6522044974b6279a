// SPDX-License-Identifier: BSD-3-Clause
//
// The memory that a process needs for the ranks and nodes of its job, for those that it
// communicates with, and for those that connect to its node. The tests make the real objects for a
// job of ten thousand nodes and measure the heap. The bounds here are those of the table in
// docs/tuning.md.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "rma/engine/address_table.hpp"
#include "rma/engine/counter_store.hpp"
#include "rma/engine/node_map.hpp"
#include "rma/engine/team/team_nodes.hpp"
#include "rma/node/node_memory.hpp"
#include "rma/server/client/client.hpp"
#include "rma/server/client/endpoint.hpp"
#include "rma/server/client/shutdown_notices.hpp"
#include "tests/rma/server_rig.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/heap.h"

namespace tessera::rma::server {
namespace {

using test::ok;

constexpr std::size_t many = 10'000;

// Signed, since differences may be negative.
std::int64_t heap_bytes() {
  return static_cast<std::int64_t>(::heap_bytes());
}

// The resident memory of this process in bytes.
std::int64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::int64_t all = 0;
  std::int64_t resident = 0;
  statm >> all >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

class Scale : public testing::Test {
 protected:
  void SetUp() override {
#ifdef TESSERA_SANITIZED
    GTEST_SKIP() << "a sanitizer needs memory in addition to the program's";
#endif
  }

  // Prints the bytes per object of `count`, and fails if that is more than `most`.
  static void expect_each(const char* what, std::int64_t bytes, std::size_t count, double most) {
    const double each = static_cast<double>(bytes) / static_cast<double>(count);
    std::printf("%-28s %9.1f bytes each, of %zu (bound: %.0f)\n", what, each, count, most);
    RecordProperty(what, std::to_string(each));
    EXPECT_LE(each, most) << what;
  }
};

// The node of each rank.
std::vector<std::uint64_t> nodes_of_ranks(std::size_t ranks_each) {
  std::vector<std::uint64_t> keys(ranks_each * many);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    keys[i] = i / ranks_each + 1;
  }
  return keys;
}

// --- data about all nodes: O(nodes), or O(members) of a team ------------------------------------

TEST_F(Scale, ANodeMapCostsLittleForEachNode) {
  const auto keys = nodes_of_ranks(1);
  const std::int64_t before = heap_bytes();
  const detail::NodeMap map(keys, 0);
  const std::int64_t after = heap_bytes();
  ASSERT_EQ(map.count(), static_cast<std::int32_t>(many));
  expect_each("node_map_a_node", after - before, many, 24);
}

TEST_F(Scale, ANodeMapCostsNothingForMoreRanksOfANode) {
  const auto keys = nodes_of_ranks(64);
  const std::int64_t before = heap_bytes();
  const detail::NodeMap map(keys, 0);
  const std::int64_t after = heap_bytes();
  ASSERT_EQ(map.count(), static_cast<std::int32_t>(many));
  expect_each("node_map_a_node_of_64_ranks", after - before, many, 24);
}

TEST_F(Scale, ATeamCostsLittleForEachMember) {
  const detail::NodeMap map(nodes_of_ranks(1), 0);
  std::vector<WorldRank> members;
  for (std::size_t i = 0; i < many; ++i) {
    members.push_back(WorldRank{static_cast<std::int32_t>(i)});
  }
  const std::int64_t before = heap_bytes();
  const detail::TeamNodes nodes(members, map, WorldRank{7});
  const std::int64_t after = heap_bytes();
  ASSERT_EQ(nodes.count(), static_cast<std::int32_t>(many));
  expect_each("team_nodes_a_member", after - before, many, 128);
  EXPECT_LE(nodes.partners().size(), 28U) << "a leader has at most about 2 log2(nodes) partners";
}

TEST_F(Scale, ShutdownNoticesCostLittleForEachNode) {
  const detail::NodeMap map(nodes_of_ranks(1), 0);
  const auto memory = detail::rig_memory(1);
  const std::shared_ptr<detail::Node> node = detail::rig_node(memory, 0, true);
  ASSERT_TRUE(ok(ShutdownNotices::publish(*node, map)));
  const auto published = detail::Directory(node->arena(), node->lock_context())
                             .find(shutdown_notice_memory, WorldRank{0});
  ASSERT_TRUE(published.has_value());
  const std::int64_t before = heap_bytes();
  const auto shutdown_notices = ShutdownNotices::find(node, map);
  const std::int64_t after = heap_bytes();
  ASSERT_TRUE(ok(shutdown_notices));
  expect_each("farewells_a_node", after - before, many, 32);
  expect_each("farewells_in_node_memory", static_cast<std::int64_t>(published->bytes), many, 9);
}

TEST_F(Scale, ARemoteRankTableTakesNoMemoryBeforeItsFirstUse) {
  const auto memory = detail::rig_memory(8);
  const auto node = detail::rig_node(memory, 0, true);
  const std::int64_t before = resident_bytes();
  ASSERT_TRUE(ok(node->make_remote_rank_tables(many)));
  // The pages would take 65 bytes per rank: a word for each of the eight local ranks, and a byte.
  expect_each("guest_book_a_rank", resident_bytes() - before, many, 16);
}

TEST_F(Scale, AClientCostsLittleForEachNodeThatItNeverContacts) {
  ClientOptions options;
  options.rank = origin;
  options.secret = new_secret().value();
  options.agents.resize(many);
  options.agent_hosts.resize(many);
  const std::int64_t of_options = static_cast<std::int64_t>(
      many * (sizeof(options.agents.front()) + sizeof(options.agent_hosts.front())));
  const std::int64_t before = heap_bytes() - of_options;
  const Client client(std::move(options));
  expect_each("client_a_node", heap_bytes() - before, many, 128);
}

// --- raw pointers: the cost of addresses for a region's slices on other nodes ------------------

TEST_F(Scale, RawPointersCostAWordForEachGranuleOfTheSlices) {
  constexpr std::uint64_t slice = 1U << 20U;
  constexpr std::uint64_t granules = many * slice / detail::granule_bytes;
  const auto memory = detail::rig_memory(1);
  const auto node = detail::rig_node(memory, 0, true);
  const auto table = detail::AddressTable::create(node->arena().at(0), 1U << 30U);
  ASSERT_TRUE(ok(table));
  const std::int64_t heap_before = heap_bytes();
  const std::int64_t before = resident_bytes();
  const auto base = (*table)->reserve_foreign(many * slice, RegionId{3});
  ASSERT_TRUE(ok(base));
  EXPECT_EQ((*table)->find(*base + many * slice - 1), RegionId{3});
  expect_each("raw_pointers_a_granule", resident_bytes() - before, granules, 5);
  expect_each("raw_pointers_on_the_heap", heap_bytes() - heap_before, 1, 1024);
}

// --- data about active peers: O(active peers) ----------------------------------------------------

TEST_F(Scale, CountsTakeMemoryOnlyForRanksThatWereAccessed) {
  detail::CounterStore store;
  const std::int64_t before = heap_bytes();
  for (std::size_t i = 0; i < many; ++i) {
    store.add(WorldRank{static_cast<std::int32_t>(i)}, RegionId{1}, Op::get,
              {.operations = 1, .bytes = 8});
  }
  expect_each("counts_a_touched_rank", heap_bytes() - before, many, 192);
}

// The number of connections that this process has descriptors for, at two each.
std::size_t connections_possible() {
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = std::max(files.rlim_cur, std::min<rlim_t>(files.rlim_max, 1200));
  setrlimit(RLIMIT_NOFILE, &files);
  return std::min<std::size_t>(500, files.rlim_cur / 2 - 50);
}

// Links of many clients to one agent, all in this process, so that the heap has both sides.
class ScaleOfConnections : public Scale {
 protected:
  void connect_all() {
    const std::int64_t before = heap_bytes();
    for (std::size_t i = 0; i < count_; ++i) {
      RawPeer peer(node_.address());
      ASSERT_TRUE(ok(peer.authenticate(node_.secret(), origin)));
      channels_.push_back(peer.take_channel());
    }
    at_agent_ = heap_bytes() - before;
  }
  void make_links() {
    const std::int64_t before = heap_bytes();
    for (auto& channel : channels_) {
      connections_.push_back(
          std::make_unique<ClientConnection>(client_, NodeId{0}, std::move(channel)));
    }
    at_client_ = heap_bytes() - before;
  }
  // Starts an operation on each link, one after the other, and waits for it. Returns the growth of
  // the heap in bytes.
  template <class Start>
  std::int64_t on_each(const Start& start) {
    const std::int64_t before = heap_bytes();
    for (const auto& connection : connections_) {
      ServerEndpoint endpoint(*connection, origin, owner);
      Completion done;
      done.begin();
      EXPECT_TRUE(ok(start(endpoint, done)));
      EXPECT_TRUE(test::eventually([&] {
        connection->progress();
        return done.done();
      }));
      EXPECT_TRUE(ok(done.take_error()));
    }
    return heap_bytes() - before;
  }
  std::int64_t get_on_each(const CopyShape& shape) {
    return on_each([&](Endpoint& endpoint, Completion& done) {
      return endpoint.get(here_.data(), there, shape, done);
    });
  }
  std::int64_t put_on_each(const CopyShape& shape) {
    return on_each([&](Endpoint& endpoint, Completion& done) {
      done.begin();
      TESSERA_RETURN_IF_ERROR(endpoint.put(there, here_.data(), shape, done));
      return endpoint.start_fence(done);
    });
  }
  // A client's SendQueue copies frames that may wait for others.
  std::int64_t put_in_bursts_on_each() {
    return on_each([&](Endpoint& endpoint, Completion& done) {
      for (int puts = 0; puts < 20; ++puts) {
        done.begin();
        TESSERA_RETURN_IF_ERROR(
            endpoint.put(there, here_.data(), CopyShape::contiguous(16 * 1024), done));
      }
      return endpoint.start_fence(done);
    });
  }
  // The agent's SendQueue copies its replies in the same way.
  std::int64_t get_in_bursts_on_each() {
    return on_each([&](Endpoint& endpoint, Completion& done) {
      for (int gets = 0; gets < 19; ++gets) {
        done.begin();
        TESSERA_RETURN_IF_ERROR(
            endpoint.get(here_.data(), there, CopyShape::contiguous(16 * 1024), done));
      }
      return endpoint.get(here_.data(), there, CopyShape::contiguous(16 * 1024), done);
    });
  }
  static constexpr Target there{.rank = TeamRank{1}, .offset = 0, .region = region};

  const std::size_t count_ = connections_possible();
  std::vector<std::byte> here_ = std::vector<std::byte>(1U << 20U);
  ServedNode node_;
  Client client_{options_for(node_)};
  std::vector<std::unique_ptr<Channel>> channels_;
  std::vector<std::unique_ptr<ClientConnection>> connections_;
  std::int64_t at_agent_ = 0;
  std::int64_t at_client_ = 0;
};

TEST_F(ScaleOfConnections, CostABufferOnEachSideAndKeepWhatWasPacked) {
  connect_all();
  make_links();
  expect_each("agent_a_connected_peer", at_agent_, count_, 2 * 1024);
  expect_each("client_a_connected_node", at_client_, count_, 20 * 1024);
  expect_each("both_after_a_word", get_on_each(CopyShape::contiguous(8)), count_, 2 * 1024);
  expect_each("both_after_1_MiB_in_place", get_on_each(CopyShape::contiguous(1U << 20U)), count_,
              2 * 1024);
  expect_each("client_after_a_burst", put_in_bursts_on_each(), count_, 86 * 1024);
  expect_each("agent_after_a_burst", get_in_bursts_on_each(), count_, 90 * 1024);
  // 256 KiB of short rows: the buffer that they are unpacked from is kept for the next transfer.
  const CopyShape rows = CopyShape::rows(64, 4096, 64, 128);
  constexpr double packed = 256 * 1024 + 1024;
  expect_each("client_after_256_KiB_packed", get_on_each(rows), count_, packed);
  expect_each("agent_after_256_KiB_packed", put_on_each(rows), count_, packed);
}

TEST_F(ScaleOfConnections, AnEndpointIsSmall) {
  connect_all();
  make_links();
  std::vector<std::unique_ptr<Endpoint>> endpoints(many);
  const std::int64_t before = heap_bytes();
  for (std::size_t i = 0; i < many; ++i) {
    endpoints[i] = std::make_unique<ServerEndpoint>(*connections_[i % connections_.size()], origin,
                                                    WorldRank{static_cast<std::int32_t>(i)});
  }
  expect_each("endpoint_a_rank", heap_bytes() - before, many, 64);
}

}  // namespace
}  // namespace tessera::rma::server
