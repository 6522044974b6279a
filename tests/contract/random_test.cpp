// SPDX-License-Identifier: BSD-3-Clause
//
// Long random sequences of operations by all ranks on all slices. Each rank works in its own part
// of every slice, so that every rank can compute serially what all slices must hold at the end.
#include <gtest/gtest.h>

#include <cstring>
#include <utility>
#include <vector>

#include "rma/transfer.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/model_memory.hpp"
#include "tests/support/rank_main.hpp"
#include "tests/support/shared_seed.hpp"

namespace tessera::rma {
namespace {

using test::ModelMemory;
using test::ok;
using test::on_ranks;
using test::random_in;
using test::SharedSeed;

constexpr std::size_t part_bytes = std::size_t{48} << 10;

enum class Kind : std::uint8_t { put, get, accumulate };
enum class Form : std::uint8_t { blocking, handle, detached };

struct Step {
  Kind kind = Kind::put;
  Form form = Form::blocking;
  std::int32_t target = 0;
  std::uint64_t offset = 0;  // in the slice, in bytes
  CopyShape shape;
  Scale scale = Scale::one(ElementType::i32);
  std::vector<std::byte> memory;
  std::size_t origin = 0;  // the index in `memory` of the shape's offset 0

  [[nodiscard]] std::byte* local() { return memory.data() + origin; }
};

// All elements are 32-bit integers, so that accumulates may follow puts of anything.
Step random_step(std::mt19937_64& random, std::int32_t rank, std::int32_t ranks) {
  Step step;
  step.kind = static_cast<Kind>(random_in(random, 0, 2));
  step.form = static_cast<Form>(random_in(random, 0, 2));
  step.target = static_cast<std::int32_t>(random_in(random, 0, ranks - 1));
  const bool is_sum = step.kind == Kind::accumulate;
  const std::int64_t unit = is_sum ? 4 : 1;
  const bool is_long = random_in(random, 0, 7) == 0;
  const auto run = static_cast<std::size_t>(
      unit * (is_long ? random_in(random, 60, 250) : random_in(random, 0, 12)));
  const std::int64_t max_levels = is_long ? 1 : max_stride_levels;
  const auto levels =
      static_cast<int>(random_in(random, 0, 1) == 0 ? 0 : random_in(random, 1, max_levels));
  step.shape = test::random_disjoint_shape(random, levels, run, unit);
  const CopyShape::Extent remote = step.shape.remote_extent();
  const CopyShape::Extent local = step.shape.local_extent();
  const auto part = static_cast<std::int64_t>(part_bytes);
  step.offset = static_cast<std::uint64_t>(
      rank * part - remote.lowest +
      random_in(random, 0, (part - (remote.highest - remote.lowest)) / unit) * unit);
  step.memory.resize(static_cast<std::size_t>(local.highest - local.lowest));
  step.origin = static_cast<std::size_t>(-local.lowest);
  test::fill(random, step.memory);
  step.scale = Scale::of(static_cast<std::int32_t>(random_in(random, -3, 3)));
  return step;
}

// Performs a step on the model. For a get, `received` becomes the expected content of local memory.
void simulate(ModelMemory& model, Step& step, std::vector<std::byte>& received) {
  switch (step.kind) {
    case Kind::put:
      model.put(step.target, step.offset, step.local(), step.shape);
      break;
    case Kind::get:
      received = step.memory;
      model.get(step.target, step.offset, received.data() + step.origin, step.shape);
      break;
    case Kind::accumulate:
      model.accumulate(step.target, step.offset, step.local(), step.shape, step.scale);
      break;
  }
}

Handle start(Job& job, RemoteAddress at, Step& step) {
  switch (step.kind) {
    case Kind::put:
      return put_async(job, at, step.local(), step.shape);
    case Kind::get:
      return get_async(job, at, step.local(), step.shape);
    case Kind::accumulate:
      break;
  }
  return accumulate_async(job, at, step.local(), step.shape, step.scale);
}

Status perform(Job& job, RemoteAddress at, Step& step) {
  switch (step.form) {
    case Form::blocking:
      return step.kind == Kind::put   ? put(job, at, step.local(), step.shape)
             : step.kind == Kind::get ? get(job, at, step.local(), step.shape)
                                      : accumulate(job, at, step.local(), step.shape, step.scale);
    case Form::handle:
      return start(job, at, step).wait();
    case Form::detached:
      break;
  }
  start(job, at, step).detach();
  return job.wait_rank(at.rank);
}

void work_and_compare(Job& job, int steps) {
  const SharedSeed seed(job);
  const std::size_t slice_bytes = part_bytes * static_cast<std::size_t>(job.size());
  Region region = Region::allocate(job.world(), slice_bytes).value();
  ModelMemory model(job.size(), slice_bytes);
  std::vector<std::byte> expected;
  for (std::int32_t rank = 0; rank < job.size(); ++rank) {
    std::mt19937_64 random = seed.generator(rank);
    for (int i = 0; i < steps; ++i) {
      Step step = random_step(random, rank, job.size());
      expected.clear();
      simulate(model, step, expected);
      if (WorldRank{rank} != job.rank()) {
        continue;
      }
      ASSERT_TRUE(ok(perform(job, region.at(TeamRank{step.target}, step.offset), step)))
          << "step " << i << ": " << test::describe(step.shape);
      if (step.kind == Kind::get) {
        ASSERT_EQ(step.memory, expected) << "step " << i << ": " << test::describe(step.shape);
      }
    }
  }
  ASSERT_TRUE(ok(job.barrier()));
  for (std::int32_t rank = 0; rank < job.size(); ++rank) {
    std::vector<std::byte> slice(slice_bytes);
    ASSERT_TRUE(ok(get(job, region.at(TeamRank{rank}), slice.data(), slice_bytes)));
    ASSERT_EQ(slice, model.slice(rank)) << "slice of rank " << rank;
  }
}

TEST(RandomOperations, OfAllRanksAgreeWithTheModel) {
  on_ranks([](Job& job) { work_and_compare(job, 250); });
}

TEST(RandomOperations, LeaveTheSameDataWithFewOutstanding) {
  on_ranks({.change = [](Settings& settings) { settings.max_outstanding = 1; }},
           [](Job& job) { work_and_compare(job, 60); });
}

}  // namespace
}  // namespace tessera::rma
