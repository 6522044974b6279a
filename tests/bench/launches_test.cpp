// SPDX-License-Identifier: BSD-3-Clause
//
// Several launches: how their reports are combined, and their command lines.
#include "bench/support/record.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <sstream>
#include <string>
#include <vector>

#include "bench/result_writer.hpp"

namespace tessera::bench {
namespace {

using Json = nlohmann::ordered_json;

Json ratio_to(const std::string& reference, double ratio, double spread) {
  return {{"to", reference}, {"value", ratio}, {"ci95", {ratio - spread, ratio + spread}}};
}

Json result(const std::string& backend, std::int64_t size) {
  return {{"bench", "rma"}, {"op", "put"},  {"shape", ""},
          {"size", size},   {"unit", "us"}, {"backend", backend}};
}

/// The result of the candidate that the table is about: `ratio` × memcpy's time, about 3 × MPI's.
Json own_result(double ratio) {
  Json own = result("shm", 8);
  own["ratio"] = ratio_to("memcpy", ratio, 0.1);
  own["against"] = {ratio_to("memcpy", ratio, 0.1), ratio_to("mpi", 3, 2.5)};
  return own;
}

Json report(double ratio, double worst) {
  Json mpi = result("mpi", 8);
  mpi["ratio"] = ratio_to("memcpy", 5, 0.1);
  return {{"results", {result("memcpy", 8), mpi, own_result(ratio)}},
          {"targets",
           {{{"name", "put 8 B"}, {"asked", "at_most"}, {"limit", 6.0}, {"worst", worst}},
            {{"name", "nothing"}, {"asked", "at_least"}, {"limit", 1.0}}}}};
}

// A case may have a record of times, and one of something else.
TEST(Launches, TellApartWhatIsInAnotherUnit) {
  const auto with_shares = [](double ratio) {
    Json both = report(ratio, 5);
    Json share = own_result(1.5);
    share["unit"] = "share";
    both["results"].push_back(share);
    return both;
  };
  const Launches launches = combine({with_shares(0.5), with_shares(0.6)});
  ASSERT_EQ(launches.ratios.size(), 4U);
  EXPECT_DOUBLE_EQ(launches.ratios[0].values.median, 0.55);
  EXPECT_DOUBLE_EQ(launches.ratios[2].values.median, 1.5);
}

TEST(Launches, HaveTheMedianOfTheirRatios) {
  const Launches launches = combine({report(0.5, 5), report(0.7, 7), report(0.6, 5.5)});
  EXPECT_EQ(launches.count, 3);
  ASSERT_EQ(launches.ratios.size(), 2U) << "to each of the others; baselines to none";
  const RatioOverLaunches& shm = launches.ratios[0];
  EXPECT_EQ(shm.backend, "shm");
  EXPECT_EQ(shm.reference, "memcpy");
  EXPECT_EQ(launches.ratios[1].reference, "mpi");
  EXPECT_EQ(shm.what, "rma put 8 B");
  EXPECT_DOUBLE_EQ(shm.values.median, 0.6);
  EXPECT_DOUBLE_EQ(shm.values.max, 0.7);
  EXPECT_EQ(shm.faster, 3);
  EXPECT_EQ(launches.ratios[1].faster, 0) << "its interval has 1 in it";
  EXPECT_EQ(launches.ratios[1].slower, 0);
}

TEST(Launches, ReachATargetByTheMedian) {
  const Launches reached = combine({report(0.5, 5), report(0.5, 7), report(0.5, 5.5)});
  ASSERT_EQ(reached.targets.size(), 1U) << "the other was not measured";
  EXPECT_TRUE(reached.targets[0].is_reached());
  EXPECT_FALSE(combine({report(0.5, 5), report(0.5, 7), report(0.5, 6.5)}).targets[0].is_reached());
}

TEST(Launches, LeaveOutWhatIsNotInAllOfThem) {
  Json other = report(0.5, 5);
  other["results"][2]["against"].erase(0);
  const Launches launches = combine({report(0.5, 5), other});
  ASSERT_EQ(launches.ratios.size(), 1U);
  EXPECT_EQ(launches.ratios[0].reference, "mpi");
  other["results"].erase(2);
  EXPECT_TRUE(combine({report(0.5, 5), other}).ratios.empty());
}

TEST(Launches, SayWhatMayBeSaid) {
  std::ostringstream out;
  print(out, combine({report(0.5, 5), report(2.5, 5)}));
  EXPECT_NE(out.str().find("over 2 launches"), std::string::npos);
  EXPECT_EQ(out.str().find(" faster\n"), std::string::npos) << "only in one of two";
  out.str("");
  print(out, combine({report(0.5, 5), report(0.6, 5)}));
  EXPECT_NE(out.str().find("0.550    0.500    0.600  faster?\n"), std::string::npos) << out.str();
  out.str("");
  print(out, combine(std::vector<Json>(launches_for_a_claim, report(0.5, 5))));
  EXPECT_NE(out.str().find("0.500    0.500    0.500  faster\n"), std::string::npos) << out.str();
}

TEST(Launches, KeepColumnsApartBehindLongNames) {
  Json longer = report(0.5, 5);
  longer["results"][2]["op"] = "an_operation_with_a_name_that_takes_a_column_of_its_own";
  longer["results"][2]["against"][0]["value"] = 0.00123;
  longer["results"][2]["size"] = 32768;
  std::ostringstream out;
  print(out, combine({longer, longer}));
  EXPECT_NE(out.str().find(" 32768 B  shm "), std::string::npos) << out.str();
  EXPECT_NE(out.str().find("  0.00123  0.00123  0.00123  "), std::string::npos) << out.str();
}

TEST(Launches, OfAFewSamplesSayNothing) {
  Json few = report(0.5, 5);
  few["results"][2]["samples_n"] = samples_for_an_interval - 1;
  const Launches launches = combine(std::vector<Json>(launches_for_a_claim, few));
  EXPECT_EQ(launches.ratios[0].faster, 0) << "an interval of five has less than 95 %";
}

TEST(Relaunch, TakesItsOwnOptionsOutOfTheArguments) {
  using Words = std::vector<std::string>;
  const Words own = {"--repeat-launch", "--launcher", "--json"};
  EXPECT_EQ(without_options({"rma", "--repeat-launch", "5", "-i", "3", "--json=a", "mg"}, own),
            (Words{"rma", "-i", "3", "mg"}));
  EXPECT_EQ(without_options({"--launcher", "mpirun -n 2", "rma"}, own), (Words{"rma"}));
}

TEST(Relaunch, NumbersFiles) {
  EXPECT_EQ(numbered_file("out/a.json", 3), "out/a.3.json");
  EXPECT_EQ(numbered_file("a", 12), "a.12");
}

}  // namespace
}  // namespace tessera::bench
