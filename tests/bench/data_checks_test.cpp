// SPDX-License-Identifier: BSD-3-Clause
//
// The data checks of parts in which all ranks act: they accept right data, and detect lost
// operations.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "bench/apps/gups_updates.hpp"
#include "bench/rma/memories.hpp"
#include "bench/support/candidate.hpp"
#include "bench/support/job_group.hpp"
#include "rma/lock.hpp"
#include "rma/transfer.hpp"

namespace tessera::bench {
namespace {

constexpr int ranks = 3;
constexpr std::size_t slice_bytes = 1U << 16U;

/// What a Losing memory loses.
enum class Loss { nothing, puts, gets, adds, counts };

/// OwnMemory that loses some of other ranks' operations on a rank's slice.
class Losing {
 public:
  Losing(OwnMemory& memory, int own_rank, Loss loss)
      : memory_(memory), own_rank_(own_rank), loss_(loss) {}

  void put(int rank, std::size_t at, const void* from, std::size_t bytes) {
    if (loss_ != Loss::puts || rank == own_rank_) {
      memory_.put(rank, at, from, bytes);
    }
  }
  void start_get(int rank, std::size_t at, void* to, std::size_t bytes) {
    if (loss_ != Loss::gets || rank == own_rank_) {
      memory_.start_get(rank, at, to, bytes);
    }
  }
  void add(int rank, std::size_t at, std::int64_t value) {
    constexpr int lost = 20;  // one operation in this number
    if (loss_ != Loss::adds || ++added_ % lost != 0) {
      memory_.add(rank, at, value);
    }
  }
  void add(int rank, std::span<const std::size_t> at, std::span<const std::int64_t> values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      add(rank, at[i], values[i]);
    }
  }
  std::int64_t fetch_add(int rank, std::size_t at, std::int64_t increment) {
    return memory_.fetch_add(rank, at, loss_ == Loss::counts ? 0 : increment);
  }
  void wait(int rank) { memory_.wait(rank); }
  void complete(int rank) { memory_.complete(rank); }
  void complete_all() { memory_.complete_all(); }

 private:
  OwnMemory& memory_;
  int own_rank_;
  Loss loss_;
  int added_ = 0;
};

/// The error that `check` finds on any rank of a job of threads, or an empty string.
std::string on_all_ranks(
    Loss loss,
    const std::function<std::string(RankGroup&, rma::Job&, OwnMemory&, Losing&)>& check) {
  std::mutex mutex;
  std::string found;
  const rma::Status status = rma::run_on_threads(ranks, [&](rma::Job& job) {
    JobRankGroup group(job);
    OwnMemory memory(job, slice_bytes);
    Losing losing(memory, group.rank(), loss);
    const std::string wrong = check(group, job, memory, losing);
    group.barrier();
    const std::lock_guard lock(mutex);
    found = wrong.empty() ? found : wrong;
    return rma::Status();
  });
  return status.ok() ? found : "the job failed: " + status.describe();
}

std::string send(Loss loss, Operation operation) {
  return on_all_ranks(loss, [operation](RankGroup& group, rma::Job&, OwnMemory&, Losing& memory) {
    Sender<Losing> sender(group, memory, {operation, 64, 5, {1, 2, -1}});
    return sender.verify();
  });
}

TEST(DataChecks, OfMessagesFindWhatIsLost) {
  EXPECT_EQ(send(Loss::nothing, Operation::put), "");
  EXPECT_EQ(send(Loss::nothing, Operation::get), "");
  EXPECT_NE(send(Loss::puts, Operation::put).find("arrived with a wrong value"), std::string::npos);
  EXPECT_NE(send(Loss::gets, Operation::get).find("arrived with a wrong value"), std::string::npos);
}

std::string fence(Loss loss, Fencing fencing, int actors) {
  return on_all_ranks(loss, [=](RankGroup& group, rma::Job&, OwnMemory&, Losing& memory) {
    Fencer<Losing> fencer(group, memory, fencing, actors);
    return fencer.verify();
  });
}

TEST(DataChecks, OfFencesFindWhatIsLost) {
  for (const Fencing fencing : {Fencing::one, Fencing::all}) {
    for (const int actors : {1, 2, ranks}) {
      EXPECT_EQ(fence(Loss::nothing, fencing, actors), "");
      EXPECT_NE(fence(Loss::puts, fencing, actors).find("and fenced, but this rank has 0"),
                std::string::npos);
    }
  }
}

std::string read(Loss loss, ReadTargets places) {
  return on_all_ranks(loss, [=](RankGroup& group, rma::Job&, OwnMemory&, Losing& memory) {
    Reader<Losing> reader(group, memory, places, 1000);
    return reader.verify();
  });
}

TEST(DataChecks, OfReadsFindWhatIsLost) {
  for (const ReadTargets places : {ReadTargets::apart, ReadTargets::same}) {
    EXPECT_EQ(read(Loss::nothing, places), "");
    EXPECT_NE(read(Loss::gets, places).find("byte 0 of 1000"), std::string::npos);
  }
}

std::string draw(Loss loss, std::int64_t chunk) {
  return on_all_ranks(loss, [=](RankGroup& group, rma::Job& job, OwnMemory&, Losing& memory) {
    Drawing<OneLevel<Losing>> drawing(group, {job, memory}, ranks, chunk);
    return drawing.verify();
  });
}

TEST(DataChecks, OfTasksFindWhatIsDrawnTwice) {
  EXPECT_EQ(draw(Loss::nothing, 1), "");
  EXPECT_EQ(draw(Loss::nothing, 64), "");
  EXPECT_NE(draw(Loss::counts, 4).find("in chunks of 4"), std::string::npos);
}

TEST(TwoLevels, GiveEachTaskOnce) {
  const std::string wrong =
      on_all_ranks(Loss::nothing, [](RankGroup& group, rma::Job& job, OwnMemory& memory, Losing&) {
        std::string found;
        for (const std::int64_t chunk : {1, 64, 512, 2}) {
          Drawing<TwoLevels> drawing(group, {job, memory}, ranks, chunk);
          for (int round = 0; round < 20; ++round) {  // so that pieces are exhausted
            const std::string one = drawing.verify();
            found = one.empty() ? found : one;
          }
        }
        return found;
      });
  EXPECT_EQ(wrong, "");
}

/// Ranks count under a lock; with `forgets`, rank 0 resets the counts of all ranks.
std::string count_under_lock(bool forgets) {
  return on_all_ranks(
      Loss::nothing, [=](RankGroup& group, rma::Job& job, OwnMemory& memory, Losing&) {
        constexpr rma::TeamRank owner{1};
        rma::Region region = rma::Region::allocate(job.world(), slice_bytes).value();
        rma::LockSet locks = rma::LockSet::create(job.world(), 1).value();
        const std::int64_t nothing = 0;
        return verify_lock(
            group, job, region.at(owner), [&] { rma::require(locks.lock(owner, 0)); },
            [&] {
              if (forgets && group.rank() == 0) {
                rma::require(rma::put(job, region.at(owner), &nothing, sizeof nothing));
                memory.complete_all();
              }
              rma::require(locks.unlock(owner, 0));
            });
      });
}

TEST(DataChecks, OfLocksFindWhatIsNotCounted) {
  EXPECT_EQ(count_under_lock(false), "");
  EXPECT_NE(count_under_lock(true).find("under the lock, not 150"), std::string::npos);
}

std::string add_up(bool are_apart, int adders, double too_much) {
  return on_all_ranks(Loss::nothing, [=](RankGroup& group, rma::Job& job, OwnMemory&, Losing&) {
    constexpr std::size_t bytes = 4096;
    rma::Region region = rma::Region::allocate(job.world(), ranks * bytes).value();
    std::vector<double> from(bytes / sizeof(double));
    auto* const bytes_from = reinterpret_cast<std::byte*>(from.data());
    const std::size_t offset = are_apart ? static_cast<std::size_t>(group.rank()) * bytes : 0;
    const Sums sums{region, rma::TeamRank{1}, bytes_from, bytes, are_apart, adders};
    std::string problem = verify_sums(group, job, sums, [&] {
      from.back() += too_much;
      rma::require(rma::accumulate(job, region.at(rma::TeamRank{1}, offset), bytes_from, bytes,
                                   rma::Scale::of(1.0)));
    });
    group.barrier();
    return problem;
  });
}

TEST(DataChecks, OfSumsFindWhatIsTooMuch) {
  for (const bool are_apart : {false, true}) {
    for (const int adders : {1, ranks}) {
      EXPECT_EQ(add_up(are_apart, adders, 0), "");
      EXPECT_NE(add_up(are_apart, adders, 0.5).find("double 511 is "), std::string::npos);
    }
  }
}

TEST(DataChecks, OfDrawsFindWhatIsDrawnTwice) {
  const auto draw_by = [](std::int64_t step) {
    return on_all_ranks(Loss::nothing,
                        [step](RankGroup& group, rma::Job&, OwnMemory& memory, Losing&) {
                          std::int64_t left_out = 0;
                          return verify_draws(group, [&] {
                            left_out = step == 0 ? memory.fetch_add(1, 0, 1) : left_out + step;
                            return left_out;
                          });
                        });
  };
  EXPECT_EQ(draw_by(0), "");
  EXPECT_EQ(draw_by(1), "1 was drawn after 1") << "by each of three";
}

TEST(CollectiveBuffers, FindAWrongElement) {
  using Kind = Collective::Kind;
  for (const Kind kind : {Kind::broadcast, Kind::allreduce, Kind::reduce, Kind::allgather}) {
    std::vector<CollectiveBuffers> both = {{{kind, 1024}, 0, 2}, {{kind, 1024}, 1, 2}};
    both[0].fill();
    both[1].fill();
    std::vector<double> right(both[0].own().begin(), both[0].own().end());
    for (std::size_t i = 0; i < right.size() && kind != Kind::broadcast; ++i) {
      right[i] += kind == Kind::allgather ? 0 : both[1].own()[i];
    }
    if (kind == Kind::allgather) {
      right.insert(right.end(), both[1].own().begin(), both[1].own().end());
    }
    EXPECT_EQ(both[0].problem(right), "");
    EXPECT_EQ(both[1].problem(right), "");
    right.back() += 1;
    EXPECT_NE(both[0].problem(right).find(" on rank 0: "), std::string::npos);
    EXPECT_EQ(both[1].problem(right).empty(), kind == Kind::reduce) << "rank 0 has the result";
  }
}

TEST(CollectiveBuffers, FindAWrongElementOfUnevenBlocks) {
  using Kind = Collective::Kind;
  std::vector<CollectiveBuffers> all;
  for (int rank = 0; rank < 3; ++rank) {
    all.push_back({{Kind::alltoallv_uneven, 16}, rank, 3});
    all.back().fill();
  }
  // Rank 0 sends 0, 2 and 4 elements, rank 1 sends 2, 4 and 0, rank 2 sends 4, 0 and 2.
  EXPECT_EQ(all[1].sent(), (std::vector<std::int64_t>{2, 4, 0}));
  EXPECT_EQ(all[1].received(), (std::vector<std::int64_t>{2, 4, 0}));
  std::vector<double> right;
  right.insert(right.end(), all[0].own().begin(), all[0].own().begin() + 2);
  right.insert(right.end(), all[1].own().begin() + 2, all[1].own().end());
  EXPECT_EQ(all[1].problem(right), "");
  right[2] += 1;
  EXPECT_NE(all[1].problem(right).find("element 2 of 6 on rank 1: "), std::string::npos);

  std::vector<CollectiveBuffers> both = {{{Kind::gatherv, 16}, 0, 2}, {{Kind::gatherv, 16}, 1, 2}};
  both[0].fill();
  both[1].fill();
  right.assign(both[0].own().begin(), both[0].own().end());
  right.insert(right.end(), both[1].own().begin(), both[1].own().end());
  EXPECT_EQ(right.size(), 2U + 4U);
  EXPECT_EQ(both[0].problem(right), "");
  EXPECT_TRUE(both[1].all().empty());
  right.back() += 1;
  EXPECT_NE(both[0].problem(right), "");
}

TEST(CollectiveBuffers, FindAWrongElementOfAnAlltoallv) {
  const Collective collective{Collective::Kind::alltoallv, 16};
  std::vector<CollectiveBuffers> both = {{collective, 0, 2}, {collective, 1, 2}};
  both[0].fill();
  both[1].fill();
  ASSERT_EQ(both[0].own().size(), 4U);
  std::vector<double> right = {both[0].own()[2], both[0].own()[3], both[1].own()[2],
                               both[1].own()[3]};
  EXPECT_EQ(both[1].problem(right), "");
  EXPECT_NE(both[0].problem(right), "");
  right.back() += 1;
  EXPECT_NE(both[1].problem(right).find(" on rank 1: "), std::string::npos);
}

std::string update(Loss loss, std::int64_t allowed, Calls calls) {
  return on_all_ranks(loss, [=](RankGroup& group, rma::Job&, OwnMemory& exact, Losing& memory) {
    const GupsTable table = GupsTable::create(1 << 13, ranks);
    Updates<Losing> updates(memory, table, calls, group.rank(), group.size());
    return verify_updates(group, updates, exact, table, allowed);
  });
}

TEST(DataChecks, OfUpdatesCountTheWrongWords) {
  for (const Calls calls : {Calls::each, Calls::listed}) {
    EXPECT_EQ(update(Loss::nothing, 0, calls), "");
    EXPECT_NE(update(Loss::adds, 20, calls).find("of 2048 words are wrong, 20 may be"),
              std::string::npos);
    EXPECT_EQ(update(Loss::adds, 2048, calls), "") << "all may be wrong";
  }
}

TEST(GupsTable, MayLoseOneInAHundredOfMany) {
  const GupsTable table = GupsTable::create(std::int64_t{1} << 25, 2);
  EXPECT_EQ(allowed_lost_words(table, 1), table.words / 100) << "one rank loses nothing";
  EXPECT_EQ(allowed_lost_words(table, 2), table.words / 100 + 16) << "2 * 256 * 1024 updates";
}

TEST(GupsTable, MayLoseWhatProcessorsHoldOfFew) {
  const GupsTable table = GupsTable::create(1 << 16, 2);
  ASSERT_EQ(table.words, 1 << 14);
  EXPECT_EQ(allowed_lost_words(table, 2), 163 + 4 * 256) << "four updates a word";
  const GupsTable smallest = GupsTable::create(1 << 13, 7);
  EXPECT_EQ(allowed_lost_words(smallest, 7), smallest.words / 2) << "never most of them";
}

TEST(GupsTable, IsAPowerOfTwoInEqualParts) {
  const GupsTable table = GupsTable::create(1 << 13, 3);
  EXPECT_EQ(table.words, 2048) << "the largest in three times 1024";
  std::int64_t words = 0;
  for (int rank = 0; rank < 3; ++rank) {
    words += table.words_of(rank);
  }
  EXPECT_EQ(words, table.words);
  EXPECT_EQ(table.owner(table.words - 1), 2);
  EXPECT_LT(table.offset_of(table.words - 1), 1U << 13U);
}

}  // namespace
}  // namespace tessera::bench
