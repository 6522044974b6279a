// SPDX-License-Identifier: BSD-3-Clause
//
// Shutdown notices: a node that leaves the job notifies all other nodes.
#include "rma/server/client/shutdown_notices.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "tests/rma/one_rank_nodes.hpp"
#include "tests/support/checks.hpp"

namespace tessera::rma::server {
namespace {

using test::ok;

class ShutdownNoticesOf : public OneRankNodes {
 protected:
  void expect_left(std::int32_t observer, std::int32_t departed) {
    EXPECT_TRUE(at(observer).shutdown_notices->has_left(NodeId{departed}))
        << observer << " of " << departed;
    EXPECT_EQ(at(observer).shutdown_notices->peer_state_of(WorldRank{departed}),
              detail::PeerState::left);
  }
};

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

// Limits this process to `more` descriptors beyond those in use, for a scope.
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

// Links to all nodes at once would need two descriptors each, since both ends are in this process.
TEST_F(ShutdownNoticesOf, OneOfManyNodesNeedFewDescriptors) {
  start(60);
  const std::size_t before = open_descriptors();
  {
    const FewDescriptors limit(45);
    at(7).leave();
  }
  for (std::int32_t observer = 0; observer < count(); ++observer) {
    if (observer != 7) {
      expect_left(observer, 7);
    }
  }
  EXPECT_TRUE(test::eventually([&] { return open_descriptors() <= before; }))
      << "links that only the shutdown notice needed were kept";
}

TEST_F(ShutdownNoticesOf, SevenNodesThatLeaveOneAfterTheOtherReachAllThatAreLeft) {
  start(7);
  for (std::int32_t departed = 0; departed < count(); ++departed) {
    at(departed).leave();
    at(departed).agent.reset();  // the node cannot be queried any longer
    for (std::int32_t observer = departed + 1; observer < count(); ++observer) {
      for (std::int32_t gone = 0; gone <= departed; ++gone) {
        expect_left(observer, gone);
      }
    }
  }
}

TEST_F(ShutdownNoticesOf, SevenNodesThatLeaveAtOnceDoNotWaitForever) {
  start(7);
  std::vector<std::thread> leaving;
  for (std::int32_t departed = 0; departed < count(); ++departed) {
    leaving.emplace_back([this, departed] { at(departed).leave(); });
  }
  for (std::thread& each : leaving) {
    each.join();
  }
  // Of two nodes that leave, at least one was still present to receive the other's notice.
  for (std::int32_t one = 0; one < count(); ++one) {
    for (std::int32_t other = 0; other < one; ++other) {
      EXPECT_TRUE(at(one).shutdown_notices->has_left(NodeId{other}) ||
                  at(other).shutdown_notices->has_left(NodeId{one}))
          << one << ", " << other;
    }
  }
}

// The shutdown notice uses a separate connection; existing links stay as they are.
TEST_F(ShutdownNoticesOf, ANodeWithAConnectionUseIt) {
  start(5);
  ASSERT_TRUE(ok(at(1).client->links().to(NodeId{3})));
  ClientConnection* const connection = at(1).client->links().existing(NodeId{3});
  ASSERT_NE(connection, nullptr);
  at(1).leave();
  EXPECT_EQ(at(1).client->links().existing(NodeId{3}), connection);
  EXPECT_EQ(at(1).client->links().existing(NodeId{2}), nullptr);
  for (const std::int32_t observer : {0, 2, 3, 4}) {
    expect_left(observer, 1);
  }
}

// A rank that first connects to a node after that node has left is informed that it left.
TEST_F(ShutdownNoticesOf, ANodeReachNodesThatConnectLate) {
  start(7);
  at(3).leave();
  at(3).agent.reset();
  for (const std::int32_t late : {0, 1, 2, 4, 5, 6}) {
    EXPECT_TRUE(test::fails(at(late).client->links().to(NodeId{3}), Code::closed,
                            {"node 3: it has left the job"}));
  }
}

TEST_F(ShutdownNoticesOf, ANodeReachTheSurvivors) {
  start(7);
  for (const std::int32_t dead : {2, 3, 5}) {
    at(dead).agent.reset();  // dies without a notice
  }
  at(1).leave();
  for (const std::int32_t observer : {0, 4, 6}) {
    expect_left(observer, 1);
  }
  EXPECT_TRUE(
      test::fails(at(0).client->links().to(NodeId{2}), Code::peer_lost, {"node 2 is lost"}));
}

}  // namespace
}  // namespace tessera::rma::server
