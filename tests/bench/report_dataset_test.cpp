// SPDX-License-Identifier: BSD-3-Clause
//
// Which runs are launches of one run, the statistics of several launches, and what counts as a
// change.
#include "bench/report/dataset.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "bench/report/backends.hpp"
#include "bench/report/changes.hpp"
#include "tests/bench/report_examples.hpp"

namespace tessera::bench::report {
namespace {

std::vector<RunFile> launches(const std::vector<double>& factors, const std::string& git = "abc") {
  std::vector<RunFile> runs;
  for (const double factor : factors) {
    runs.push_back(example_run(git + std::to_string(runs.size()), factor, git));
  }
  return runs;
}

std::vector<RunFile> both(std::vector<RunFile> first, const std::vector<RunFile>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

TEST(Dataset, CombinesLaunchesOfOneVersion) {
  const Dataset data(launches({2, 4, 3}));
  ASSERT_EQ(data.variants().size(), 1U);
  const Variant& variant = data.variants()[0];
  EXPECT_EQ(variant.setting, "2 ranks on 1 node");
  EXPECT_EQ(variant.launches.size(), 3U);
  ASSERT_EQ(variant.measurements.size(), 6U);
  const Measurement& put = variant.measurements[0];
  ASSERT_NE(put.subject(), nullptr);
  EXPECT_EQ(put.subject()->backend, "shm");
  const double copy = 0.008 + 0.0123456;
  EXPECT_DOUBLE_EQ(put.subject()->median(), 3 * copy);
  EXPECT_DOUBLE_EQ(put.subject()->ci95().lo, 0.99 * 2 * copy);
  EXPECT_DOUBLE_EQ(put.subject()->ci95().hi, 1.01 * 4 * copy);
  const auto ratio = put.subject()->ratio_to("mpi");
  ASSERT_TRUE(ratio);
  EXPECT_DOUBLE_EQ(ratio->value, 3.0 / 8);
  EXPECT_DOUBLE_EQ(ratio->ci95.lo, 0.98 * 2 / 8);
  EXPECT_FALSE(put.subject()->ratio_to("missing"));
}

TEST(Dataset, CountsNoLaunchTwiceWhereACaseIsMeasuredTwice) {
  std::vector<RunFile> runs = launches({2, 4});
  for (RunFile& run : runs) {
    const std::vector<Result> again = run.results;
    run.results.insert(run.results.end(), again.begin(), again.end());
  }
  const Dataset data(std::move(runs));
  ASSERT_EQ(data.variants().size(), 1U);
  for (const Measurement& each : data.variants()[0].measurements) {
    for (const Entry& entry : each.entries) {
      EXPECT_EQ(entry.launches.size(), 2U) << entry.backend;
    }
  }
}

TEST(Dataset, KeepsSettingsApartAndNamesTheDifference) {
  std::vector<RunFile> runs = launches({2, 2, 2});
  runs[1].ranks = 4;
  runs[1].nodes = 2;
  runs[2].env["TESSERA_SERVER"] = "block";
  const Dataset data(std::move(runs));
  ASSERT_EQ(data.variants().size(), 3U);
  EXPECT_EQ(data.variants()[0].setting, "2 ranks on 1 node, TESSERA_SERVER not set");
  EXPECT_EQ(data.variants()[1].setting, "4 ranks on 2 nodes");
  EXPECT_EQ(data.variants()[2].setting, "2 ranks on 1 node, TESSERA_SERVER=block");
  EXPECT_EQ(data.shown().size(), 3U);
  EXPECT_TRUE(data.pairs().empty());
}

TEST(Dataset, KeepsApartWhatOptionsMadeAnother) {
  std::vector<RunFile> runs = launches({2, 2, 2});
  runs[1].options = {{"--sync-option", "flush"}};
  runs[2].options = {{"--cold", "yes"}};
  const Dataset data(std::move(runs));
  ASSERT_EQ(data.variants().size(), 3U);
  EXPECT_EQ(data.variants()[0].setting, "2 ranks on 1 node, without --cold, without --sync-option");
  EXPECT_EQ(data.variants()[1].setting,
            "2 ranks on 1 node, without --cold, with --sync-option flush");
  EXPECT_EQ(data.variants()[2].setting, "2 ranks on 1 node, with --cold, without --sync-option");
}

TEST(Dataset, KeepsOtherNetworksApartBetweenNodes) {
  for (const int nodes : {1, 2}) {
    std::vector<RunFile> runs = launches({2, 2, 2});
    for (RunFile& run : runs) {
      run.nodes = nodes;
    }
    runs[0].host.emplace_back("nics", "eth0 10000 Mbit/s, veth1f");
    runs[1].host.emplace_back("nics", "eth0 10000 Mbit/s, veth2a");  // the same, of that machine
    runs[2].host.emplace_back("nics", "mlx5_0 100 Gb/sec");
    const Dataset data(std::move(runs));
    EXPECT_EQ(data.variants().size(), nodes == 1 ? 1U : 2U);
    EXPECT_EQ(data.variants()[0].launches.size(), nodes == 1 ? 3U : 2U);
  }
}

TEST(Dataset, OfOneVersionHasNothingToCompare) {
  EXPECT_TRUE(Dataset(launches({2, 3})).pairs().empty());
}

TEST(Dataset, ComparesTheFirstVersionWithTheLast) {
  const Dataset data(both(launches({2}, "old"), launches({3}, "new")));
  ASSERT_EQ(data.pairs().size(), 1U);
  EXPECT_EQ(data.pairs()[0].before->version, "0.1.0 (old)");
  EXPECT_EQ(data.pairs()[0].after->version, "0.1.0 (new)");
  ASSERT_EQ(data.shown().size(), 1U);
  EXPECT_EQ(data.shown()[0]->version, "0.1.0 (new)");
}

TEST(Dataset, TakesTheGivenBaselineWhereverItStands) {
  const Dataset data(launches({2, 3}), {"abc1"});
  ASSERT_EQ(data.pairs().size(), 1U);
  EXPECT_EQ(data.pairs()[0].before->launches[0]->file, "abc1");
  EXPECT_EQ(data.pairs()[0].after->launches[0]->file, "abc0");
  ASSERT_EQ(data.shown().size(), 1U);
  EXPECT_EQ(data.shown()[0]->launches[0]->file, "abc0");
}

TEST(Dataset, NeverComparesSettings) {
  auto other = launches({3}, "new");
  other[0].ranks = 3;
  EXPECT_TRUE(Dataset(both(launches({2}, "old"), other)).pairs().empty());
}

TEST(Dataset, ShowsWhatANewerVersionDidNotMeasure) {
  auto other = launches({3}, "new");
  for (Result& result : other[0].results) {
    result.bench = "net";
  }
  const Dataset data(both(launches({2}, "old"), other));
  EXPECT_EQ(data.shown().size(), 2U);
  EXPECT_TRUE(data.pairs().empty());
}

TEST(Measurement, IsAboutTheLastOfOursWhereNoFileTells) {
  std::vector<RunFile> runs = launches({2});
  for (Result& result : runs[0].results) {
    result.against.reset();
  }
  const Dataset data(std::move(runs));
  const Measurement& put = data.variants()[0].measurements[0];
  EXPECT_EQ(put.subject()->backend, "shm");
  EXPECT_TRUE(put.subject()->ratio_to("memcpy")) << "stands in `ratio`";
  EXPECT_FALSE(put.subject()->ratio_to("mpi"));
}

TEST(Targets, AreDecidedByTheMedianOfLaunches) {
  const auto verdict_of = [](const std::vector<double>& factors) {
    const Dataset data(launches(factors));
    return data.variants()[0].targets()[0];
  };
  EXPECT_TRUE(verdict_of({2, 2.9, 9}).is_met()) << "asked: at most 3";
  EXPECT_FALSE(verdict_of({2, 3.1, 9}).is_met());
  EXPECT_EQ(verdict_of({2, 3.1, 9}).launches, 3U);
  EXPECT_DOUBLE_EQ(verdict_of({2, 3.1, 9}).worst->value, 3.1);
}

TEST(Targets, WithoutAReferenceAreNeitherMetNorMissed) {
  const Dataset data(launches({2}));
  const TargetVerdict verdict = data.variants()[0].targets()[1];
  EXPECT_FALSE(verdict.worst);
  EXPECT_FALSE(verdict.is_met());
  EXPECT_EQ(verdict.cases_without_reference, 3);
}

Changes changes_in(const Dataset& data) {
  return changes_of(*data.pairs().at(0).before, *data.pairs().at(0).after);
}

TEST(Changes, AreWhatBecameSlowerBesideItsFloor) {
  const Changes changes = changes_in(Dataset(both(launches({2}, "old"), launches({3}, "new"))));
  EXPECT_EQ(changes.compared, 6U) << "ours only";
  ASSERT_EQ(changes.found.size(), 6U);
  EXPECT_EQ(changes.found[0].backend, "shm");
  EXPECT_EQ(changes.found[0].reference, "memcpy");
  EXPECT_DOUBLE_EQ(changes.found[0].ratio.value, 1.5);
  EXPECT_DOUBLE_EQ(changes.found[0].ratio.ci95.lo, 0.98 * 3 / (1.02 * 2));
  EXPECT_DOUBLE_EQ(changes.found[0].ratio.ci95.hi, 1.02 * 3 / (0.98 * 2));
}

TEST(Changes, AreNotWhatTheMachineDid) {
  auto slow_hour = launches({2}, "new");
  for (Result& result : slow_hour[0].results) {  // twice as long, baselines too
    result.median *= 2;
    result.ci95 = {2 * result.ci95.lo, 2 * result.ci95.hi};
  }
  const Changes changes = changes_in(Dataset(both(launches({2}, "old"), slow_hour)));
  EXPECT_EQ(changes.compared, 6U);
  EXPECT_TRUE(changes.found.empty());
}

TEST(Changes, NeedAnIntervalThatExcludesOneInEveryPairOfLaunches) {
  const auto count = [](const std::vector<double>& before, const std::vector<double>& after) {
    return changes_in(Dataset(both(launches(before, "old"), launches(after, "new")))).found.size();
  };
  EXPECT_EQ(count({2, 2.1}, {3, 2.6}), 6U);
  EXPECT_EQ(count({2, 2.1}, {3, 2.15}), 0U) << "one pair may be equal";
  EXPECT_EQ(count({3}, {2}), 6U) << "faster is a change, too";
}

TEST(Changes, SayHowManyLaunchesStandBehindThem) {
  const Changes changes = changes_in(
      Dataset(both(launches({2, 2, 2, 2, 2, 2}, "old"), launches({3, 3, 3, 3, 3}, "new"))));
  EXPECT_EQ(changes.found.at(0).launches, launches_for_a_claim);
}

TEST(Changes, AreNotSaidOfAFewSamples) {
  auto few = launches({3}, "new");
  for (Result& result : few[0].results) {
    result.samples_n = 5;
  }
  const Changes changes = changes_in(Dataset(both(launches({2}, "old"), few)));
  EXPECT_TRUE(changes.found.empty());
  EXPECT_EQ(changes.compared, 0U);
  EXPECT_EQ(changes.with_few_samples, 6U);
  EXPECT_EQ(changes.alone, 0U) << "each has a baseline";
}

TEST(Changes, AreSeenBesidePlainLoops) {
  auto runs = both(launches({2}, "old"), launches({3}, "new"));
  for (RunFile& run : runs) {
    for (Result& result : run.results) {
      result.backend = result.backend == "memcpy" ? "plain loops" : result.backend;
      for (auto* ratio : {&result.ratio}) {
        if (*ratio) {
          (*ratio)->reference = "plain loops";
        }
      }
    }
  }
  const Changes changes = changes_in(Dataset(std::move(runs)));
  EXPECT_EQ(changes.found.size(), 6U);
}

TEST(Changes, AreThoseOfAnUnknownNameWhereTheFileIsAboutIt) {
  auto runs = both(launches({2}, "old"), launches({3}, "new"));
  for (RunFile& run : runs) {
    for (Result& result : run.results) {
      result.backend = result.backend == "shm" ? "pigeons" : result.backend;
    }
  }
  EXPECT_EQ(changes_in(Dataset(runs)).found.size(), 6U);
  for (RunFile& run : runs) {
    for (Result& result : run.results) {
      result.against.reset();
    }
  }
  EXPECT_EQ(changes_in(Dataset(runs)).compared, 0U) << "it may be a new baseline";
}

TEST(Changes, AreNotSaidOfTimesAlone) {
  auto runs = both(launches({2}, "old"), launches({3}, "new"));
  for (RunFile& run : runs) {
    for (Result& result : run.results) {
      result.ratio.reset();
      result.against.reset();
    }
  }
  const Changes changes = changes_in(Dataset(std::move(runs)));
  EXPECT_TRUE(changes.found.empty());
  EXPECT_EQ(changes.compared, 0U);
  EXPECT_EQ(changes.alone, 6U);
}

TEST(Backends, AreFloorsOrYardsticksByTheirNames) {
  for (const char* const floor :
       {"memcpy", "mpi", "mpi in memory", "mpi two-sided", "armci-mpi", "tcp polling",
        "tcp blocking", "bare loop", "pwrite + fsync", "plain loops", "mpi alloc_mem"}) {
    EXPECT_EQ(kind_of(floor), Kind::floor) << floor;
  }
  for (const char* const own : {"shm", "tcp", "tessera", "tessera-mg", "aggregate", "plain",
                                "tessera-agent", "auto", "conservative", "native tcp"}) {
    EXPECT_EQ(kind_of(own), Kind::ours) << own;
  }
  EXPECT_EQ(kind_of("mpix"), Kind::unknown) << "neither MPI nor ours";
  for (const char* const other :
       {"triad", "computation", "tcp overlapped", "tcp with helpers overlapped", "verbs running"}) {
    EXPECT_EQ(kind_of(other), Kind::yardstick) << other;
  }
  EXPECT_EQ(kind_of("mpi overlapped"), Kind::floor) << "NAS MG's, which hides its messages";
}

TEST(Backends, HaveStylesOfTheirOwn) {
  EXPECT_EQ(styles_of({"memcpy", "shm"}), (std::vector<int>{1, 0}));
  EXPECT_EQ(styles_of({"Tessera, shm"}), (std::vector<int>{0}));
  const auto all = styles_of({"round", "memcpy", "square", "tcp", "mpi"});
  EXPECT_EQ(all, (std::vector<int>{3, 1, 4, 0, 2})) << "unknown backends take the free styles";
  EXPECT_EQ(styles_of({"a", "b", "c", "d", "e", "f", "g", "h", "i"}).back(), 1);
}

TEST(Backends, LookTheSameWithWhomeverTheyStand) {
  // Candidates that the suites measure together.
  const std::vector<std::vector<std::string>> charts = {
      {"mpi neighbours", "vector", "plain", "aggregate", "default", "neighbours"},
      // Products, and transfers on one node.
      {"serial loop", "plain", "aggregate", "vector"},
      {"memcpy", "mpi", "armci-mpi", "1000 calls", "aggregate", "one list"},
      // Transfers between nodes.
      {"tcp polling", "tcp blocking", "mpi", "1000 calls", "aggregate", "tcp"},
      {"tcp polling", "tcp blocking", "mpi", "mpi two-sided", "tcp"},
      {"tcp polling", "tcp blocking", "mpi in memory", "mpi two-sided in memory", "tcp"},
      {"tcp polling", "tcp blocking", "mpi", "n calls", "tcp"},
      // Protocols, overlap and fences.
      {"tcp blocking", "buffered", "pipelined", "pipelined from 2K", "zero-copy", "constants",
       "default"},
      {"tcp with helpers", "mpi two-sided", "tcp"},
      {"tcp polling", "tcp blocking", "fence each", "fence_all"},
      {"fence each", "fence_all of 3", "fence_all of 5", "fence_all"},
      // Products of matrices.
      {"dgemm at once", "pdgemm", "tiled", "round robin", "local matrix", "regular"},
      {"dgemm at once", "one rank", "tessera"},
      {"rma", "contiguous", "mpi subarray", "global arrays", "tessera"},
      // Suites that use all ranks.
      {"loads and stores", "own table", "mpi", "one by one", "tessera"},
      {"plain loops", "mpi", "global arrays", "two levels", "tessera"},
      {"one axpy", "all axpy", "one rank", "all ranks"},
      // Memory and registration.
      {"bare loop", "ordinary memory", "allocate_local"},
      {"allocate_local", "used before", "newly mapped"},
      {"bare loop", "contiguous", "rows"},
      // Access modes, exchanges, callers.
      {"each to its owner", "cache", "copies on nodes"},
      {"mpi two-sided", "mpi overlapped", "tessera-mg"},
      {"memcpy", "mpi", "armci-mpi", "shm"},
      {"called by one rank", "called by all ranks"},
      {"same node", "across nodes"}};
  for (const auto& names : charts) {
    const std::vector<int> together = styles_of(names);
    for (std::size_t i = 0; i < names.size(); ++i) {
      EXPECT_EQ(together[i], styles_of({names[i]})[0]) << names[i] << " beside " << names[0];
    }
  }
}

TEST(Backends, LeaveItsColourToMpi) {
  EXPECT_EQ(styles_of({"mpi neighbours"})[0], mpi_style);
  for (const int style :
       styles_of({"neighbours", "pdgemm", "a", "b", "c", "d", "e", "f", "g", "h", "i",
                  "j",          "k",      "l", "m", "n", "o", "p", "q", "r", "s"})) {
    EXPECT_NE(style, mpi_style);
  }
}

TEST(Backends, AreNamedForPeople) {
  EXPECT_EQ(display_name("shm"), "Tessera, shm");
  EXPECT_EQ(display_name("tessera"), "Tessera");
  EXPECT_EQ(display_name("tessera-agent"), "Tessera, tessera-agent");
  EXPECT_EQ(display_name("tessera-comm"), "Tessera, tessera-comm");
  EXPECT_EQ(display_name("plain loops"), "plain loops");
  EXPECT_EQ(display_name("memcpy"), "memcpy");
  EXPECT_EQ(display_name(display_name("shm")), "Tessera, shm");
}

}  // namespace
}  // namespace tessera::bench::report
