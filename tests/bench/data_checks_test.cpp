// SPDX-License-Identifier: BSD-3-Clause
//
// The data checks of parts in which all ranks act: they pass what is right, and find what is lost.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

#include "bench/apps/gups_updates.hpp"
#include "bench/rma/drawing.hpp"
#include "bench/rma/fencer.hpp"
#include "bench/rma/memories.hpp"
#include "bench/rma/reader.hpp"
#include "bench/rma/sender.hpp"
#include "bench/support/job_crew.hpp"

namespace tessera::bench {
namespace {

constexpr int ranks = 3;
constexpr std::size_t slice_bytes = 1U << 16U;

/// What a Losing memory does not do.
enum class Loss { nothing, puts, gets, adds, counts };

/// OwnMemory that forgets some of what others want of a rank's slice.
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
    constexpr int lost = 20;  // one in so many
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

/// What `check` finds wrong on any rank of a job of threads, or nothing.
std::string on_all_ranks(
    Loss loss, const std::function<std::string(Crew&, rma::Job&, OwnMemory&, Losing&)>& check) {
  std::mutex mutex;
  std::string found;
  const rma::Status status = rma::run_on_threads(ranks, [&](rma::Job& job) {
    JobCrew crew(job);
    OwnMemory memory(job, slice_bytes);
    Losing losing(memory, crew.rank(), loss);
    const std::string wrong = check(crew, job, memory, losing);
    crew.barrier();
    const std::lock_guard lock(mutex);
    found = wrong.empty() ? found : wrong;
    return rma::Status();
  });
  return status.ok() ? found : "the job failed: " + status.describe();
}

std::string send(Loss loss, Operation operation) {
  return on_all_ranks(loss, [operation](Crew& crew, rma::Job&, OwnMemory&, Losing& memory) {
    Sender<Losing> sender(crew, memory, {operation, 64, 5, {1, 2, -1}});
    return sender.verify();
  });
}

TEST(DataChecks, OfMessagesFindWhatIsLost) {
  EXPECT_EQ(send(Loss::nothing, Operation::put), "");
  EXPECT_EQ(send(Loss::nothing, Operation::get), "");
  EXPECT_NE(send(Loss::puts, Operation::put).find("arrived wrong"), std::string::npos);
  EXPECT_NE(send(Loss::gets, Operation::get).find("arrived wrong"), std::string::npos);
}

std::string fence(Loss loss, Fencing fencing, int actors) {
  return on_all_ranks(loss, [=](Crew& crew, rma::Job&, OwnMemory&, Losing& memory) {
    Fencer<Losing> fencer(crew, memory, fencing, actors);
    return fencer.verify();
  });
}

TEST(DataChecks, OfFencesFindWhatIsLost) {
  for (const Fencing fencing : {Fencing::one, Fencing::all}) {
    for (const int actors : {1, 2, ranks}) {
      EXPECT_EQ(fence(Loss::nothing, fencing, actors), "");
      EXPECT_NE(fence(Loss::puts, fencing, actors).find("behind a fence, here is 0"),
                std::string::npos);
    }
  }
}

std::string read(Loss loss, ReadPlaces places) {
  return on_all_ranks(loss, [=](Crew& crew, rma::Job&, OwnMemory&, Losing& memory) {
    Reader<Losing> reader(crew, memory, places, 1000);
    return reader.verify();
  });
}

TEST(DataChecks, OfReadsFindWhatIsLost) {
  for (const ReadPlaces places : {ReadPlaces::apart, ReadPlaces::same}) {
    EXPECT_EQ(read(Loss::nothing, places), "");
    EXPECT_NE(read(Loss::gets, places).find("byte 0 of 1000"), std::string::npos);
  }
}

std::string draw(Loss loss, std::int64_t chunk) {
  return on_all_ranks(loss, [=](Crew& crew, rma::Job& job, OwnMemory&, Losing& memory) {
    Drawing<OneLevel<Losing>> drawing(crew, {job, memory}, ranks, chunk);
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
      on_all_ranks(Loss::nothing, [](Crew& crew, rma::Job& job, OwnMemory& memory, Losing&) {
        std::string found;
        for (const std::int64_t chunk : {1, 64, 512, 2}) {
          Drawing<TwoLevels> drawing(crew, {job, memory}, ranks, chunk);
          for (int round = 0; round < 20; ++round) {  // so that pieces are used up
            const std::string one = drawing.verify();
            found = one.empty() ? found : one;
          }
        }
        return found;
      });
  EXPECT_EQ(wrong, "");
}

std::string update(Loss loss, std::int64_t allowed, Calls calls) {
  return on_all_ranks(loss, [=](Crew& crew, rma::Job&, OwnMemory& exact, Losing& memory) {
    const GupsTable table = GupsTable::create(1 << 13, ranks);
    Updates<Losing> updates(memory, table, calls, crew.rank(), crew.size());
    return verify_updates(crew, updates, exact, table, allowed);
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
  EXPECT_EQ(words_that_may_get_lost(table, 1), table.words / 100) << "nobody is in the way";
  EXPECT_EQ(words_that_may_get_lost(table, 2), table.words / 100 + 16) << "2 * 256 * 1024 updates";
}

TEST(GupsTable, MayLoseWhatProcessorsHoldOfFew) {
  const GupsTable table = GupsTable::create(1 << 16, 2);
  ASSERT_EQ(table.words, 1 << 14);
  EXPECT_EQ(words_that_may_get_lost(table, 2), 163 + 4 * 256) << "four updates a word";
  const GupsTable smallest = GupsTable::create(1 << 13, 7);
  EXPECT_EQ(words_that_may_get_lost(smallest, 7), smallest.words / 2) << "never most of them";
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
  EXPECT_LT(table.at(table.words - 1), 1U << 13U);
}

}  // namespace
}  // namespace tessera::bench
