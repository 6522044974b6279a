// SPDX-License-Identifier: BSD-3-Clause
//
// How a node that leaves tells all others: many nodes of one rank in one process, with a real agent
// and a real client each.
#include "rma/server/farewells.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <numeric>
#include <vector>

#include "rma/server/agent.hpp"
#include "tests/rma/node_rig.hpp"
#include "tests/rma/server_rig.hpp"
#include "tests/support/checks.hpp"

namespace tessera::rma::server {
namespace {

using test::ok;

constexpr std::chrono::seconds patience{10};

std::vector<std::uint64_t> one_rank_a_node(std::int32_t nodes) {
  std::vector<std::uint64_t> keys(static_cast<std::size_t>(nodes));
  std::iota(keys.begin(), keys.end(), 1);
  return keys;
}

// What a node of one rank has between start and stop.
struct LoneRank {
  std::shared_ptr<detail::NodeMemory> memory = detail::rig_memory(1, 64ULL << 20);
  std::shared_ptr<detail::Node> node;
  std::shared_ptr<Farewells> farewells;
  std::unique_ptr<Client> client;
  std::unique_ptr<Agent> agent;
  TcpAddress address;

  void leave() {
    node->leave();
    farewells->say(*client, patience);
    client->close();
    agent->wait_until_alone();
  }
};

class FarewellsOf : public testing::Test {
 protected:
  void start(std::int32_t nodes) {
    map_ = std::make_unique<detail::NodeMap>(one_rank_a_node(nodes), 0);
    ranks_.resize(static_cast<std::size_t>(nodes));
    for (std::int32_t number = 0; number < nodes; ++number) {
      start_agent(number);
    }
    for (std::int32_t number = 0; number < nodes; ++number) {
      start_client(number);
    }
  }
  LoneRank& at(std::int32_t number) { return ranks_[static_cast<std::size_t>(number)]; }
  [[nodiscard]] std::int32_t count() const { return map_->count(); }

  void expect_left(std::int32_t witness, std::int32_t goner) {
    EXPECT_TRUE(at(witness).farewells->has_left(NodeId{goner})) << witness << " of " << goner;
    EXPECT_EQ(at(witness).farewells->fate_of(WorldRank{goner}), detail::Fate::left);
  }

 private:
  void start_agent(std::int32_t number) {
    LoneRank& one = at(number);
    one.node = std::make_shared<detail::Node>(
        one.memory, std::vector<WorldRank>{WorldRank{number}}, 0, true,
        detail::WaitPolicy{.spin = std::chrono::nanoseconds(200),
                           .look_period = detail::rig_look_period});
    ASSERT_TRUE(ok(one.node->enter()));
    ASSERT_TRUE(ok(Farewells::publish(*one.node, *map_)));
    one.farewells = Farewells::find(one.node, *map_).value();
    auto listener = TcpListener::create({loopback_host, 0}).value();
    one.address = listener.address();
    one.agent = Agent::create(one.node, std::move(listener),
                              {.secret = secret_,
                               .job = job_number,
                               .ranks = count(),
                               .node = NodeId{number},
                               .warn = [](const std::string& line) { ADD_FAILURE() << line; }})
                    .value();
  }
  void start_client(std::int32_t number) {
    LoneRank& one = at(number);
    ClientOptions options;
    options.rank = WorldRank{number};
    options.job = job_number;
    options.secret = secret_;
    for (const LoneRank& other : ranks_) {
      options.agents.push_back(other.address);
    }
    for (std::int32_t node = 0; node < count(); ++node) {
      options.carriers.push_back(WorldRank{node});
    }
    options.has_left = [farewells = one.farewells](NodeId node) {
      return farewells->has_left(node);
    };
    options.stray_error = [](const Status& error) { ADD_FAILURE() << error.describe(); };
    one.client = std::make_unique<Client>(std::move(options));
  }

  Secret secret_ = new_secret().value();
  std::unique_ptr<detail::NodeMap> map_;
  std::vector<LoneRank> ranks_;
};

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

// Allows this process so many descriptors more than it has, for a scope.
class FewDescriptors {
 public:
  explicit FewDescriptors(std::size_t more) {
    EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &before_), 0);
    rlimit few = before_;
    few.rlim_cur = open_descriptors() + more;
    EXPECT_LE(few.rlim_cur, before_.rlim_cur);
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  }
  ~FewDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }
  FewDescriptors(const FewDescriptors&) = delete;
  FewDescriptors& operator=(const FewDescriptors&) = delete;

 private:
  rlimit before_{};
};

// Links to all at once would take two descriptors each here, where both ends are.
TEST_F(FarewellsOf, OneOfManyNodesNeedFewDescriptors) {
  start(60);
  const std::size_t before = open_descriptors();
  {
    const FewDescriptors limit(45);
    at(7).leave();
  }
  for (std::int32_t witness = 0; witness < count(); ++witness) {
    if (witness != 7) {
      expect_left(witness, 7);
    }
  }
  EXPECT_TRUE(test::eventually([&] { return open_descriptors() <= before; }))
      << "links were kept that only the farewell needed";
}

TEST_F(FarewellsOf, SevenNodesThatLeaveOneAfterTheOtherReachAllThatAreLeft) {
  start(7);
  for (std::int32_t goner = 0; goner < count(); ++goner) {
    at(goner).leave();
    at(goner).agent.reset();  // nobody can ask it any more
    for (std::int32_t witness = goner + 1; witness < count(); ++witness) {
      for (std::int32_t gone = 0; gone <= goner; ++gone) {
        expect_left(witness, gone);
      }
    }
  }
}

TEST_F(FarewellsOf, SevenNodesThatLeaveAtOnceWaitForNobodyForEver) {
  start(7);
  std::vector<std::thread> leaving;
  for (std::int32_t goner = 0; goner < count(); ++goner) {
    leaving.emplace_back([this, goner] { at(goner).leave(); });
  }
  for (std::thread& each : leaving) {
    each.join();
  }
  // Of two nodes that leave, at least one was there to be told.
  for (std::int32_t one = 0; one < count(); ++one) {
    for (std::int32_t other = 0; other < one; ++other) {
      EXPECT_TRUE(at(one).farewells->has_left(NodeId{other}) ||
                  at(other).farewells->has_left(NodeId{one}))
          << one << ", " << other;
    }
  }
}

// The conversation for the farewell is one of its own; those that are there stay as they are.
TEST_F(FarewellsOf, ANodeWithALinkGoOverThat) {
  start(5);
  ASSERT_TRUE(ok(at(1).client->link_to(NodeId{3})));
  Link* const link = at(1).client->made_link(NodeId{3});
  ASSERT_NE(link, nullptr);
  at(1).leave();
  EXPECT_EQ(at(1).client->made_link(NodeId{3}), link);
  EXPECT_EQ(at(1).client->made_link(NodeId{2}), nullptr);
  for (const std::int32_t witness : {0, 2, 3, 4}) {
    expect_left(witness, 1);
  }
}

// Who first asks for a node that has left, and had nothing to do with it before, learns it.
TEST_F(FarewellsOf, ANodeReachThoseThatAskForItLate) {
  start(7);
  at(3).leave();
  at(3).agent.reset();
  for (const std::int32_t late : {0, 1, 2, 4, 5, 6}) {
    EXPECT_TRUE(test::fails(at(late).client->link_to(NodeId{3}), Code::closed,
                            {"node 3: it has left the job"}));
  }
}

TEST_F(FarewellsOf, ANodeReachTheLivingAmongTheDead) {
  start(7);
  for (const std::int32_t dead : {2, 3, 5}) {
    at(dead).agent.reset();  // without a word
  }
  at(1).leave();
  for (const std::int32_t witness : {0, 4, 6}) {
    expect_left(witness, 1);
  }
  EXPECT_TRUE(test::fails(at(0).client->link_to(NodeId{2}), Code::peer_lost, {"node 2 is lost"}));
}

}  // namespace
}  // namespace tessera::rma::server
