// SPDX-License-Identifier: BSD-3-Clause
//
// TESSERA_CHECK=races: programs that lack a sync are reported, and correct programs are not. Ranks
// 0 and 1 make the calls; the others take part in collectives. A single rank has no races.
#include "arrays/race_check.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <mutex>
#include <random>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arrays/array.hpp"
#include "arrays/counter.hpp"
#include "arrays/elementwise.hpp"
#include "arrays/flags.hpp"
#include "arrays/gather.hpp"
#include "arrays/halo.hpp"
#include "rma/lock.hpp"
#include "rma/notify.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/rank_main.hpp"

namespace tessera::arrays {
namespace {

using rma::Code;
using rma::Job;
using rma::LogLevel;
using rma::Status;
using rma::Team;
using rma::TeamRank;
using rma::WorldRank;
using rma::test::fails;
using rma::test::ok;
using rma::test::on_ranks;

constexpr std::string_view remedy =
    ", and nothing orders them; put a sync between them, or a lock, a flag or a notification";

/// The warnings that a rank logs while this object exists.
class Warnings {
 public:
  explicit Warnings(Job& job) : job_(job) {
    job.log().set_sink([this](LogLevel level, std::string_view line) {
      const std::lock_guard guard(mutex_);
      if (level == LogLevel::warning) {
        lines_.emplace_back(line);
      }
    });
  }
  Warnings(const Warnings&) = delete;
  Warnings& operator=(const Warnings&) = delete;
  ~Warnings() { job_.log().set_sink({}); }

  [[nodiscard]] std::vector<std::string> take() {
    const std::lock_guard guard(mutex_);
    return std::exchange(lines_, {});
  }

 private:
  Job& job_;
  std::mutex mutex_;
  std::vector<std::string> lines_;
};

/// A job with the race check, an array of 10 x 5 numbers, and the warnings.
struct Stage {
  Job& job;
  Array<double>& a;
  Warnings& warnings;
  std::vector<double> values = std::vector<double>(50, 1.0);

  [[nodiscard]] bool is_rank(std::int32_t rank) const { return job.rank().value == rank; }
  [[nodiscard]] std::span<double> room(const Box& box) {
    return std::span(values).first(static_cast<std::size_t>(box.volume()));
  }
  void put(const Box& box) { EXPECT_TRUE(ok(a.put(box, std::span<const double>(room(box))))); }
  void get(const Box& box) { EXPECT_TRUE(ok(a.get(box, room(box)))); }
  void accumulate(const Box& box) {
    EXPECT_TRUE(ok(a.accumulate(box, std::span<const double>(room(box)))));
  }
  void sync() { EXPECT_TRUE(ok(a.sync())); }

  /// Since the last call, rank 0 has warned of this race in the array, and no rank of any other
  /// race. A single rank has not warned.
  void expect_race(std::string_view text) {
    const std::vector<std::string> lines = warnings.take();
    if (!is_rank(0) || job.size() == 1) {
      EXPECT_EQ(lines, std::vector<std::string>());
      return;
    }
    ASSERT_EQ(lines.size(), 1U) << fmt::format("{}", fmt::join(lines, "\n"));
    const std::string line =
        fmt::format("race in array 'A' (float64, 10 x 5): {}{}; ", text, remedy);
    EXPECT_EQ(lines[0].substr(0, line.size()), line);
    // The calls of both ranks are in this file.
    const std::string places = lines[0].substr(std::min(line.size(), lines[0].size()));
    const std::size_t first = places.find(" at races_test.cpp:");
    EXPECT_NE(first, std::string::npos) << places;
    EXPECT_NE(places.find(" at races_test.cpp:", first + 1), std::string::npos) << places;
  }
  void expect_silence() { EXPECT_EQ(warnings.take(), std::vector<std::string>()); }
};

void with_check(const std::string& check, const std::function<void(Job&)>& body) {
  on_ranks({.change = [&](rma::Settings& settings) { settings.check = check; }}, body);
}

void on_stage(const std::function<void(Stage&)>& play) {
  with_check("races", [&](Job& job) {
    Warnings warnings(job);
    auto a = Array<double>::create(job, {10, 5}, {.name = "A"}).value();
    Stage stage{job, a, warnings};
    play(stage);
    EXPECT_TRUE(ok(a.free()));
  });
}

const Box upper({0, 0}, {4, 5});
const Box middle({2, 0}, {6, 5});
const Box lower({6, 0}, {10, 5});

/// Rank 0 calls one function and rank 1 the other, and then all sync.
void act(Stage& stage, const std::function<void()>& first, const std::function<void()>& second) {
  if (stage.is_rank(0)) {
    first();
  }
  if (stage.is_rank(1)) {
    second();
  }
  stage.sync();
}

TEST(Races, OfAPutAndAGetAreReportedWithBoxesAndRanks) {
  on_stage([](Stage& stage) {
    act(
        stage, [&] { stage.put(upper); }, [&] { stage.get(middle); });
    stage.expect_race(
        "put of [0,4) x [0,5) by rank 0 and get of [2,6) x [0,5) by rank 1 share [2,4) x [0,5)");
  });
}

TEST(Races, AreReportedOnceForEachTwoKindsOfCalls) {
  on_stage([](Stage& stage) {
    for (int round = 0; round < 3; ++round) {
      act(
          stage, [&] { stage.put(upper); }, [&] { stage.put(middle); });
      if (round == 0) {
        stage.expect_race(
            "put of [0,4) x [0,5) by rank 0 and put of [2,6) x [0,5) by rank 1 share "
            "[2,4) x [0,5)");
      }
    }
    stage.expect_silence();
    act(
        stage, [&] { stage.get(upper); }, [&] { stage.accumulate(upper); });
    stage.expect_race(
        "get of [0,4) x [0,5) by rank 0 and accumulate of [0,4) x [0,5) by rank 1 share "
        "[0,4) x [0,5)");
  });
}

TEST(Races, AreNotThereBetweenSyncsBarriersAndOtherCollectives) {
  on_stage([](Stage& stage) {
    const std::vector<std::function<void()>> meetings{
        [&] { stage.sync(); }, [&] { EXPECT_TRUE(ok(stage.job.barrier())); },
        [&] {
          EXPECT_TRUE(ok(stage.a.fence()));
          EXPECT_TRUE(ok(stage.job.world().allreduce(1, rma::Reduction::sum)));
        },
        [&] { EXPECT_TRUE(ok(fill(stage.a, 3.0))); }};
    for (const auto& meet : meetings) {
      if (stage.is_rank(0)) {
        stage.put(upper);
      }
      meet();
      if (stage.is_rank(1)) {
        stage.get(middle);
        stage.put(middle);
      }
      meet();
      if (stage.is_rank(0)) {
        stage.accumulate(middle);
      }
      meet();
    }
    stage.expect_silence();
  });
}

TEST(Races, AreNotThereWhereAllReadOrAddOrKeepApart) {
  on_stage([](Stage& stage) {
    stage.accumulate(upper);
    stage.sync();
    stage.get(upper);
    stage.sync();
    act(
        stage, [&] { stage.put(upper); }, [&] { stage.get(lower); });
    stage.expect_silence();
  });
}

TEST(Races, OfSectionsAreThereWhereTheirElementsMeet) {
  on_stage([](Stage& stage) {
    const auto put_rows = [&](std::int64_t first, std::int64_t step) {
      const Section rows(Box({first, 0}, {10, 5}), {step, 1});
      EXPECT_TRUE(ok(stage.a.put(rows, std::span<const double>(stage.values))));
    };
    act(
        stage, [&] { put_rows(0, 2); }, [&] { put_rows(1, 2); });
    stage.expect_silence();
    act(
        stage, [&] { put_rows(1, 2); }, [&] { put_rows(0, 3); });
    stage.expect_race(
        "put of [1,10):2 x [0,5):1 by rank 0 and put of [0,10):3 x [0,5):1 by rank 1 share "
        "[3,10) x [0,5)");
  });
}

TEST(Races, OfListsAreThereWhereTheirElementsMeet) {
  on_stage([](Stage& stage) {
    const auto put_elements = [&](const std::vector<Index>& elements) {
      EXPECT_TRUE(ok(scatter(stage.a, elements,
                             std::span<const double>(stage.values).first(elements.size()))));
    };
    act(
        stage,
        [&] {
          put_elements({{0, 0}, {5, 2}, {9, 4}});
        },
        [&] {
          put_elements({{9, 3}, {5, 1}, {0, 1}});
        });
    stage.expect_silence();
    act(
        stage,
        [&] {
          put_elements({{9, 4}, {5, 2}});
        },
        [&] {
          put_elements({{0, 0}, {5, 2}});
        });
    stage.expect_race(
        "put of [5,6) x [2,3) by rank 0 and put of [5,6) x [2,3) by rank 1 share [5,6) x [2,3)");
  });
}

TEST(Races, AreNotThereWithinLocks) {
  on_stage([](Stage& stage) {
    auto locks = rma::LockSet::create(stage.job.world(), 1).value();
    ASSERT_TRUE(ok(locks.lock(TeamRank{0}, 0)));
    stage.get(upper);
    stage.put(upper);
    EXPECT_TRUE(ok(stage.a.fence()));
    ASSERT_TRUE(ok(locks.unlock(TeamRank{0}, 0)));
    stage.sync();
    stage.expect_silence();
    // A put without the lock.
    const auto put_locked = [&] {
      ASSERT_TRUE(ok(locks.lock(TeamRank{0}, 0)));
      stage.put(upper);
      ASSERT_TRUE(ok(locks.unlock(TeamRank{0}, 0)));
    };
    act(stage, put_locked, [&] { stage.put(upper); });
    stage.expect_race(
        "put of [0,4) x [0,5) by rank 0 and put of [0,4) x [0,5) by rank 1 share [0,4) x [0,5)");
    EXPECT_TRUE(ok(locks.free()));
  });
}

TEST(Races, AreNotThereBehindFlagsNotificationsAndAtomicOperations) {
  on_stage([](Stage& stage) {
    Job& job = stage.job;
    if (job.size() == 1) {
      return;
    }
    auto flags = Array<std::int32_t>::create(job, {job.size()}, {.name = "flags"}).value();
    auto words = Array<std::int64_t>::create(job, {1}, {.name = "words"}).value();
    act(
        stage,
        [&] {
          EXPECT_TRUE(ok(put_with_flag(stage.a, upper, std::span<const double>(stage.room(upper)),
                                       {flags, {1}}, 1)));
        },
        [&] {
          EXPECT_TRUE(ok(wait_for_flag({flags, {1}}, 1, TeamRank{0})));
          stage.get(upper);
        });
    act(
        stage,
        [&] {
          stage.put(middle);
          EXPECT_TRUE(ok(rma::notify(job, WorldRank{1})));
        },
        [&] {
          EXPECT_TRUE(ok(rma::wait_for_notifications(job, WorldRank{0}, 1)));
          stage.put(middle);
        });
    act(
        stage,
        [&] {
          stage.accumulate(lower);
          EXPECT_TRUE(ok(stage.a.fence()));
          EXPECT_TRUE(ok(words.fetch_add({0}, 1)));
        },
        [&] {
          while (words.fetch_add({0}, 0).value() == 0) {
          }
          stage.get(lower);
        });
    EXPECT_TRUE(ok(words.sync()));
    act(
        stage,
        [&] {
          stage.put(upper);
          EXPECT_TRUE(ok(stage.a.fence()));
          EXPECT_TRUE(ok(words.put_element({0}, 7)));
        },
        [&] {
          while (words.get_element({0}).value() != 7) {
          }
          stage.get(upper);
        });
    stage.expect_silence();
    EXPECT_TRUE(ok(words.sync()));
    EXPECT_TRUE(ok(words.free()));
    EXPECT_TRUE(ok(flags.free()));
  });
}

// After a rank draws a task from a counter, its operations are ordered after those of other ranks
// before they drew. A rank that has not drawn is not ordered.
TEST(Races, AreFoundAmongTasksThatACounterGives) {
  on_stage([](Stage& stage) {
    auto counter = Counter::create(stage.job, stage.job.world()).value();
    const auto work = [&] {
      EXPECT_TRUE(ok(counter.next()));
      stage.accumulate(upper);
      EXPECT_TRUE(ok(counter.next()));
    };
    act(stage, work, [&] { stage.get(upper); });
    stage.expect_race(
        "accumulate of [0,4) x [0,5) by rank 0 and get of [0,4) x [0,5) by rank 1 share "
        "[0,4) x [0,5)");
    EXPECT_TRUE(ok(counter.free()));
  });
}

TEST(Races, OfElementsThatChangedLocallyAreReported) {
  on_stage([](Stage& stage) {
    const Box own = stage.a.own_box();
    if (stage.is_rank(0) && !own.is_empty()) {
      auto access = stage.a.local().value();
      access.view()(0, 0) = 7.0;
    }
    if (stage.is_rank(1)) {
      stage.get(upper);
    }
    stage.sync();
    stage.expect_race(
        "local write of [0,1) x [0,1) by rank 0 and get of [0,4) x [0,5) by rank 1 share "
        "[0,1) x [0,1)");
  });
}

TEST(Races, OfAPutAndALocalAccessAreReported) {
  on_stage([](Stage& stage) {
    const Array<double>& reading = stage.a;
    if (stage.is_rank(0)) {
      EXPECT_TRUE(ok(reading.local()));
    }
    if (stage.is_rank(1)) {
      stage.put(Box({0, 0}, {1, 5}));
    }
    stage.sync();
    const std::string block = to_string(stage.a.box_of(TeamRank{0}));
    const std::string common =
        to_string(intersect(stage.a.box_of(TeamRank{0}), Box({0, 0}, {1, 5})));
    stage.expect_race(fmt::format(
        "local access of {} by rank 0 and put of [0,1) x [0,5) by rank 1 share {}", block, common));
  });
}

// The library doesn't see the use of views that are kept across syncs. Views during which no
// element changes count as reads only.
TEST(Races, AreNotThereForLocalAccessesThatLastOrReadOnly) {
  on_stage([](Stage& stage) {
    auto access = stage.a.local().value();
    for (int round = 0; round < 3; ++round) {
      act(
          stage, [&] { stage.put(upper); }, [] {});
      act(
          stage, [&] { stage.get(upper); }, [&] { stage.get(middle); });
      const Box own = access.own();
      if (!own.is_empty()) {
        access.view()(own.lo(0), own.lo(1)) = round + 10.0;
      }
      stage.sync();
      stage.get(middle);
      EXPECT_TRUE(ok(stage.a.local()));
      stage.sync();
    }
    EXPECT_TRUE(ok(access.end()));
    stage.expect_silence();
  });
}

TEST(Races, OfChangesWhileAnAccessLastsAreReported) {
  on_stage([](Stage& stage) {
    auto access = stage.a.local().value();
    stage.sync();
    if (stage.is_rank(0)) {
      access.view()(0, 0) = 7.0;
    }
    if (stage.is_rank(1)) {
      stage.get(Box({0, 0}, {1, 1}));
    }
    stage.sync();
    stage.expect_race(
        "local write of [0,1) x [0,1) by rank 0 and get of [0,1) x [0,1) by rank 1 share "
        "[0,1) x [0,1)");
  });
}

struct Particle {
  std::array<double, 3> position;
  double mass;
  double charge;
};

TEST(Races, OfDifferentFieldsAreNone) {
  with_check("races", [](Job& job) {
    Warnings warnings(job);
    auto a = Array<Particle>::create(job, {8}, {.name = "A"}).value();
    const std::vector<double> values(8, 1.0);
    if (job.rank().value == 0) {
      EXPECT_TRUE(ok(a.put(field(a.box(), &Particle::mass), std::span<const double>(values))));
    } else if (job.rank().value == 1) {
      EXPECT_TRUE(ok(a.put(field(a.box(), &Particle::charge), std::span<const double>(values))));
    }
    EXPECT_TRUE(ok(a.sync()));
    EXPECT_EQ(warnings.take(), std::vector<std::string>());
    if (job.rank().value < 2) {
      EXPECT_TRUE(ok(a.put(field(a.box(), &Particle::mass), std::span<const double>(values))));
    }
    EXPECT_TRUE(ok(a.sync()));
    EXPECT_EQ(warnings.take().size(), job.size() > 1 && job.rank().value == 0 ? 1U : 0U);
  });
}

TEST(Races, AreReportedByBarriersAndWhenTheArrayIsFreed) {
  const auto race = [](Stage& stage) {
    if (stage.job.rank().value < 2) {
      stage.put(upper);
    }
  };
  constexpr std::string_view text =
      "put of [0,4) x [0,5) by rank 0 and put of [0,4) x [0,5) by rank 1 share [0,4) x [0,5)";
  on_stage([&](Stage& stage) {
    race(stage);
    EXPECT_TRUE(ok(stage.job.barrier()));
    stage.expect_race(text);
  });
  on_stage([&](Stage& stage) {
    race(stage);
    EXPECT_TRUE(ok(stage.a.free()));
    stage.expect_race(text);
  });
  on_stage([&](Stage& stage) {
    race(stage);
    { const Array<double> gone = std::move(stage.a); }
    stage.expect_race(text);
  });
}

TEST(Races, FailTheSyncOnAllRanksIfAskedTo) {
  with_check("races-fail", [](Job& job) {
    Warnings warnings(job);
    auto a = Array<double>::create(job, {10, 5}, {.name = "A"}).value();
    const std::vector<double> values(20, 1.0);
    for (int round = 0; round < 2; ++round) {
      if (job.rank().value < 2) {
        EXPECT_TRUE(ok(a.put(upper, std::span<const double>(values))));
      }
      const Status synced = round == 0 ? a.sync() : job.barrier();
      if (job.size() == 1) {
        EXPECT_TRUE(ok(synced));
      } else {
        EXPECT_TRUE(fails(synced, Code::invalid_argument,
                          {"race in array 'A' (float64, 10 x 5): put of [0,4) x [0,5) by rank 0 "
                           "and put of [0,4) x [0,5) by rank 1 share [0,4) x [0,5)"}));
      }
    }
    EXPECT_TRUE(ok(a.sync()));
    EXPECT_TRUE(ok(a.free()));
    EXPECT_EQ(warnings.take(), std::vector<std::string>());
  });
}

TEST(Races, OfMoreBoxesThanAreKeptAreNotAllFoundWhichIsSaid) {
  with_check("races", [](Job& job) {
    Warnings warnings(job);
    auto a = Array<double>::create(job, {20'000}, {.name = "A"}).value();
    std::vector<std::int64_t> places;
    for (std::int64_t i = 0; i < 20'000; i += 2) {
      places.push_back(i);
    }
    const std::vector<double> values(places.size(), 1.0);
    for (int round = 0; round < 2; ++round) {
      if (job.rank().value == 0) {
        EXPECT_TRUE(ok(scatter(a, IndexList::flat(places, 1), values)));
      }
      EXPECT_TRUE(ok(a.sync()));
    }
    if (job.rank().value == 0) {
      EXPECT_EQ(warnings.take(),
                std::vector<std::string>{
                    "the race check of array 'A' (float64, 20000) is incomplete: this rank "
                    "used more than 4096 boxes of it between two syncs"});
    }
  });
}

TEST(Races, OnATeamAreReportedByItsSyncs) {
  with_check("races", [](Job& job) {
    Warnings warnings(job);
    const std::int32_t half = job.rank().value % 2;
    Team team = job.world().split(half, -job.rank().value).value();
    auto a = Array<double>::create(job, {6}, {.name = "A", .team = team}).value();
    const std::vector<double> values(6, 1.0);
    const auto put = [&] { EXPECT_TRUE(ok(a.put(a.box(), std::span<const double>(values)))); };
    // A barrier of all ranks orders the members of any team.
    if (team.rank().value == 0) {
      put();
    }
    EXPECT_TRUE(ok(job.barrier()));
    if (team.rank().value == 1) {
      put();
    }
    EXPECT_TRUE(ok(a.sync()));
    EXPECT_EQ(warnings.take(), std::vector<std::string>());
    put();
    EXPECT_TRUE(ok(a.sync()));
    EXPECT_EQ(warnings.take().size(), team.size() > 1 && team.rank().value == 0 ? 1U : 0U);
  });
}

TEST(Races, OfGhostCellsAndWholeArraysAreNone) {
  with_check("races", [](Job& job) {
    Warnings warnings(job);
    auto a = Array<double>::create(job, {20, 20}, {.name = "A", .ghosts = {1, 1}}).value();
    auto b = a.duplicate("B").value();
    auto halo = Halo::create(a).value();
    for (int round = 0; round < 3; ++round) {
      EXPECT_TRUE(ok(fill(a, round)));
      EXPECT_TRUE(ok(halo.update()));
      EXPECT_TRUE(ok(copy(a, b)));
      EXPECT_TRUE(ok(add(1.0, a, 2.0, b, a)));
      EXPECT_TRUE(ok(b.get(b.box())));
      EXPECT_TRUE(ok(b.sync()));
    }
    EXPECT_EQ(warnings.take(), std::vector<std::string>());
  });
}

// Random calls of all ranks; each rank knows the calls of the others, and marks elements one by
// one.
class Oracle {
 public:
  static constexpr std::int64_t rows = 12;
  static constexpr std::int64_t columns = 9;
  enum Kind : std::uint8_t { put, get, accumulate };

  struct Call {
    std::int32_t rank;
    Kind kind;
    Box box;
  };

  void add(const Call& call) { calls_.push_back(call); }
  // The races that the sync finds: "put get", "put put" and so on.
  [[nodiscard]] std::set<std::string> races() const {
    std::set<std::string> found;
    for (const Call& one : calls_) {
      for (const Call& other : calls_) {
        const bool may_meet = one.rank == other.rank || (one.kind == other.kind && one.kind != put);
        if (!may_meet && one.kind <= other.kind && share_an_element(one.box, other.box)) {
          found.insert(fmt::format("{} {}", names[one.kind], names[other.kind]));
        }
      }
    }
    return found;
  }
  void clear() { calls_.clear(); }

  static constexpr std::array<std::string_view, 3> names{"put", "get", "accumulate"};

 private:
  static bool share_an_element(const Box& one, const Box& other) {
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < columns; ++j) {
        if (one.contains(Index{i, j}) && other.contains(Index{i, j})) {
          return true;
        }
      }
    }
    return false;
  }

  std::vector<Call> calls_;
};

Box random_box(std::minstd_rand& random) {
  const auto below = [&](std::int64_t limit) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(limit));
  };
  const Index lo{below(Oracle::rows), below(Oracle::columns)};
  return Box(lo, {lo[0] + 1 + below(std::min<std::int64_t>(3, Oracle::rows - lo[0])),
                  lo[1] + 1 + below(std::min<std::int64_t>(3, Oracle::columns - lo[1]))});
}

// The kinds of the calls in a warning, in the oracle's order.
std::string kinds_in(const std::string& line) {
  std::vector<std::string_view> found;
  for (const std::string_view name : Oracle::names) {
    const std::string call = fmt::format("{} of ", name);
    for (std::size_t at = line.find(call); at != std::string::npos; at = line.find(call, at + 1)) {
      found.push_back(name);
    }
  }
  return found.size() == 2 ? fmt::format("{} {}", found[0], found[1]) : line;
}

TEST(Races, AtRandomAreThoseOfAnOracle) {
  with_check("races", [](Job& job) {
    Warnings warnings(job);
    std::minstd_rand random(static_cast<unsigned>(testing::UnitTest::GetInstance()->random_seed()));
    std::vector<double> values(9, 1.0);
    for (int round = 0; round < 20; ++round) {
      auto a = Array<double>::create(job, {Oracle::rows, Oracle::columns}, {.name = "A"}).value();
      Oracle oracle;
      for (std::int32_t rank = 0; rank < job.size(); ++rank) {
        for (int k = 0; k < 3; ++k) {
          const Oracle::Call call{rank, static_cast<Oracle::Kind>(random() % 3),
                                  random_box(random)};
          oracle.add(call);
          if (rank != job.rank().value) {
            continue;
          }
          const auto some = std::span(values).first(static_cast<std::size_t>(call.box.volume()));
          EXPECT_TRUE(ok(call.kind == Oracle::put   ? a.put(call.box, some)
                         : call.kind == Oracle::get ? a.get(call.box, some)
                                                    : a.accumulate(call.box, some)));
        }
      }
      EXPECT_TRUE(ok(a.sync()));
      std::set<std::string> mine;
      for (const std::string& line : warnings.take()) {
        EXPECT_TRUE(mine.insert(kinds_in(line)).second) << line;
      }
      // Each kind is reported by one rank.
      for (const std::string_view kinds :
           {"put put", "put get", "put accumulate", "get accumulate"}) {
        const auto told = job.world().allreduce(
            static_cast<std::int64_t>(mine.count(std::string(kinds))), rma::Reduction::sum);
        EXPECT_EQ(told.value(), oracle.races().count(std::string(kinds)) != 0 ? 1 : 0) << kinds;
      }
      EXPECT_TRUE(ok(a.free()));
    }
  });
}

}  // namespace
}  // namespace tessera::arrays
