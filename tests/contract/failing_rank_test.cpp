// SPDX-License-Identifier: BSD-3-Clause
//
// Every public function's error names the rank whose call failed, if the job has several ranks.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <string>

#include "rma/aggregate.hpp"
#include "rma/atomic.hpp"
#include "rma/job.hpp"
#include "rma/lock.hpp"
#include "rma/notify.hpp"
#include "rma/raw_transfer.hpp"
#include "rma/region.hpp"
#include "rma/transfer.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/rank_main.hpp"

namespace tessera::rma {
namespace {

using test::ok;
using test::on_ranks;

/// Checks that the text of an error begins with the number of this rank, exactly once.
class Failures {
 public:
  explicit Failures(const Job& job)
      : front_(job.size() > 1 ? "[rank " + std::to_string(job.rank().value) + "] " : "") {}
  void expect(const Status& status, const char* what) const {
    EXPECT_FALSE(status.ok()) << what;
    EXPECT_TRUE(status.describe().starts_with(front_)) << what << ": " << status.describe();
    EXPECT_NE(status.describe()[front_.size()], '[') << what << ": " << status.describe();
  }

 private:
  std::string front_;
};

constexpr std::uint64_t outside = 4096;

void expect_of_words(const Failures& failures, Job& job, const RemoteAddress& beyond) {
  std::int64_t word = 0;
  const RawAddress null{job.rank(), nullptr};
  failures.expect(fetch_add(job, beyond, std::int64_t{1}).status(), "fetch_add");
  failures.expect(swap(job, beyond, std::int32_t{1}).status(), "swap");
  failures.expect(compare_swap(job, beyond, std::int64_t{1}, std::int64_t{2}).status(),
                  "compare_swap");
  failures.expect(fetch_add(job, null, std::int64_t{1}).status(), "fetch_add by pointer");
  failures.expect(swap(job, null, std::int32_t{1}).status(), "swap by pointer");
  failures.expect(put(job, null, &word, sizeof word), "put by pointer");
  failures.expect(get_async(job, null, &word, sizeof word).wait(), "get_async by pointer");
  failures.expect(get_async(job, beyond, &word, sizeof word).wait(), "get_async");
}

void expect_of_messages(const Failures& failures, Job& job, const RemoteAddress& beyond) {
  const WorldRank nobody{job.size()};
  const std::int64_t word = 0;
  const auto shape = CopyShape::contiguous(sizeof word);
  failures.expect(notify(job, nobody).status(), "notify");
  failures.expect(wait_for_notifications(job, nobody, 1).status(), "wait_for_notifications");
  failures.expect(raise_flag(job, beyond, 1), "raise_flag");
  failures.expect(wait_for_flag(job, {job.rank(), beyond.region, outside}, 1, job.rank()),
                  "wait_for_flag");
  failures.expect(
      wait_for_flag_change(job, {job.rank(), beyond.region, outside}, 1, job.rank()).status(),
      "wait_for_flag_change");
  failures.expect(put_with_flag(job, beyond, &word, shape, beyond, 1), "put_with_flag");
}

void expect_of_the_job(const Failures& failures, Job& job) {
  const WorldRank nobody{job.size()};
  int outside_of_regions = 0;
  failures.expect(job.fence(nobody), "fence");
  failures.expect(job.transport_to(nobody).status(), "transport_to");
  failures.expect(job.translate(job.rank(), &outside_of_regions).status(), "translate");
  failures.expect(job.raw_pointer({job.rank(), RegionId{1U << 30U}, 0}).status(), "raw_pointer");
  failures.expect(job.free_local(&outside_of_regions), "free_local");
  failures.expect(job.allocate_local(std::size_t{1} << 60U).status(), "allocate_local");
  failures.expect(Team::create(job, {}).status(), "Team::create");
}

TEST(EveryError, NamesTheRankWhoseCallFailed) {
  on_ranks([](Job& job) {
    const Failures failures(job);
    auto region = Region::allocate(job.world(), 64, {.name = "mail"}).value();
    const TeamRank next{(job.rank().value + 1) % job.size()};
    const RemoteAddress beyond = region.at(next, outside);
    expect_of_words(failures, job, beyond);
    expect_of_messages(failures, job, beyond);
    expect_of_the_job(failures, job);
    Aggregate aggregate(job);
    const std::int64_t word = 0;
    const RemoteAddress last{job.rank(), region.id(), std::numeric_limits<std::uint64_t>::max()};
    const std::array<Fragment, 1> fragments{{{const_cast<std::int64_t*>(&word), 8, sizeof word}}};
    failures.expect(aggregate.put(last, Fragments(fragments)), "Aggregate::put");
    EXPECT_TRUE(ok(region.free()));
    failures.expect(LocalAccess::begin(region).status(), "LocalAccess::begin");
    failures.expect(LockSet::create(job.world(), -1).status(), "LockSet::create");
  });
}

}  // namespace
}  // namespace tessera::rma
