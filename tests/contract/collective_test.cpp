// SPDX-License-Identifier: BSD-3-Clause
//
// Collectives: every kind, type and reduction, sizes around the limits of their buffers, and
// members that call different collectives.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "rma/job.hpp"
#include "rma/transfer.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/effort.hpp"
#include "tests/support/rank_main.hpp"

namespace tessera::rma {
namespace {

using test::fails;
using test::ok;
using test::on_ranks;

// Jobs with the smallest buffers, so that all but the smallest collectives take several steps.
void on_ranks_with_small_slots(const std::function<void(Job&)>& body) {
  on_ranks({.change = [](Settings& settings) { settings.collective_slot_bytes = 256; }}, body);
}

// Sizes around one slot of either size; around two slots, above which teams over several nodes
// treat data as long; around the pieces of long data, of 16 slots, and around 4 pieces; and some
// larger ones.
constexpr std::array<std::size_t, 23> sizes{
    0,    1,    7,      255,    256,    257,    511,    512,    513,     1000,    1024,   1025,
    4096, 4097, 16'384, 16'385, 32'768, 32'769, 65'536, 65'537, 100'001, 262'145, 600'001};

// With the smallest slots, small data already reaches all of these limits, and makes up to four
// rounds of 4 pieces, or one under a sanitizer. Larger data would take hundreds of steps, and half
// of this suite's time.
bool is_worthwhile(const Job& job, std::size_t bytes) {
  constexpr std::size_t most = tessera::test::is_sanitized ? 16'385 : 65'537;
  return bytes <= most || job.settings().collective_slot_bytes > 256;
}

std::vector<std::byte> pattern(std::size_t bytes, std::int32_t rank) {
  std::vector<std::byte> result(bytes);
  for (std::size_t i = 0; i < bytes; ++i) {
    result[i] = static_cast<std::byte>(i * 13 + static_cast<std::size_t>(rank) * 101);
  }
  return result;
}

void broadcast_all_sizes(Job& job) {
  for (const std::size_t bytes : sizes) {
    if (!is_worthwhile(job, bytes)) {
      continue;
    }
    for (std::int32_t root = 0; root < job.size(); ++root) {
      std::vector<std::byte> data =
          job.rank().value == root ? pattern(bytes, root) : std::vector<std::byte>(bytes);
      ASSERT_TRUE(ok(job.world().broadcast(data, TeamRank{root})));
      ASSERT_EQ(data, pattern(bytes, root)) << bytes << " bytes from " << root;
    }
  }
}

TEST(Broadcast, CopiesAnySizeFromAnyRoot) {
  on_ranks(broadcast_all_sizes);
  on_ranks_with_small_slots(broadcast_all_sizes);
}

void allgather_all_sizes(Job& job) {
  const auto ranks = static_cast<std::size_t>(job.size());
  for (const std::size_t bytes : sizes) {
    if (!is_worthwhile(job, bytes)) {
      continue;
    }
    std::vector<std::byte> all(bytes * ranks);
    ASSERT_TRUE(ok(job.world().allgather(pattern(bytes, job.rank().value), all)));
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const auto expected = pattern(bytes, static_cast<std::int32_t>(rank));
      ASSERT_TRUE(std::equal(expected.begin(), expected.end(),
                             all.begin() + static_cast<std::ptrdiff_t>(rank * bytes)))
          << bytes << " bytes of " << rank;
    }
  }
}

TEST(Allgather, GathersAnySizeInTeamOrder) {
  on_ranks(allgather_all_sizes);
  on_ranks_with_small_slots(allgather_all_sizes);
}

constexpr std::array<Reduction, reduction_count> all_reductions{
    Reduction::sum,         Reduction::product,   Reduction::min,     Reduction::max,
    Reduction::abs_min,     Reduction::abs_max,   Reduction::bit_and, Reduction::bit_or,
    Reduction::logical_and, Reduction::logical_or};

template <class T>
constexpr bool is_defined_for(Reduction reduction) {
  if (reduction == Reduction::sum || reduction == Reduction::product) {
    return true;
  }
  if (reduction == Reduction::bit_and || reduction == Reduction::bit_or) {
    return std::is_integral_v<T>;
  }
  return std::is_arithmetic_v<T>;
}

template <class T>
std::vector<T> absolute(std::vector<T> values) {
  std::transform(values.begin(), values.end(), values.begin(),
                 [](T value) { return value < 0 ? -value : value; });
  return values;
}

// The bits that are set in all operands, or in any of them.
template <class T>
T reduced_bits(const std::vector<T>& operands, Reduction reduction) {
  T result = 0;
  for (unsigned bit = 0; bit < 8 * sizeof(T); ++bit) {
    const auto has_bit = [&](T operand) { return (operand >> bit & 1) != 0; };
    const bool is_set = reduction == Reduction::bit_and
                            ? std::all_of(operands.begin(), operands.end(), has_bit)
                            : std::any_of(operands.begin(), operands.end(), has_bit);
    if (is_set) {
      result = static_cast<T>(result | static_cast<T>(std::make_unsigned_t<T>{1} << bit));
    }
  }
  return result;
}

template <class T>
T reduced_reals(const std::vector<T>& operands, Reduction reduction) {
  const std::vector<T> lengths = absolute(operands);
  const auto zeros = std::count(operands.begin(), operands.end(), T{0});
  switch (reduction) {
    case Reduction::min:
      return *std::min_element(operands.begin(), operands.end());
    case Reduction::max:
      return *std::max_element(operands.begin(), operands.end());
    case Reduction::abs_min:
      return *std::min_element(lengths.begin(), lengths.end());
    case Reduction::abs_max:
      return *std::max_element(lengths.begin(), lengths.end());
    case Reduction::logical_and:
      return zeros == 0 ? T{1} : T{0};
    case Reduction::logical_or:
      return zeros < std::ssize(operands) ? T{1} : T{0};
    default:
      break;
  }
  if constexpr (std::is_integral_v<T>) {
    return reduced_bits(operands, reduction);
  } else {
    return T{};
  }
}

// The reduction of the operands of all ranks, in rank order.
template <class T>
T reduced(const std::vector<T>& operands, Reduction reduction) {
  if (reduction == Reduction::sum) {
    return std::accumulate(operands.begin(), operands.end(), T{0});
  }
  if (reduction == Reduction::product) {
    return std::accumulate(operands.begin(), operands.end(), T{1}, std::multiplies<T>());
  }
  if constexpr (std::is_arithmetic_v<T>) {
    return reduced_reals(operands, reduction);
  } else {
    return T{};
  }
}

// The operand of rank `rank`: small whole numbers, so that results are exact.
template <class T>
std::vector<T> brought(std::size_t count, std::int32_t rank) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto whole = static_cast<std::int32_t>(i % 3) - 1 + (rank % 2) * static_cast<int>(i % 2);
    if constexpr (std::is_arithmetic_v<T>) {
      values[i] = static_cast<T>(whole);
    } else {
      using Part = typename T::value_type;
      values[i] = T(static_cast<Part>(whole), static_cast<Part>(rank % 2));
    }
  }
  return values;
}

template <class T>
void reduce_one(Job& job, std::size_t count, Reduction reduction) {
  std::vector<std::vector<T>> of_ranks;
  for (std::int32_t rank = 0; rank < job.size(); ++rank) {
    of_ranks.push_back(brought<T>(count, rank));
  }
  std::vector<T> expected(count);
  std::vector<T> operands(of_ranks.size());
  for (std::size_t i = 0; i < count; ++i) {
    std::transform(of_ranks.begin(), of_ranks.end(), operands.begin(),
                   [&](const std::vector<T>& values) { return values[i]; });
    expected[i] = reduced(operands, reduction);
  }
  const std::vector<T> mine = brought<T>(count, job.rank().value);
  std::vector<T> values = mine;
  ASSERT_TRUE(ok(job.world().allreduce(std::span<T>(values), reduction)));
  ASSERT_EQ(values, expected) << to_string(reduction) << " of " << count << " elements";
  const TeamRank root{job.size() - 1};
  values = mine;
  ASSERT_TRUE(ok(job.world().reduce(values.data(), static_cast<std::int64_t>(count),
                                    element_type<T>(), reduction, root)));
  ASSERT_EQ(values, job.world().rank() == root ? expected : mine) << count << " elements";
}

void reduce_everything(Job& job) {
  for (int type = 0; type < element_type_count; ++type) {
    dispatch(static_cast<ElementType>(type), [&]<class T>(Tag<T>) {
      for (const Reduction reduction : all_reductions) {
        if (!is_defined_for<T>(reduction)) {
          T value{};
          EXPECT_TRUE(fails(job.world().allreduce(value, reduction), Code::invalid_argument,
                            {"reduction " + std::string(to_string(reduction)) +
                             " is not defined for " + std::string(to_string(element_type<T>()))}));
          continue;
        }
        for (const std::size_t count : {0U, 1U, 3U, 31U, 33U, 65U, 1025U, 4099U, 20'001U}) {
          if (is_worthwhile(job, count * sizeof(T))) {
            reduce_one<T>(job, count, reduction);
          }
        }
      }
    });
  }
}

TEST(Reduce, CombinesAllTypesByAllReductionsInAnyNumber) {
  on_ranks(reduce_everything);
  on_ranks_with_small_slots(reduce_everything);
}

TEST(Reduce, RefusesAReductionThatDoesNotExist) {
  on_ranks([](Job& job) {
    EXPECT_TRUE(fails(job.world().allreduce(1, static_cast<Reduction>(reduction_count)),
                      Code::invalid_argument, {"reduction unknown is not defined for int32"}));
  });
}

template <class T>
void reduce_borders_of_integers(Job& job) {
  constexpr T least = std::numeric_limits<T>::min();
  constexpr T most = std::numeric_limits<T>::max();
  Team& world = job.world();
  // The last rank has the most negative number, whose absolute value is itself.
  const T mine = job.rank().value == job.size() - 1 ? least : T{-5};
  EXPECT_EQ(world.allreduce(mine, Reduction::abs_min).value(), least);
  EXPECT_EQ(world.allreduce(mine, Reduction::abs_max).value(), job.size() > 1 ? T{5} : least);
  EXPECT_EQ(world.allreduce(T{-most}, Reduction::abs_max).value(), most);
  EXPECT_EQ(world.allreduce(least, Reduction::bit_and).value(), least);
  EXPECT_EQ(world.allreduce(mine, Reduction::bit_or).value(), job.size() > 1 ? T{-5} : least);
  EXPECT_EQ(world.allreduce(least, Reduction::logical_and).value(), T{1});
  // One bit for each rank.
  const T bit = T{1} << job.rank().value;
  EXPECT_EQ(world.allreduce(bit, Reduction::bit_or).value(), (T{1} << job.size()) - 1);
  EXPECT_EQ(world.allreduce(static_cast<T>(~bit), Reduction::bit_and).value(),
            static_cast<T>(~((T{1} << job.size()) - 1)));
}

TEST(Reduce, KnowsTheBordersOfIntegers) {
  on_ranks([](Job& job) {
    reduce_borders_of_integers<std::int32_t>(job);
    reduce_borders_of_integers<std::int64_t>(job);
  });
}

TEST(Reduce, TakesFractionsInfinitiesAndNanForTrue) {
  on_ranks([](Job& job) {
    Team& world = job.world();
    constexpr double infinity = std::numeric_limits<double>::infinity();
    EXPECT_EQ(world.allreduce(1e-300, Reduction::logical_and).value(), 1.0);
    EXPECT_EQ(world.allreduce(std::nan(""), Reduction::logical_or).value(), 1.0);
    EXPECT_EQ(world.allreduce(-0.0, Reduction::logical_or).value(), 0.0);
    EXPECT_EQ(world.allreduce(-infinity, Reduction::abs_max).value(), infinity);
    EXPECT_FALSE(std::signbit(world.allreduce(-0.0F, Reduction::abs_min).value()));
  });
}

TEST(Reduce, OfARootDoesNotChangeTheOthersElements) {
  on_ranks([](Job& job) {
    for (std::int32_t root = 0; root < job.size(); ++root) {
      double value = -7;
      ASSERT_TRUE(
          ok(job.world().reduce(&value, 1, ElementType::f64, Reduction::abs_max, TeamRank{root})));
      EXPECT_EQ(value, job.rank().value == root ? 7 : -7);
    }
  });
}

TEST(Allreduce, AddsFloatingPointNumbersInTheSameOrderEverywhereAndEachTime) {
  on_ranks([](Job& job) {
    std::vector<double> values(3001);
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = 1.0 / static_cast<double>(i + 3 + static_cast<std::size_t>(job.rank().value));
    }
    std::vector<double> first = values;
    std::vector<double> second = values;
    ASSERT_TRUE(ok(job.world().allreduce(std::span(first), Reduction::sum)));
    ASSERT_TRUE(ok(job.world().allreduce(std::span(second), Reduction::sum)));
    EXPECT_EQ(first, second);
    std::vector<double> of_root = first;
    ASSERT_TRUE(ok(job.world().broadcast(std::as_writable_bytes(std::span(of_root)), TeamRank{0})));
    EXPECT_EQ(first, of_root);
  });
}

TEST(Barrier, HoldsUntilAllHaveCome) {
  on_ranks([](Job& job) {
    Region region = Region::allocate(job.world(), 64).value();
    for (std::int32_t round = 1; round <= 100; ++round) {
      // Each rank puts to its own slice, meets the others in a barrier and reads its neighbour's
      // slice.
      ASSERT_TRUE(ok(put_value(job, region.at(job.world().rank()), round)));
      ASSERT_TRUE(ok(job.barrier()));
      ASSERT_EQ(get_value<std::int32_t>(job, region.at(test::neighbour(job))).value(), round);
      ASSERT_TRUE(ok(job.barrier()));
    }
  });
}

TEST(Collectives, OfManyKindsMayFollowEachOther) {
  on_ranks_with_small_slots([](Job& job) {
    for (std::int32_t round = 0; round < 60; ++round) {
      std::int64_t value = job.rank().value == round % job.size() ? round : -1;
      ASSERT_TRUE(ok(job.world().broadcast_value(value, TeamRank{round % job.size()})));
      ASSERT_EQ(value, round);
      ASSERT_EQ(job.world().allreduce(value, Reduction::sum).value(),
                std::int64_t{round} * job.size());
      const auto all = job.world().allgather_value(job.rank().value * 2).value();
      ASSERT_EQ(all.back(), 2 * (job.size() - 1));
      if (round % 3 == 0) {
        ASSERT_TRUE(ok(job.world().barrier()));
      }
      std::vector<double> many(static_cast<std::size_t>(100 + round), 1.0);
      ASSERT_TRUE(ok(job.world().allreduce(std::span(many), Reduction::sum)));
      ASSERT_EQ(many.back(), job.size());
      ASSERT_TRUE(ok(job.world().agree(Status())));
    }
  });
}

TEST(Agree, GivesTheErrorOfTheLowestFailingMemberToAll) {
  on_ranks([](Job& job) {
    const Status mine = job.rank().value == 0 && job.size() > 1
                            ? Status()
                            : Status::error(Code::limit_exceeded,
                                            "sentence of " + std::to_string(job.rank().value));
    const std::int32_t lowest = job.size() > 1 ? 1 : 0;
    const Status agreed = job.world().agree(mine);
    EXPECT_TRUE(
        fails(agreed, Code::limit_exceeded,
              {"on rank " + std::to_string(lowest), "sentence of " + std::to_string(lowest)}));
    EXPECT_EQ(agreed.rank(), WorldRank{lowest});
    EXPECT_TRUE(ok(job.world().agree(Status())));
  });
}

TEST(Agree, ReportsToAllThatMembersWereAskedForDifferentThings) {
  on_ranks([](Job& job) {
    EXPECT_TRUE(ok(job.world().agree(Status(), {7})));
    const std::int32_t last = job.size() - 1;
    const bool is_odd = job.rank().value == last;
    if (last > 0) {
      EXPECT_TRUE(fails(
          job.world().agree(Status(), {7U, {.verb = is_odd ? "fill" : "sum"}}),
          Code::invalid_argument,
          {"rank " + std::to_string(last) + " called fill where rank 0 called sum", "hint:"}));
    }
    // A member's own error takes precedence over an error that another member reports.
    EXPECT_TRUE(fails(job.world().agree(is_odd ? Status::error(Code::closed, "gone") : Status(),
                                        AgreedCall{is_odd ? 0U : 7U}),
                      Code::closed, {"on rank " + std::to_string(last) + ": gone"}));
    EXPECT_TRUE(ok(job.world().agree(Status(), {1})));
  });
}

TEST(Agree, ComparesScalarsUnlessTheTeamsOptionsSayOtherwise) {
  on_ranks([](Job& job) {
    Team own = job.world().split(0, 0).value();
    const auto last = static_cast<std::uint64_t>(job.size() - 1);
    const auto scalar = static_cast<std::uint64_t>(job.rank().value);
    const auto agree = [&](Team& team, std::uint64_t hash) {
      return team.agree(Status(), {hash, {.verb = "fill"}, scalar});
    };
    EXPECT_EQ(agree(own, 7).ok(), last == 0);
    own.set_options({.compare_scalars = false});
    EXPECT_TRUE(ok(agree(own, 7)));
    if (last > 0) {
      EXPECT_TRUE(fails(agree(own, scalar == last ? 8 : 7), Code::invalid_argument, {"fill"}));
    }
    Team part = own.split(0, 0).value();
    EXPECT_FALSE(part.options().compare_scalars);
    EXPECT_TRUE(ok(agree(part, 7)));
    EXPECT_TRUE(job.world().options().compare_scalars);
    EXPECT_EQ(agree(job.world(), 7).ok(), last == 0);
  });
}

TEST(Agree, KeepsTheRankThatAnErrorNamesAndCutsLongSentences) {
  on_ranks_with_small_slots([](Job& job) {
    const Status mine =
        Status::error_at(WorldRank{job.size() - 1}, Code::peer_lost, std::string(5000, 'x'));
    const Status agreed = job.world().agree(mine);
    EXPECT_TRUE(fails(agreed, Code::peer_lost, {"on rank 0: xxx"}));
    EXPECT_EQ(agreed.rank(), WorldRank{job.size() - 1});
  });
}

}  // namespace
}  // namespace tessera::rma
