// SPDX-License-Identifier: BSD-3-Clause
//
// Windows that MPI refuses: an error on all ranks, without a leak.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "rma/region.hpp"
#include "rma/transfer.hpp"
#include "rma/transport/mpi/library.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/rank_main.hpp"

namespace {

enum class Refusal { none, everywhere, on_last_rank };
std::atomic<Refusal> refusal{Refusal::none};

bool refuses_here(MPI_Comm communicator) {
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(communicator, &rank);
  MPI_Comm_size(communicator, &size);
  return refusal == Refusal::everywhere || rank == size - 1;
}

}  // namespace

// Replaces the function of the MPI library: if one rank fails, the others have made the window.
extern "C" int MPI_Win_allocate(MPI_Aint size, int unit, MPI_Info info, MPI_Comm communicator,
                                void* base, MPI_Win* window) {
  if (refusal == Refusal::everywhere) {
    return MPI_ERR_NO_MEM;
  }
  const int code = PMPI_Win_allocate(size, unit, info, communicator, base, window);
  return refusal != Refusal::none && refuses_here(communicator) ? MPI_ERR_NO_MEM : code;
}

namespace tessera::rma::mpi {
namespace {

using test::fails;
using test::neighbour;
using test::ok;
using test::on_ranks;

constexpr std::size_t own_window_bytes = std::size_t{1} << 20U;

class Refusing {
 public:
  explicit Refusing(Refusal how) { refusal = how; }
  ~Refusing() { refusal = Refusal::none; }
  Refusing(const Refusing&) = delete;
  Refusing& operator=(const Refusing&) = delete;
};

std::size_t open_files() {
  const std::filesystem::directory_iterator files("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(files), end(files)));
}

std::uint64_t resident_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word == "VmRSS:") {
      std::uint64_t kib = 0;
      status >> kib;
      return kib;
    }
  }
  return 0;
}

// As the MPI library describes it.
std::string text_of_refusal() {
  std::string text(MPI_MAX_ERROR_STRING, '\0');
  int length = 0;
  MPI_Error_string(MPI_ERR_NO_MEM, text.data(), &length);
  text.resize(static_cast<std::size_t>(length));
  return text;
}

bool makes_windows_by_mpi() {
  return !find_library().allocated_windows_break && test::transport_name() == "mpi";
}

void expect_it_works(Job& job) {
  Region region = Region::allocate(job.world(), own_window_bytes).value();
  ASSERT_TRUE(ok(put_value(job, region.at(neighbour(job)), std::int64_t{7})));
  ASSERT_TRUE(ok(job.barrier()));
  EXPECT_EQ(get_value<std::int64_t>(job, region.at(TeamRank{job.rank().value})).value(), 7);
}

TEST(WindowFailure, NamesTheCallItsTextAndTheRemedyOnAllRanks) {
  on_ranks([](Job& job) {
    if (!makes_windows_by_mpi()) {
      GTEST_SKIP() << "regions are in windows over Tessera's own memory";
    }
    for (const Refusal how : {Refusal::everywhere, Refusal::on_last_rank}) {
      const Refusing refusing(how);
      const auto region = Region::allocate(job.world(), own_window_bytes);
      EXPECT_TRUE(
          fails(region.status(), Code::no_memory,
                {"MPI_Win_allocate: " + text_of_refusal(), "give the MPI library more room"}));
    }
    expect_it_works(job);
  });
}

TEST(WindowFailure, FreesEverythingAThousandTimes) {
  on_ranks([](Job& job) {
    if (!makes_windows_by_mpi()) {
      GTEST_SKIP() << "regions are in windows over Tessera's own memory";
    }
    constexpr int warm_up = 50;
    constexpr int failures = 1000;
    std::size_t files = 0;
    [[maybe_unused]] std::uint64_t memory = 0;
    {
      const Refusing refusing(Refusal::everywhere);
      for (int i = 0; i < warm_up + failures; ++i) {
        if (i == warm_up) {
          files = open_files();
          memory = resident_kib();
        }
        ASSERT_FALSE(Region::allocate(job.world(), own_window_bytes).ok());
      }
    }
    EXPECT_EQ(open_files(), files);
#ifndef TESSERA_SANITIZED                      // sanitizers keep freed memory for a while
    constexpr std::uint64_t slack_kib = 1024;  // a leak of a KiB each would reach it
    EXPECT_LT(resident_kib(), memory + slack_kib);
#endif
    expect_it_works(job);
  });
}

TEST(SecondMpi, IsFoundByItsLibrary) {
  EXPECT_TRUE(ok(check_single_mpi()));
  const bool is_mpich = find_library().vendor == Vendor::mpich;
  void* const other = dlopen(is_mpich ? "libmpi.so.40" : "libmpich.so.12", RTLD_LAZY | RTLD_LOCAL);
  if (other == nullptr) {
    GTEST_SKIP() << "no other MPI library is installed";
  }
  EXPECT_TRUE(fails(check_single_mpi(), Code::unsupported,
                    {"libmpi.so", "libmpich.so", "this process has two MPI libraries"}));
  dlclose(other);
}

}  // namespace
}  // namespace tessera::rma::mpi
