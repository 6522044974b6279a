// SPDX-License-Identifier: BSD-3-Clause
//
// What the litmus programs of TESSERA_CHECK=races work with, and their oracles: of a racy program,
// one rank reports the race, with the two kinds of access and their lines; of a clean one, none.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <mutex>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arrays/array.hpp"
#include "rma/notify.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/rank_main.hpp"

namespace tessera::arrays {

inline constexpr std::int64_t part = 16;  // elements of each rank

/// What a program works with: an array of 16 elements a rank.
struct Play {
  rma::Job& job;
  Array<double> a;
  std::vector<double> values = std::vector<double>(static_cast<std::size_t>(part * 8), 1.0);

  [[nodiscard]] std::int32_t rank() const { return job.rank().value; }
  [[nodiscard]] bool is(std::int32_t rank) const { return job.rank().value == rank; }
  [[nodiscard]] std::span<double> room(std::int64_t count) {
    return std::span(values).first(static_cast<std::size_t>(count));
  }
  void put(std::int64_t lo, std::int64_t hi) {
    EXPECT_TRUE(rma::test::ok(a.put(Box({lo}, {hi}), std::span<const double>(room(hi - lo)))));
  }
  void get(std::int64_t lo, std::int64_t hi) {
    EXPECT_TRUE(rma::test::ok(a.get(Box({lo}, {hi}), room(hi - lo))));
  }
  void accumulate(std::int64_t lo, std::int64_t hi) {
    EXPECT_TRUE(
        rma::test::ok(a.accumulate(Box({lo}, {hi}), std::span<const double>(room(hi - lo)))));
  }
  void sync() { EXPECT_TRUE(rma::test::ok(a.sync())); }
  void ranks(const std::function<void()>& zero, const std::function<void()>& one) {
    if (is(0)) {
      zero();
    } else if (is(1)) {
      one();
    }
  }
  void notify(std::int32_t to) { EXPECT_TRUE(rma::test::ok(rma::notify(job, rma::WorldRank{to}))); }
  void wait_for(std::int32_t from) {
    EXPECT_TRUE(rma::test::ok(rma::wait_for_notifications(job, rma::WorldRank{from}, 1)));
  }
  [[nodiscard]] Array<std::int64_t> words(const std::string& name = "words") {
    return Array<std::int64_t>::create(job, {4}, {.name = name}).value();
  }
};

struct Program {
  std::string_view name;
  std::string_view race;  ///< the kinds of access, of rank 0 and of rank 1; empty: none
  std::function<void(Play&)> body;
  std::int32_t ranks = 2;  ///< at least
};

inline void PrintTo(const Program& program, std::ostream* out) {
  *out << program.name;
}

/// Runs a program on all ranks with the check, to the sync of its array and its end. Returns the
/// warnings of all ranks; each rank sees its own.
inline std::vector<std::string> warnings_of(rma::Job& job, const Program& program) {
  std::mutex mutex;
  std::vector<std::string> lines;
  job.log().set_sink([&](rma::LogLevel level, std::string_view line) {
    const std::lock_guard guard(mutex);
    if (level == rma::LogLevel::warning) {
      lines.emplace_back(line);
    }
  });
  {
    Play play{job, Array<double>::create(job, {part * job.size()}, {.name = "A"}).value()};
    program.body(play);
    EXPECT_TRUE(rma::test::ok(play.a.sync()));
    EXPECT_TRUE(rma::test::ok(play.a.free()));
  }
  job.log().set_sink({});
  return lines;
}

inline void with_check(const Program& program, const std::function<void(rma::Job&)>& body) {
  if (rma::test::rank_count() < program.ranks) {
    GTEST_SKIP() << program.name << " needs " << program.ranks << " ranks";
  }
  rma::test::on_ranks({.change = [](rma::Settings& settings) { settings.check = "races"; }}, body);
}

inline std::string name_of(const testing::TestParamInfo<Program>& info) {
  return std::string(info.param.name);
}

/// Both accesses are named, in either order, with the array and two lines of these files.
inline bool is_report_of(const std::string& line, std::string_view race) {
  if (line.find("race in array 'A' (") == std::string::npos) {
    return false;
  }
  for (const std::string_view kind : {"put", "get", "accumulate", "atomic operation", "local write",
                                      "local access", "ghost cell update"}) {
    const bool is_expected = race.find(kind) != std::string_view::npos;
    const bool is_named = line.find(fmt::format("{} of ", kind)) != std::string::npos;
    if (is_expected != is_named) {
      return false;
    }
  }
  const std::string_view here = " at race_litmus";
  const std::size_t first = line.find(here);
  return first != std::string::npos && line.find(here, first + 1) != std::string::npos;
}

inline void expect_one_report(const Program& program) {
  with_check(program, [&](rma::Job& job) {
    const std::vector<std::string> lines = warnings_of(job, program);
    for (const std::string& line : lines) {
      EXPECT_TRUE(is_report_of(line, program.race)) << line;
    }
    const auto reports =
        job.world().allreduce(static_cast<std::int64_t>(lines.size()), rma::Reduction::sum);
    EXPECT_EQ(reports.value(), 1) << "number of reports";
  });
}

inline void expect_no_report(const Program& program) {
  with_check(program, [&](rma::Job& job) {
    EXPECT_EQ(warnings_of(job, program), std::vector<std::string>());
  });
}

}  // namespace tessera::arrays
