// SPDX-License-Identifier: BSD-3-Clause
//
// contract against plain loops over all letters, and its errors.
#include "linalg/contract.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "arrays/elementwise.hpp"
#include "tests/linalg/ranks/distributed.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/effort.hpp"
#include "tests/support/rank_main.hpp"
#include "tests/support/shared_seed.hpp"

namespace tessera::linalg {
namespace {

using rma::Code;
using rma::Job;
using rma::Team;
using rma::WorldRank;
using rma::test::fails;
using rma::test::ok;
using rma::test::on_ranks;
using test::Array;
using test::Box;
using test::Distribution;
using test::Extents;
using test::Index;
using test::Kind;
using test::MemoryOrder;
using test::Random;
using test::Wide;

using Sizes = std::map<char, std::int64_t>;

Extents extents_of(const std::string& letters, const Sizes& sizes) {
  Extents extents = Extents::zeros(static_cast<int>(letters.size()));
  for (int dim = 0; dim < extents.ndims(); ++dim) {
    extents[dim] = sizes.at(letters[static_cast<std::size_t>(dim)]);
  }
  return extents;
}

Index index_of(const std::string& letters, const Sizes& values) {
  return Index::from(extents_of(letters, values));
}

/// Three lettered arrays and their seeds: 1 for A, 2 for B, 3 for C.
template <class T>
struct Case {
  std::string c, a, b;
  Sizes sizes;
  ContractOptions<T> options;

  /// The element of the result, by loops over the letters that C lacks.
  [[nodiscard]] Wide expected(const Index& at) const {
    Sizes values;
    for (std::size_t i = 0; i < c.size(); ++i) {
      values[c[i]] = at[static_cast<int>(i)];
    }
    std::string summed;
    std::copy_if(a.begin(), a.end(), std::back_inserter(summed),
                 [&](char letter) { return c.find(letter) == std::string::npos; });
    Wide sum = 0;
    for (Index inner = Index::zeros(static_cast<int>(summed.size()));;) {
      for (std::size_t i = 0; i < summed.size(); ++i) {
        values[summed[i]] = inner[static_cast<int>(i)];
      }
      sum += Wide(test::element<T>(index_of(a, values), 1)) *
             Wide(test::element<T>(index_of(b, values), 2));
      if (!advance(inner, extents_of(summed, sizes), MemoryOrder::row_major)) {
        break;
      }
    }
    const Wide beta(options.beta);
    return Wide(options.alpha) * sum +
           (beta == 0.0 ? Wide(0) : beta * Wide(test::element<T>(at, 3)));
  }

  void expect(Array<T>& array_c, Array<T>& array_a, Array<T>& array_b) const {
    ASSERT_TRUE(ok(contract(a, array_a, b, array_b, c, array_c, options)));
    const Box box = array_c.box();
    std::vector<T> values(static_cast<std::size_t>(box.volume()));
    ASSERT_TRUE(ok(array_c.get(box, values)));
    Index at = box.lo();
    double worst = 0;
    std::int64_t terms = 1;
    for (const char letter : a) {
      terms *= sizes.at(letter);
    }
    for (const T& value : values) {
      worst = std::max(worst, std::abs(Wide(value) - expected(at)));
      advance(at, box.extents(), MemoryOrder::row_major);
    }
    EXPECT_LE(worst, test::bound<T>(terms, 4)) << c << " = " << a << " " << b;
    ASSERT_TRUE(ok(array_c.sync()));
  }
};

template <class T>
void expect_contraction(Job& job, Random& random, const Case<T>& problem) {
  const auto make = [&](const std::string& letters, std::uint64_t seed, const char* name) {
    const Kind kind = test::all_kinds[test::pick(random, 0, 5)];
    const auto order =
        test::pick(random, 0, 1) == 0 ? MemoryOrder::row_major : MemoryOrder::column_major;
    return test::make_filled<T>(
        job,
        test::make_distribution(kind, extents_of(letters, problem.sizes), job.size(),
                                test::pick(random, 1, 4), order, random),
        seed, {.name = name});
  };
  auto a = make(problem.a, 1, "A");
  auto b = make(problem.b, 2, "B");
  auto c = make(problem.c, 3, "C");
  problem.expect(c, a, b);
}

struct Letters {
  const char* c;
  const char* a;
  const char* b;
};

constexpr Letters forms[] = {{"ij", "ik", "kj"},       {"ji", "ik", "kj"},
                             {"ij", "ki", "jk"},       {"abij", "abcd", "cdij"},
                             {"iajb", "dabc", "jcid"}, {"i", "ij", "j"},
                             {"ij", "i", "j"},         {"jia", "aj", "i"},
                             {"abc", "cxab", "x"},     {"aebfcd", "bxdy", "fyecxa"},
                             {"x", "abc", "cxab"},     {"i", "j", "ij"}};

TEST(Contract, AgreesWithLoopsOverTheLetters) {
  on_ranks([](Job& job) {
    const rma::test::SharedSeed seed(job);
    Random random = seed.generator(-1);
    for (const Letters& form : forms) {
      for (int round = 0; round < (tessera::test::is_sanitized ? 1 : 3); ++round) {
        Case<double> problem{form.c, form.a, form.b, {}, {}};
        for (const char letter : problem.a + problem.b) {
          problem.sizes[letter] = test::pick(random, 1, std::string(form.c).size() > 4 ? 3 : 6);
        }
        problem.options = {.alpha = 1.5,
                           .beta = static_cast<double>(test::pick(random, -1, 1)),
                           .buffer_bytes = test::pick(random, 64, 4096)};
        expect_contraction(job, random, problem);
      }
    }
  });
}

TEST(Contract, OtherTypes) {
  on_ranks([](Job& job) {
    Random random(5);
    const Sizes sizes{{'a', 4}, {'b', 5}, {'c', 3}, {'d', 6}, {'i', 2}, {'j', 7}};
    expect_contraction<float>(job, random, {"abij", "cabd", "dijc", sizes, {.beta = 2}});
    expect_contraction<std::complex<float>>(
        job, random, {"abij", "cabd", "dijc", sizes, {.alpha = {0, 1}, .beta = {1, 1}}});
    expect_contraction<std::complex<double>>(
        job, random, {"jbia", "cabd", "dijc", sizes, {.alpha = {2, -1}, .beta = {0, 0}}});
  });
}

TEST(Contract, ExtentsOfZeroAndOne) {
  on_ranks([](Job& job) {
    const auto make = [&](const Extents& extents, std::uint64_t seed) {
      return test::make_filled<double>(job, Distribution::regular(extents, job.size()).value(),
                                       seed, {.name = "X"});
    };
    auto a = make({4, 0}, 1);
    auto b = make({0, 3}, 2);
    auto c = make({4, 3}, 3);
    EXPECT_TRUE(ok(contract("ik", a, "kj", b, "ij", c, {.beta = 1})));
    EXPECT_EQ(c.get_element({2, 1}).value(), test::element<double>({2, 1}, 3));
    EXPECT_TRUE(ok(c.sync()));
    EXPECT_TRUE(ok(contract("ik", a, "kj", b, "ij", c)));
    EXPECT_EQ(c.get_element({2, 1}).value(), 0);
    EXPECT_TRUE(ok(c.sync()));
    auto none = make({0, 0}, 4);
    auto nothing = make({4, 0}, 5);
    EXPECT_TRUE(ok(contract("ki", a, "kj", nothing, "ij", none)));
    auto ones = make({1, 1, 1}, 1);
    auto one = make({1}, 2);
    auto result = make({1, 1}, 3);
    const Case<double> problem{"ik", "ijk", "j", {{'i', 1}, {'j', 1}, {'k', 1}}, {}};
    problem.expect(result, ones, one);
  });
}

TEST(Contract, BetaZeroDoesNotReadC) {
  on_ranks([](Job& job) {
    const auto make = [&](const Extents& extents, std::uint64_t seed) {
      return test::make_filled<double>(job, Distribution::regular(extents, job.size()).value(),
                                       seed, {.name = "X"});
    };
    auto a = make({3, 4, 5}, 1);
    auto b = make({5, 6}, 2);
    for (const char* letters : {"abj", "ajb", "jba"}) {
      const Sizes sizes{{'a', 3}, {'b', 4}, {'k', 5}, {'j', 6}};
      auto c = make(extents_of(letters, sizes), 3);
      EXPECT_TRUE(ok(fill(c, std::numeric_limits<double>::quiet_NaN())));
      const Case<double> problem{letters, "abk", "kj", sizes, {}};
      problem.expect(c, a, b);
    }
  });
}

TEST(Contract, TeamsOfSomeRanks) {
  on_ranks([](Job& job) {
    if (job.size() < 4) {
      GTEST_SKIP() << "needs 4 ranks";
    }
    const auto make = [&](const Extents& extents, std::uint64_t seed,
                          const arrays::ArrayOptions& options) {
      const std::int64_t ranks = options.team ? options.team->size() : job.size();
      return test::make_filled<double>(job, Distribution::regular(extents, ranks).value(), seed,
                                       options);
    };
    auto a = make({6, 5, 4}, 1, {.name = "A"});
    auto b = make({4, 7}, 2, {.name = "B"});
    for (const std::vector<WorldRank>& members :
         {std::vector{WorldRank{2}, WorldRank{3}},
          std::vector{WorldRank{0}, WorldRank{2}, WorldRank{3}}}) {
      if (std::find(members.begin(), members.end(), job.rank()) != members.end()) {
        const Team team = Team::create(job, members).value();
        auto c = make({7, 6, 5}, 3, {.name = "C", .team = team});
        const Case<double> problem{
            "jab", "abk", "kj", {{'a', 6}, {'b', 5}, {'k', 4}, {'j', 7}}, {.beta = 1}};
        problem.expect(c, a, b);
      }
    }
    EXPECT_TRUE(ok(job.barrier()));
  });
}

TEST(ContractErrors, NameTheLetter) {
  on_ranks([](Job& job) {
    auto a = Array<double>::create(job, {4, 5}, {.name = "left"}).value();
    auto b = Array<double>::create(job, {5, 6}, {.name = "right"}).value();
    auto c = Array<double>::create(job, {4, 6}, {.name = "sum"}).value();
    EXPECT_TRUE(ok(fill(c, 7.0)));
    const auto refused = [&](const char* of_c, const char* of_a, const char* of_b,
                             std::initializer_list<std::string_view> words) {
      EXPECT_TRUE(fails(contract(of_a, a, of_b, b, of_c, c), Code::invalid_argument, words));
    };
    refused("ij", "ikk", "kj",
            {"contracting C[ij] = A[ikk] B[kj]", "A has 3 letters 'ikk' for the 2 dimensions of",
             "array 'left' (float64, 4 x 5)", "one letter for each dimension"});
    refused("ij", "ii", "kj", {"letter 'i' is twice in A[ii]"});
    refused("ij", "ik", "ki", {"letter 'i' is in all three (C[ij], A[ik], B[ki])"});
    refused("ix", "ik", "kj", {"letter 'x' is in C only"});
    refused("ij", "im", "kj", {"letter 'm' is in A only (A[im], B[kj], C[ij])"});
    refused("ij", "ki", "kj",
            {"letter 'i' has extent 4 in array 'sum' (float64, 4 x 6), but 5 in array 'left'"});
    EXPECT_TRUE(fails(contract("ij", c, "kj", b, "ij", c), Code::invalid_argument,
                      {"C and A are both array 'sum'", "into another array"}));
    EXPECT_TRUE(ok(c.set_access_mode(rma::AccessMode::read_only)));
    refused("ij", "ik", "kj", {"C: ", "read_only now"});
    EXPECT_TRUE(ok(c.set_access_mode(rma::AccessMode::any)));
    EXPECT_TRUE(ok(b.set_access_mode(rma::AccessMode::accumulate_only)));
    refused("ij", "ik", "kj", {"B: ", "accumulate_only now"});
    EXPECT_TRUE(ok(b.set_access_mode(rma::AccessMode::any)));
    EXPECT_TRUE(ok(a.free()));
    EXPECT_TRUE(fails(contract("ik", a, "kj", b, "ij", c), Code::closed,
                      {"A: array 'left' (float64, 4 x 5) was freed"}));
    std::vector<double> all(24);
    EXPECT_TRUE(ok(c.get(c.box(), all)));
    EXPECT_EQ(all, std::vector<double>(24, 7.0)) << "C was changed";
    EXPECT_TRUE(ok(c.sync()));
  });
}

}  // namespace
}  // namespace tessera::linalg
