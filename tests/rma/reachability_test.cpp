// SPDX-License-Identifier: BSD-3-Clause
//
// Checks of the connections between nodes before a job starts. Ranks are threads here.
#include "rma/reachability.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <array>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/checks.hpp"

namespace tessera::rma {
namespace {

using namespace std::chrono_literals;

void on_threads(int ranks, const std::function<void(Bootstrap&)>& body) {
  ThreadGroup group(ranks);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] { body(*group.member(WorldRank{rank})); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

// The first IPv4 address of this machine that is not loopback, or "".
std::string first_address() {
  ifaddrs* list = nullptr;
  EXPECT_EQ(getifaddrs(&list), 0);
  std::string first;
  for (const ifaddrs* each = list; each != nullptr && first.empty(); each = each->ifa_next) {
    const bool is_up = (each->ifa_flags & IFF_UP) != 0 && (each->ifa_flags & IFF_LOOPBACK) == 0;
    if (is_up && each->ifa_addr != nullptr && each->ifa_addr->sa_family == AF_INET) {
      sockaddr_in address{};
      std::memcpy(&address, each->ifa_addr, sizeof(address));
      std::array<char, INET_ADDRSTRLEN> text{};
      first = inet_ntop(AF_INET, &address.sin_addr, text.data(), text.size());
    }
  }
  freeifaddrs(list);
  return first;
}

TEST(AddressForOtherMachines, IsThatOfTheFirstInterfaceThatIsUp) {
  const std::string first = first_address();
  const auto found = address_for_other_machines(Settings{});
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(*found, first.empty() ? "127.0.0.1" : first);
}

TEST(AllgatherTexts, GivesEachRanksTextWhateverItsLength) {
  on_threads(3, [](Bootstrap& bootstrap) {
    const auto length = static_cast<std::size_t>(bootstrap.rank().value) * 5000;
    const auto texts = allgather_texts(bootstrap, std::string(length, 'x'), 10s);
    ASSERT_TRUE(texts.ok());
    EXPECT_EQ(*texts,
              (std::vector<std::string>{"", std::string(5000, 'x'), std::string(10'000, 'x')}));
    const auto nothing = allgather_texts(bootstrap, "", 10s);
    ASSERT_TRUE(nothing.ok());
    EXPECT_EQ(*nothing, std::vector<std::string>(3));
  });
}

TEST(TryConnections, ASingleNodeHasNothingToTry) {
  on_threads(3, [](Bootstrap& bootstrap) {
    const auto tried = try_connections(bootstrap, Settings(), 5s);
    ASSERT_TRUE(tried.ok());
    EXPECT_EQ(tried->nodes(), 1);
    EXPECT_TRUE(tried->addresses.empty());
    EXPECT_TRUE(tried->failed.empty());
  });
}

TEST(TryConnections, AllPairsOfNodesAreConnected) {
  on_threads(5, [](Bootstrap& bootstrap) {
    Settings settings;
    settings.ranks_per_node = 2;
    const auto tried = try_connections(bootstrap, settings, 5s);
    ASSERT_TRUE(tried.ok());
    EXPECT_EQ(tried->machines, 1);
    EXPECT_EQ(tried->nodes(), 3);
    EXPECT_EQ(tried->node_of,
              (std::vector<NodeId>{NodeId{0}, NodeId{0}, NodeId{1}, NodeId{1}, NodeId{2}}));
    ASSERT_EQ(tried->addresses.size(), 3U);
    for (const std::string& address : tried->addresses) {
      EXPECT_TRUE(address.starts_with("127.0.0.1:")) << address;
    }
    EXPECT_TRUE(tried->failed.empty());
    EXPECT_GT(tried->slowest.count(), 0);
    EXPECT_NE(tried->slowest_from, tried->slowest_to);
  });
}

TEST(TryConnections, ANodeThatCannotListenIsNamedOnAllRanks) {
  on_threads(3, [](Bootstrap& bootstrap) {
    Settings settings;
    settings.ranks_per_node = 1;
    settings.interface = bootstrap.rank().value == 1 ? "nowhere7" : "lo";
    const auto tried = try_connections(bootstrap, settings, 5s);
    ASSERT_TRUE(tried.ok());
    ASSERT_EQ(tried->failed.size(), 1U);
    EXPECT_EQ(tried->failed[0].from, NodeId{1});
    EXPECT_EQ(tried->failed[0].to, NodeId{1});
    EXPECT_NE(tried->failed[0].reason.find("'nowhere7'"), std::string::npos)
        << tried->failed[0].reason;
  });
}

TEST(AddressForOtherMachines, IsThatOfTheNamedInterface) {
  Settings settings;
  settings.interface = "lo";
  EXPECT_EQ(address_for_other_machines(settings).value(), "127.0.0.1");
  settings.interface = "nowhere7";
  EXPECT_TRUE(test::fails(address_for_other_machines(settings).status(), Code::invalid_argument,
                          {"'nowhere7'"}));
}

TEST(MpiLibrary, IsNamedThoughMpiIsNotRunning) {
  const MpiLibrary library = mpi_library();
  EXPECT_EQ(library.version.empty(), !library.is_built_in);
  EXPECT_EQ(library.version.find('\n'), std::string::npos);
  EXPECT_EQ(library.thread_level, "");
}

}  // namespace
}  // namespace tessera::rma
