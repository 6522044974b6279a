// SPDX-License-Identifier: BSD-3-Clause
//
// Nothing overflows 32 bits, runs out or grows without need: strides, increments, element types,
// names, handles, descriptors, memory.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <complex>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "arrays/elementwise.hpp"
#include "arrays/gather.hpp"
#include "arrays/reductions.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/effort.hpp"
#include "tests/support/heap.h"
#include "tests/support/rank_main.hpp"

namespace tessera::arrays {
namespace {

using rma::Code;
using rma::Job;
using rma::Op;
using rma::Reduction;
using rma::TeamRank;
using rma::test::fails;
using rma::test::ok;
using rma::test::on_ranks;

// Two planes of 2.5 GB; memory is used only for the parts that are accessed.
constexpr std::int64_t side = 50'000;
constexpr std::int64_t plane = side * side;
using Bytes = std::int8_t;

Array<Bytes> make_planes(Job& job) {
  return Array<Bytes>::create(
             job, {2, side, side},
             {.name = "planes", .holders = {TeamRank{job.size() - 1}}, .region = {.sparse = true}})
      .value();
}

// Memory of this process for that many elements, also used only where it is accessed.
class LocalPlanes {
 public:
  LocalPlanes()
      : memory_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
  ~LocalPlanes() { munmap(memory_, bytes); }
  LocalPlanes(const LocalPlanes&) = delete;
  LocalPlanes& operator=(const LocalPlanes&) = delete;
  [[nodiscard]] bool is_mapped() const noexcept { return memory_ != MAP_FAILED; }
  [[nodiscard]] LocalView<Bytes> view(const Extents& extents) const noexcept {
    return {static_cast<Bytes*>(memory_), extents, Strides{plane, side, 1}};
  }

 private:
  static constexpr std::size_t bytes = 2 * plane;
  void* memory_;
};

// Global Arrays issue #48 and related ones: strides above 2 GiB wrapped, and the put crashed.
TEST(Limits, StridesOfMoreThan2GiBAtTheOwner) {
  on_ranks([](Job& job) {
    auto array = make_planes(job);
    const Box column({0, side - 1, side - 3}, {2, side, side});
    std::vector<Bytes> values{1, 2, 3, 4, 5, 6};
    if (job.rank().value == 0) {
      EXPECT_TRUE(ok(array.put(column, values)));
    }
    EXPECT_TRUE(ok(array.sync()));
    std::vector<Bytes> got(6);
    EXPECT_TRUE(ok(array.get(column, got)));
    EXPECT_EQ(got, values);
    EXPECT_TRUE(ok(array.sync()));
    EXPECT_TRUE(ok(array.accumulate(column, values, Bytes{2})));
    EXPECT_TRUE(ok(array.sync()));
    EXPECT_EQ(array.get_element({0, side - 1, side - 3}).value(), 1 + 2 * job.size());
    EXPECT_EQ(array.get_element({1, side - 1, side - 1}).value(), 6 + 12 * job.size());
    EXPECT_EQ(array.get_element({1, side - 2, side - 1}).value(), 0) << "beside it";
    const std::vector<Index> corners{{0, 0, 0}, {1, side - 1, side - 2}};
    std::vector<Bytes> at_corners(2);
    EXPECT_TRUE(ok(gather(array, corners, at_corners)));
    EXPECT_EQ(at_corners, (std::vector<Bytes>{0, static_cast<Bytes>(5 + 10 * job.size())}));
    EXPECT_TRUE(ok(array.free()));
  });
}

// Global Arrays issue #48: the same strides in the caller's memory.
TEST(Limits, StridesOfMoreThan2GiBInLocalMemory) {
  on_ranks([](Job& job) {
    const LocalPlanes local;
    if (!local.is_mapped()) {
      GTEST_SKIP() << "5 GB of address space are not to be had";
    }
    auto array = make_planes(job);
    const Box box({0, 7, 9}, {2, 9, 10});
    const auto view = local.view({2, 2, 1});
    if (job.rank().value == 0) {
      view(0, 0, 0) = 1;
      view(0, 1, 0) = 2;
      view(1, 0, 0) = 3;
      view(1, 1, 0) = 4;
      EXPECT_TRUE(ok(array.put(box, LocalView<const Bytes>(view))));
    }
    EXPECT_TRUE(ok(array.sync()));
    view(1, 1, 0) = 0;
    EXPECT_TRUE(ok(array.get_async(box, view).wait()));
    EXPECT_EQ(view(0, 1, 0), 2);
    EXPECT_EQ(view(1, 0, 0), 3);
    EXPECT_EQ(view(1, 1, 0), 4);
    const Section section(Box({0, 7, 9}, {2, 9, 10}), {1, 2, 1});
    std::vector<Bytes> every_second(2);
    EXPECT_TRUE(ok(array.get(section, LocalView<Bytes>(every_second.data(), {2, 1, 1}))));
    EXPECT_EQ(every_second, (std::vector<Bytes>{1, 3}));
    EXPECT_TRUE(ok(array.free()));
  });
}

// Global Arrays cast the increment of read_inc to 32 bits: 5000000000 added 705032704.
TEST(Limits, IncrementsOfMoreThan32Bits) {
  on_ranks([](Job& job) {
    constexpr std::int64_t increment = 5'000'000'000;
    auto array = Array<std::int64_t>::create(job, {4, 3}, {.name = "counters"}).value();
    EXPECT_EQ(array.fetch_add({3, 2}, increment).value() % increment, 0);
    EXPECT_TRUE(ok(array.sync()));
    EXPECT_EQ(array.get_element({3, 2}).value(), increment * job.size());
    EXPECT_TRUE(ok(array.sync()));
    EXPECT_TRUE(ok(array.fetch_add({3, 2}, -increment)));
    EXPECT_TRUE(ok(array.sync()));
    EXPECT_EQ(array.get_element({3, 2}).value(), 0);
    EXPECT_TRUE(ok(array.sync()));
  });
}

template <class T>
class EachType : public testing::Test {};
using ElementTypes = testing::Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t,
                                    std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t,
                                    float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(EachType, ElementTypes);

// Global Arrays aborted in an accumulate of long long, and had no unsigned or small integers.
TYPED_TEST(EachType, AccumulatesScattersAddsAndReduces) {
  on_ranks([](Job& job) {
    using T = TypeParam;
    const T ranks = static_cast<T>(static_cast<float>(job.size()));
    auto array = Array<T>::create(job, {3, 2}, {.name = "A"}).value();
    const std::vector<T> ones(6, T{1});
    EXPECT_TRUE(ok(array.accumulate(array.box(), ones, T{2})));
    const std::vector<Index> places{{2, 1}};
    EXPECT_TRUE(ok(scatter_accumulate(array, places, std::vector<T>{T{3}})));
    EXPECT_EQ(sum(array).value(), static_cast<T>(ranks * T{15}));
    EXPECT_EQ(array.get_element({2, 1}).value(), static_cast<T>(ranks * T{5}));
    EXPECT_TRUE(ok(fill(array, T{1})));
    EXPECT_EQ(dot(array, array).value(), T{6});
    EXPECT_EQ(job.world().template allreduce<T>(T{1}, Reduction::sum).value(), ranks);
  });
}

// Global Arrays aborted in an accumulate of long long; through double, the last bits would be lost.
TEST(Limits, SumsOf64BitIntegersAreExactBeyond2To53) {
  on_ranks([](Job& job) {
    constexpr std::int64_t odd = (std::int64_t{1} << 53) + 1;
    auto array = Array<std::int64_t>::create(job, {5}, {.name = "A"}).value();
    const std::vector<std::int64_t> values(5, odd);
    EXPECT_TRUE(ok(array.accumulate(array.box(), values, 3)));
    EXPECT_TRUE(ok(array.sync()));
    EXPECT_EQ(array.get_element({4}).value(), 3 * odd * job.size());
    EXPECT_EQ(sum(array).value(), 15 * odd * job.size());
    EXPECT_TRUE(ok(fill(array, std::int64_t{0})));
    if (job.rank().value == 0) {
      EXPECT_TRUE(ok(array.put(Box::at({2}), std::span(values).first(1))));
    }
    EXPECT_EQ(select_max(array).value().value, odd);
    EXPECT_EQ(job.world().allreduce(odd, Reduction::sum).value(), odd * job.size());
  });
}

// Global Arrays wrote messages with sprintf into buffers of 256 and 400 bytes.
TEST(Limits, MessagesHoldNamesOfAnyLength) {
  on_ranks([](Job& job) {
    const std::string name = std::string(5'000, 'n') + "%s%n";
    auto array = Array<double>::create(job, {4}, {.name = name}).value();
    std::vector<double> buffer(9);
    EXPECT_TRUE(fails(array.get(Box({0}, {9}), buffer), Code::out_of_range,
                      {"get of [0,9) of array '" + name + "' (float64, 4)"}));
    EXPECT_TRUE(fails(fill(part(array, Box({0}, {9})), 1.0), Code::out_of_range, {name}));
    EXPECT_TRUE(ok(array.sync()));
  });
}

std::int64_t open_descriptors() {
  std::int64_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    ++count;
  }
  return count;
}

// Global Arrays issue #257: (ranks per node)² descriptors for each array, until the system had none
// left.
TEST(Limits, ThousandsOfArraysTakeNoDescriptors) {
  on_ranks([](Job& job) {
    auto first = Array<double>::create(job, {64}, {.name = "first"}).value();
    EXPECT_TRUE(ok(fill(first, 1.0)));
    EXPECT_TRUE(ok(job.barrier()));
    // The rank that counts has a folder open, so only one rank of a process counts.
    const bool counts = !rma::test::ranks_are_threads() || job.rank().value == 0;
    const std::int64_t before = counts ? open_descriptors() : 0;
    EXPECT_TRUE(ok(job.barrier()));
    std::vector<Array<double>> arrays;
    // Between nodes that share two processors, each one takes some milliseconds.
    const int count = job.node_count() == 1 ? 10'000 : 2'000;
    for (int i = 0; i < tessera::test::rounds(count); ++i) {
      arrays.push_back(Array<double>::create(job, {64}, {.name = std::to_string(i)}).value());
    }
    const double value = 3;
    if (job.rank().value == 0) {
      EXPECT_TRUE(ok(arrays.back().put(Box::at({63}), std::span(&value, 1))));
    }
    EXPECT_TRUE(ok(arrays.back().sync()));
    EXPECT_EQ(arrays.back().get_element({63}).value(), 3.0);
    EXPECT_TRUE(ok(job.barrier()));
    EXPECT_EQ(counts ? open_descriptors() : 0, before);
    EXPECT_TRUE(ok(job.barrier()));
  });
}

// Global Arrays issue #95: names of memory ran out after many arrays were made and freed.
TEST(Limits, ArraysComeAndGoWithoutEnd) {
  on_ranks([](Job& job) {
    for (int i = 0; i < tessera::test::rounds(1'000); ++i) {
      auto array =
          Array<double>::create(job, {1'000'000}, {.name = "A", .region = {.sparse = true}});
      ASSERT_TRUE(ok(array)) << "round " << i;
      EXPECT_EQ(array->get_element({999'999}).value(), 0.0);
      ASSERT_TRUE(ok(array->free())) << "round " << i;
    }
  });
}

// Global Arrays issue #232: 256 handles; the oldest one was silently lost.
TEST(Limits, ThousandsOfTransfersAreUnderWayAtOnce) {
  on_ranks([](Job& job) {
    const std::int64_t count = 3'000;
    auto array = Array<double>::create(job, {count}, {.name = "A"}).value();
    const auto ranks = static_cast<std::size_t>(job.size());
    const auto mine = static_cast<std::size_t>(job.rank().value);
    std::vector<double> values(static_cast<std::size_t>(count));
    std::vector<rma::Handle> handles;
    for (std::size_t i = mine; i < values.size(); i += ranks) {
      values[i] = static_cast<double>(i) + 1;
      handles.push_back(
          array.put_async(Box::at({static_cast<std::int64_t>(i)}), std::span(&values[i], 1)));
    }
    for (rma::Handle& handle : handles) {
      EXPECT_TRUE(ok(handle.wait()));
    }
    EXPECT_TRUE(ok(array.sync()));
    handles.clear();
    std::vector<double> got(values.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      handles.push_back(
          array.get_async(Box::at({static_cast<std::int64_t>(i)}), std::span(&got[i], 1)));
    }
    for (std::size_t i = 0; i < got.size(); ++i) {
      EXPECT_TRUE(ok(handles[i].wait()));
      EXPECT_EQ(got[i], static_cast<double>(i) + 1);
    }
    EXPECT_TRUE(ok(array.sync()));
  });
}

// Global Arrays' mpi3 port kept an MPI_Group of 124 bytes for each transfer, on each rank.
TEST(Limits, TransfersTakeNoMemoryThatStays) {
  on_ranks([](Job& job) {
    auto array = Array<double>::create(job, {40, 40}, {.name = "A"}).value();
    auto sums = Array<double>::create(job, {40, 40}, {.name = "sums"}).value();
    std::vector<double> buffer(400);
    const Box box({10, 10}, {30, 30});
    const auto move = [&](int times) {
      for (int i = 0; i < times; ++i) {
        EXPECT_TRUE(ok(array.get(box, buffer)));
        EXPECT_TRUE(ok(sums.accumulate(box, buffer)));
      }
      EXPECT_TRUE(ok(sums.sync()));
      return heap_bytes();
    };
    const int times = tessera::test::rounds(2'000);
    const auto before = move(times);
    const auto after = move(times);
    EXPECT_LE(after, before + static_cast<std::size_t>(times) * 16) << "bytes in use";
    EXPECT_TRUE(ok(sums.sync()));
  });
}

// Global Arrays' progress ranks sent one message for each row of a box.
TEST(Limits, ABoxIsOneTransferForEachOwner) {
  on_ranks([](Job& job) {
    const ArrayOptions options = {.process_grid = {0, 1}};
    auto array = Array<double>::create(job, {60, 60}, options).value();
    auto sums = Array<double>::create(job, {60, 60}, options).value();
    const Box box({0, 10}, {60, 20});
    std::vector<double> buffer(600, 1.0);
    const auto owners = static_cast<std::uint64_t>(job.size());
    const auto before = job.traffic();
    EXPECT_TRUE(ok(array.get(box, buffer)));
    EXPECT_TRUE(ok(sums.accumulate(box, buffer)));
    const auto after = job.traffic();
    EXPECT_EQ(after.total(Op::get).operations, before.total(Op::get).operations + owners);
    EXPECT_EQ(after.total(Op::accumulate).operations,
              before.total(Op::accumulate).operations + owners);
    EXPECT_TRUE(ok(sums.sync()));
  });
}

}  // namespace
}  // namespace tessera::arrays
