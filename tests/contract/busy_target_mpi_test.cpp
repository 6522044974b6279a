// SPDX-License-Identifier: BSD-3-Clause
//
// Operations on a rank that waits in MPI for a message; the message is sent after the operations
// are complete.
#include <gtest/gtest.h>
#include <mpi.h>

#include "tests/contract/busy_target.hpp"
#include "tests/support/rank_main.hpp"

namespace tessera::rma {
namespace {

using test::BusyTarget;
using test::ok;
using test::on_ranks;

bool is_mpi_running() {
  int is_initialized = 0;
  MPI_Initialized(&is_initialized);
  return is_initialized != 0;
}

TEST(ABusyTarget, IsOperatedOnWhileItWaitsInMpiRecv) {
  if (!is_mpi_running()) {
    GTEST_SKIP() << "needs a job under mpirun";
  }
  on_ranks([](Job& job) {
    constexpr int tag = 7;
    constexpr std::int32_t sender = 1;
    BusyTarget busy(job);
    int word = 0;
    if (busy.is_target()) {
      busy.be_in(
          [&] { MPI_Recv(&word, 1, MPI_INT, sender, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE); });
      EXPECT_EQ(word, 42);
    } else {
      EXPECT_TRUE(busy.operate()) << "the target came out before a message was sent";
      if (job.rank().value == sender) {
        word = 42;
        MPI_Send(&word, 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
      }
    }
    ASSERT_TRUE(ok(job.barrier()));
  });
}

}  // namespace
}  // namespace tessera::rma
