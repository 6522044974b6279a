// SPDX-License-Identifier: BSD-3-Clause
//
// Elements that owners send to the ranks that read them: round by round, and with errors.
#include "linalg/detail/vector_push.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/checks.hpp"
#include "tests/support/rank_main.hpp"

namespace tessera::linalg {
namespace {

using arrays::Array;
using detail::VectorPush;
using rma::Code;
using rma::Job;
using rma::Status;
using rma::TeamRank;
using rma::test::fails;
using rma::test::ok;
using rma::test::on_ranks;

constexpr std::int64_t own = 10;  // elements on each rank

/// Each rank reads the next rank's first, third and fourth element, after one of its own.
struct Ring {
  explicit Ring(Job& job)
      : next{(job.rank().value + 1) % job.size()},
        vector(Array<double>::create(job, {own * job.size()}, {.name = "x"}).value()),
        runs{{nullptr, 0, sizeof(double)}, {nullptr, 2 * sizeof(double), 2 * sizeof(double)}},
        push(create()) {}

  VectorPush<double> create() {
    const auto wanted = [this] { return std::vector{VectorPush<double>::Wanted{next, runs, 1}}; };
    return VectorPush<double>::create(vector, 4, wanted).value();
  }
  /// Collective. Element i of rank r becomes 100 r + i + `more`.
  void set(double more) {
    auto access = vector.local().value();
    for (std::int64_t i = 0; i < own; ++i) {
      access.raw()(i) = 100.0 * vector.team().rank().value + static_cast<double>(i) + more;
    }
    EXPECT_TRUE(ok(access.end()));
    EXPECT_TRUE(ok(vector.sync()));
  }
  [[nodiscard]] std::vector<double> expected(double more) const {
    const double first = 100.0 * next.value + more;
    return {0.0, first, first + 2, first + 3};
  }
  [[nodiscard]] std::vector<double> buffer() const {
    return {push.buffer().begin(), push.buffer().end()};
  }

  TeamRank next;
  Array<double> vector;
  std::vector<rma::Fragment> runs;
  VectorPush<double> push;
};

TEST(VectorPush, BringsWhatWasAskedForInEachRound) {
  on_ranks([](Job& job) {
    Ring ring(job);
    for (const double more : {0.0, 0.25, 0.5}) {
      ring.set(more);
      EXPECT_TRUE(ok(ring.push.send(ring.vector)));
      EXPECT_TRUE(ok(ring.push.wait(0)));
      EXPECT_EQ(ring.buffer(), ring.expected(more));
      EXPECT_TRUE(ok(job.barrier()));
    }
  });
}

TEST(VectorPush, TellsReadersThatARankCannotSend) {
  on_ranks([](Job& job) {
    Ring ring(job);
    auto gone = ring.vector.duplicate("gone").value();
    EXPECT_TRUE(ok(gone.free()));
    ring.set(0.0);
    const Status sent = ring.push.send(job.rank().value == 0 ? gone : ring.vector);
    const Status came = ring.push.wait(0);
    if (job.rank().value == 0) {
      EXPECT_TRUE(fails(sent, Code::closed, {}));
    } else {
      EXPECT_TRUE(ok(sent));
    }
    if (ring.next.value == 0) {
      EXPECT_TRUE(fails(came, Code::closed, {"rank 0 could not send its elements"}));
    } else {
      EXPECT_TRUE(ok(came));
    }
    EXPECT_TRUE(ok(job.barrier()));
    ring.set(0.5);
    EXPECT_TRUE(ok(ring.push.send(ring.vector)));
    EXPECT_TRUE(ok(ring.push.wait(0)));
    EXPECT_EQ(ring.buffer(), ring.expected(0.5)) << "the next round is as any other";
    EXPECT_TRUE(ok(job.barrier()));
  });
}

TEST(VectorPush, LeavesTheRoundBeforeAnErrorAsItWas) {
  on_ranks([](Job& job) {
    Ring ring(job);
    auto gone = ring.vector.duplicate("gone").value();
    EXPECT_TRUE(ok(gone.free()));
    EXPECT_TRUE(ok(ring.push.send(ring.vector)));
    EXPECT_TRUE(ok(job.barrier()));
    if (job.rank().value == 0) {
      EXPECT_TRUE(fails(ring.push.send(gone), Code::closed, {}));
    }
    EXPECT_TRUE(ok(job.barrier()));
    if (job.rank().value != 0) {
      EXPECT_TRUE(ok(ring.push.wait(0))) << "rank 0 is a round ahead";
      EXPECT_TRUE(ok(ring.push.send(ring.vector)));
    }
    const Status came = ring.push.wait(0);
    if (ring.next.value == 0) {
      EXPECT_TRUE(fails(came, Code::closed, {"rank 0 could not send its elements"}));
    } else {
      EXPECT_TRUE(ok(came));
    }
    EXPECT_TRUE(ok(job.barrier()));
  });
}

TEST(VectorPush, ForgetsRoundsThatNobodyWaitedFor) {
  on_ranks([](Job& job) {
    Ring ring(job);
    ring.set(0.0);
    EXPECT_TRUE(ok(ring.push.send(ring.vector)));
    EXPECT_TRUE(ok(job.barrier()));
    ring.set(0.5);
    EXPECT_TRUE(ok(ring.push.send(ring.vector)));
    EXPECT_TRUE(ok(ring.push.wait(0)));
    EXPECT_EQ(ring.buffer(), ring.expected(0.5));
    EXPECT_TRUE(ok(job.barrier()));
  });
}

}  // namespace
}  // namespace tessera::linalg
