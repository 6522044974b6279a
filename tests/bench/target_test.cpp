// SPDX-License-Identifier: BSD-3-Clause
//
// Targets: which measurements they cover, that the worst case counts, and the printed table.
#include "bench/support/table.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <sstream>
#include <string>

namespace tessera::bench {
namespace {

Measured measured_at(std::string name, double time_ns) {
  Measured one;
  one.name = std::move(name);
  one.samples_ns.assign(11, time_ns);
  one.stats_ns = summarise(one.samples_ns);
  return one;
}

/// The baseline takes `baseline_ns`, Tessera `own_ns`.
std::vector<Measured> pair(double baseline_ns, double own_ns) {
  return {measured_at("memcpy", baseline_ns), measured_at("shm", own_ns)};
}

bool is_put(const Case& c) {
  return c.operation == Operation::put;
}

Targets one_target(Target::Sense sense, double limit) {
  Targets targets;
  targets.add({{"put", "memcpy", sense, limit, is_put}});
  return targets;
}

const Case put_8 = Case::contiguous(Operation::put, 8);
const Case put_64 = Case::contiguous(Operation::put, 64);

TEST(Targets, TheLongestTimeCounts) {
  Targets targets = one_target(Target::Sense::time_at_most, 3);
  const auto fast = pair(10, 20);
  targets.look(put_8, fast, fast.back());
  EXPECT_TRUE(targets.results()[0].is_reached());
  const auto slow = pair(10, 40);
  targets.look(put_64, slow, slow.back());
  targets.look(put_8, fast, fast.back());
  const TargetResult& result = targets.results()[0];
  EXPECT_FALSE(result.is_reached());
  EXPECT_DOUBLE_EQ(result.worst->value, 4);
  EXPECT_EQ(result.where, "put 64");
  EXPECT_EQ(result.cases, 3);
}

TEST(Targets, TheLowestSpeedCounts) {
  Targets targets = one_target(Target::Sense::speed_at_least, 0.95);
  const auto fast = pair(10, 10);
  const auto slow = pair(9, 10);
  targets.look(put_8, fast, fast.back());
  EXPECT_TRUE(targets.results()[0].is_reached());
  targets.look(put_64, slow, slow.back());
  EXPECT_DOUBLE_EQ(targets.results()[0].worst->value, 0.9);
  EXPECT_FALSE(targets.results()[0].is_reached());
}

TEST(Targets, OtherCasesAndReferencesAreNotLookedAt) {
  Targets targets = one_target(Target::Sense::time_at_most, 3);
  const auto times = pair(10, 20);
  targets.look(Case::contiguous(Operation::get, 8), times, times.back());
  const std::vector<Measured> without_memcpy = {measured_at("mpi", 10), measured_at("shm", 20)};
  targets.look(put_8, without_memcpy, without_memcpy.back());
  EXPECT_FALSE(targets.results()[0].worst.has_value());
  EXPECT_FALSE(targets.results()[0].is_reached());
}

TEST(Targets, WhatNoCaseStandsForIsObserved) {
  Targets targets;
  targets.add({{"two / one", "one", Target::Sense::speed_at_least, 1.7}});
  const auto times = pair(10, 20);
  targets.look(put_8, times, times.back());
  targets.observe("something else", "", {1, {1, 1}});
  EXPECT_EQ(targets.results()[0].cases, 0);
  targets.observe("two / one", "4 MiB", {1.8, {1.7, 1.9}});
  EXPECT_TRUE(targets.results()[0].is_reached());
}

TEST(Targets, AreDecidedByEnoughSamplesOnly) {
  Targets targets = one_target(Target::Sense::time_at_most, 3);
  targets.observe(targets.results()[0].target.name, "put 8", {2, {2, 2}, 5});
  EXPECT_FALSE(targets.results()[0].is_reached());
  std::ostringstream out;
  targets.print(out);
  EXPECT_NE(out.str().find("too few samples"), std::string::npos) << out.str();
}

TEST(Targets, WithoutAnyPrintNothing) {
  std::ostringstream out;
  Targets().print(out);
  EXPECT_EQ(out.str(), "");
}

TEST(Targets, AreNotMeasuredWithoutTheirReference) {
  Targets targets;
  targets.add({{"time / messages", "mpi two-sided", Target::Sense::time_at_most, 1}});
  targets.record_missing_reference("time / messages");
  targets.record_missing_reference("something else");
  EXPECT_EQ(targets.results()[0].cases_without_reference, 1);
  std::ostringstream out;
  targets.print(out);
  EXPECT_NE(out.str().find("not measured: no mpi two-sided"), std::string::npos) << out.str();
}

TEST(Targets, PrintsWhatWasReachedMissedAndNotMeasured) {
  Targets targets;
  targets.add({{"good", "memcpy", Target::Sense::time_at_most, 3},
               {"bad", "memcpy", Target::Sense::speed_at_least, 0.9},
               {"unknown", "armci-mpi", Target::Sense::speed_at_least, 8, is_put},
               {"elsewhere", "triad", Target::Sense::speed_at_least, 0.4}});
  targets.observe("good", "put 8", {2, {2, 2}});
  targets.observe("bad", "put 64", {0.5, {0.4, 0.6}});
  const auto without_armci = pair(10, 10);
  targets.look(put_8, without_armci, without_armci.back());
  std::ostringstream out;
  targets.print(out);
  const std::string text = out.str();
  EXPECT_NE(text.find("<= 3.00     2.000"), std::string::npos) << text;
  EXPECT_NE(text.find("[0.400,0.600]  put 64"), std::string::npos) << text;
  EXPECT_NE(text.find("NO\n"), std::string::npos) << text;
  EXPECT_NE(text.find("not measured: no armci-mpi\n"), std::string::npos) << text;
  EXPECT_NE(text.find("not measured in this run\n"), std::string::npos) << text;
}

TEST(Targets, PrintsSmallRatiosByTheirDigitsAndKeepsColumns) {
  Targets targets;
  const std::string longest = "a target that has a long name, as those of sparse products have";
  targets.add({{"idle", "a core", Target::Sense::time_at_most, 0.01},
               {longest, "memcpy", Target::Sense::time_at_most, 3},
               {"to nothing", "memcpy", Target::Sense::time_at_most, 3}});
  targets.observe("idle", "server block", {0.000123, {0.0001, 0.00456}});
  targets.observe(longest, "put 8", {2, {2, 2}});
  const double infinity = std::numeric_limits<double>::infinity();
  targets.observe("to nothing", "put 8", {infinity, {infinity, infinity}});
  std::ostringstream out;
  targets.print(out);
  EXPECT_NE(out.str().find("  0.000123    [0.0001,0.00456]"), std::string::npos) << out.str();
  EXPECT_EQ(out.str().find("inf"), std::string::npos) << out.str();
  std::istringstream lines(out.str());
  std::string heading;
  std::getline(lines, heading);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_EQ(line.find("<= "), heading.find("limit") - 2) << line;
  }
}

}  // namespace
}  // namespace tessera::bench
