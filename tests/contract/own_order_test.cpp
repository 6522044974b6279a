// SPDX-License-Identifier: BSD-3-Clause
//
// Random sequences of operations of every form by one rank on a few words, in two regions of one
// target. Each must find what the earlier ones left, on the same words and beside them.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <type_traits>
#include <vector>

#include "rma/atomic.hpp"
#include "rma/transfer.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/rank_main.hpp"
#include "tests/support/shared_seed.hpp"

namespace tessera::rma {
namespace {

using test::neighbour;
using test::ok;
using test::on_ranks;
using test::random_in;
using test::SharedSeed;

using Values = std::vector<std::int64_t>;

constexpr std::size_t word_count = 48;
constexpr std::size_t word_bytes = sizeof(std::int64_t);

enum class Change : std::uint8_t { none, put, add, maximum };

std::int64_t changed(Change change, std::int64_t word, std::int64_t operand) {
  switch (change) {
    case Change::put:
      return operand;
    case Change::add:
      return word + operand;
    case Change::maximum:
      return std::max(word, operand);
    case Change::none:
      break;
  }
  return word;
}

// The words that a transfer uses: places in ascending or any order.
struct Words {
  enum class Form : std::uint8_t { contiguous, strided, list } form = Form::contiguous;
  std::vector<std::size_t> places;
};

Words random_words(std::mt19937_64& random) {
  Words words;
  words.form = static_cast<Words::Form>(random_in(random, 0, 2));
  const auto count = static_cast<std::size_t>(random_in(random, 1, 5));
  const std::size_t step =
      words.form == Words::Form::contiguous ? 1 : static_cast<std::size_t>(random_in(random, 1, 4));
  const std::size_t length = (count - 1) * step + 1;
  const auto first = static_cast<std::size_t>(
      random_in(random, 0, static_cast<std::int64_t>(word_count - length)));
  for (std::size_t i = 0; i < count; ++i) {
    words.places.push_back(first + i * step);
  }
  if (words.form == Words::Form::list) {
    std::shuffle(words.places.begin(), words.places.end(), random);
  }
  return words;
}

// Moves `values` to or from the words, in their form; blocking, or by a handle.
Status transfer(Job& job, RemoteAddress begin, Change change, const Words& words, Values& values,
                bool by_handle) {
  const Scale scale = change == Change::maximum ? Scale::by(AccumulateOp::max, ElementType::i64)
                                                : Scale::one(ElementType::i64);
  const auto move = [&](RemoteAddress at, auto what) -> Status {
    void* const local = values.data();
    constexpr bool is_list = std::is_same_v<decltype(what), Fragments>;
    if constexpr (is_list) {
      return change == Change::none
                 ? (by_handle ? get_async(job, at, what).wait() : get(job, at, what))
             : change == Change::put
                 ? (by_handle ? put_async(job, at, what).wait() : put(job, at, what))
             : by_handle ? accumulate_async(job, at, what, scale).wait()
                         : accumulate(job, at, what, scale);
    } else {
      return change == Change::none
                 ? (by_handle ? get_async(job, at, local, what).wait() : get(job, at, local, what))
             : change == Change::put
                 ? (by_handle ? put_async(job, at, local, what).wait() : put(job, at, local, what))
             : by_handle ? accumulate_async(job, at, local, what, scale).wait()
                         : accumulate(job, at, local, what, scale);
    }
  };
  const std::size_t count = words.places.size();
  const RemoteAddress first = begin + word_bytes * words.places.front();
  if (words.form == Words::Form::contiguous) {
    return move(first, word_bytes * count);
  }
  if (words.form == Words::Form::strided) {
    const std::size_t step = count > 1 ? words.places[1] - words.places[0] : 1;
    return move(first, CopyShape::rows(word_bytes, static_cast<std::int64_t>(count), word_bytes,
                                       static_cast<std::int64_t>(word_bytes * step)));
  }
  std::vector<Fragment> list;
  for (std::size_t i = 0; i < count; ++i) {
    list.push_back({&values[i], word_bytes * words.places[i], word_bytes});
  }
  return move(begin, Fragments(list));
}

// One random operation, and the same on the model.
void do_step(Job& job, RemoteAddress begin, Values& model, std::mt19937_64& random) {
  const std::int64_t kind = random_in(random, 0, 8);
  if (kind == 8) {
    const auto place = static_cast<std::size_t>(random_in(random, 0, word_count - 1));
    const RemoteAddress word = begin + word_bytes * place;
    const std::int64_t operand = random_in(random, -50, 50);
    const bool is_sum = random_in(random, 0, 1) == 0;
    ASSERT_EQ((is_sum ? fetch_add(job, word, operand) : swap(job, word, operand)).value(),
              model[place]);
    model[place] = is_sum ? model[place] + operand : operand;
    return;
  }
  const auto change = static_cast<Change>(kind / 2);
  const Words words = random_words(random);
  Values values(words.places.size());
  std::generate(values.begin(), values.end(), [&] { return random_in(random, -1000, 1000); });
  const Values operands = values;
  const bool by_handle = random_in(random, 0, 3) == 0;
  ASSERT_TRUE(ok(transfer(job, begin, change, words, values, by_handle)));
  for (std::size_t i = 0; i < words.places.size(); ++i) {
    std::int64_t& word = model[words.places[i]];
    if (change == Change::none) {
      ASSERT_EQ(values[i], word) << "word " << words.places[i];
    }
    word = changed(change, word, operands[i]);
  }
}

// Each rank has a part of its own in both regions of its target. Afterwards other ranks see it.
TEST(OwnOrder, OfOperationsOfEveryFormIsThatOfTheProgram) {
  on_ranks([](Job& job) {
    const SharedSeed seed(job);
    const auto ranks = static_cast<std::size_t>(job.size());
    const std::size_t part = word_bytes * word_count;
    Region first = Region::allocate(job.world(), part * ranks).value();
    Region second = Region::allocate(job.world(), 300'000 + part * ranks).value();
    const std::size_t own_part = part * static_cast<std::size_t>(job.rank().value);
    const std::vector<RemoteAddress> begins = {first.at(neighbour(job), own_part),
                                               second.at(neighbour(job), own_part)};
    std::vector<Values> models(begins.size(), Values(word_count));
    std::mt19937_64 random = seed.generator(job.rank().value);
    for (int step = 0; step < 1500; ++step) {
      const auto which = static_cast<std::size_t>(random_in(random, 0, 9) == 0);
      do_step(job, begins[which], models[which], random);
      ASSERT_FALSE(testing::Test::HasFatalFailure()) << "step " << step << ", region " << which;
    }
    ASSERT_TRUE(ok(job.barrier()));
    // The rank before has changed the neighbour's slices; the owner reads them.
    const auto before = static_cast<std::size_t>(job.rank().value + job.size() - 1) % ranks;
    Values sums(begins.size());
    for (std::size_t i = 0; i < sums.size(); ++i) {
      sums[i] = std::accumulate(models[i].begin(), models[i].end(), std::int64_t{0});
    }
    const auto all = job.world().allgather_value(std::array<std::int64_t, 2>{sums[0], sums[1]});
    for (std::size_t i = 0; i < sums.size(); ++i) {
      Values came(word_count);
      const TeamRank self{job.rank().value};
      ASSERT_TRUE(
          ok(get(job, (i == 0 ? first : second).at(self, part * before), came.data(), part)));
      EXPECT_EQ(std::accumulate(came.begin(), came.end(), std::int64_t{0}), all.value()[before][i]);
    }
    ASSERT_TRUE(ok(job.barrier()));
  });
}

}  // namespace
}  // namespace tessera::rma
