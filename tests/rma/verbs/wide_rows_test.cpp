// SPDX-License-Identifier: BSD-3-Clause
//
// Rows of a patch in a larger local array: the device moves them if that memory is registered, or
// if registering pays; and what is then registered.
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "rma/transport/verbs/cost_model.hpp"
#include "rma/transport/verbs/packing_losses.hpp"
#include "tests/rma/verbs/transport_rig.hpp"

namespace tessera::rma::test {
namespace {

constexpr std::size_t wide_slice_bytes = std::size_t{1} << 20;
constexpr std::size_t row = 1024;  // 128 doubles
constexpr std::int64_t rows = 128;
constexpr std::size_t patch_bytes = row * rows;
// Less than any message with a part of a patch.
constexpr std::size_t few_bytes = 2000;

/// A mapping that takes memory only where it is written, or everywhere, as if a device had pinned
/// it.
class Mapping {
 public:
  enum class Pages { as_written, all };
  Mapping(std::size_t bytes, Pages pages) : bytes_(bytes) {
    void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    EXPECT_NE(memory, MAP_FAILED);
    memory_ = static_cast<std::byte*>(memory);
    if (pages == Pages::all) {
      std::memset(memory_, 1, bytes);
    }
  }
  ~Mapping() { munmap(memory_, bytes_); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  [[nodiscard]] std::byte* data() const noexcept { return memory_; }
  [[nodiscard]] std::size_t size() const noexcept { return bytes_; }

 private:
  std::size_t bytes_;
  std::byte* memory_ = nullptr;
};

class VerbsWideRows : public WithinLimit {
 protected:
  static CopyShape patch(std::size_t leading) {
    return CopyShape::rows(row, rows, static_cast<std::int64_t>(leading), row);
  }
  static void fill(std::byte* array, std::size_t leading, const std::vector<std::byte>& bytes) {
    for (std::size_t i = 0; i < rows; ++i) {
      std::memcpy(array + i * leading, bytes.data() + i * row, row);
    }
  }
  static bool has(const std::byte* array, std::size_t leading,
                  const std::vector<std::byte>& bytes) {
    for (std::size_t i = 0; i < rows; ++i) {
      if (std::memcmp(array + i * leading, bytes.data() + i * row, row) != 0) {
        return false;
      }
    }
    return true;
  }
  static std::size_t bytes_of(const std::vector<FakeVerbs::Posted>& all) {
    return std::accumulate(
        all.begin(), all.end(), std::size_t{0},
        [](std::size_t sum, const FakeVerbs::Posted& each) { return sum + each.bytes; });
  }
  /// Registers the slice, and leaves nothing to fence.
  static void warm_up(Job& job, Region& region) {
    ASSERT_TRUE(ok(put_value(job, region.at(far_team_rank, wide_slice_bytes - 16), 1.0)));
    ASSERT_TRUE(ok(job.fence(far)));
  }
  /// Puts a patch from `array` and gets it back; returns the number of registrations.
  static int move_both_ways(RdmaJob& rdma_job, Job& job, Region& region, std::byte* array,
                            std::size_t leading, std::uint32_t seed) {
    const auto sent = pattern(patch_bytes, seed);
    fill(array, leading, sent);
    int registered = 0;
    rdma_job.network().watch_registrations(
        [&](const FakeVerbs::Registration& each) { registered += each.is_new ? 1 : 0; });
    rdma_job.network().start_trace();
    EXPECT_TRUE(ok(put(job, region.at(far_team_rank), array, patch(leading))));
    EXPECT_TRUE(ok(job.fence(far)));
    EXPECT_EQ(std::memcmp(rdma_job.slice(1), sent.data(), patch_bytes), 0);
    fill(array, leading, pattern(patch_bytes, seed + 100));
    EXPECT_TRUE(ok(get(job, region.at(far_team_rank), array, patch(leading))));
    EXPECT_TRUE(has(array, leading, sent));
    rdma_job.network().watch_registrations(nullptr);
    return registered;
  }
  /// By the device, and not packed in messages.
  static void expect_direct(const RdmaJob& rdma_job) {
    EXPECT_EQ(bytes_of(rdma_job.posted(IBV_WR_RDMA_WRITE)), patch_bytes);
    EXPECT_GE(bytes_of(rdma_job.posted(IBV_WR_RDMA_READ)), patch_bytes);
    EXPECT_LE(bytes_of(rdma_job.posted(IBV_WR_SEND_WITH_IMM)), few_bytes);
  }
};

TEST_F(VerbsWideRows, OfTheArenaUseTheDevice) {
  for (const std::size_t columns : {1024U, 8192U}) {
    RdmaJob rdma_job;
    rdma_job.act(wide_slice_bytes, [&](Job& job, Region& region) {
      const std::size_t leading = columns * sizeof(double);
      auto memory = job.allocate_local(rows * leading);
      ASSERT_TRUE(ok(memory));
      warm_up(job, region);
      auto* const array = static_cast<std::byte*>(*memory);
      static_cast<void>(move_both_ways(rdma_job, job, region, array, leading, 1));
      expect_direct(rdma_job);
      EXPECT_EQ(move_both_ways(rdma_job, job, region, array, leading, 2), 0);
      expect_direct(rdma_job);
      ASSERT_TRUE(ok(job.free_local(*memory)));
    });
  }
}

// Each slab of the arena has its own keys.
TEST_F(VerbsWideRows, OfTheArenaMayCrossSlabs) {
  RdmaJob rdma_job;
  rdma_job.act(wide_slice_bytes, [&](Job& job, Region& region) {
    constexpr std::size_t leading = 512 * 1024;  // 64 MiB in all
    auto memory = job.allocate_local(rows * leading);
    ASSERT_TRUE(ok(memory));
    auto* const array = static_cast<std::byte*>(*memory);
    warm_up(job, region);
    // One slab in the middle is registered before the others.
    ASSERT_TRUE(ok(put(job, region.at(far_team_rank), array + 60 * leading, 8192)));
    ASSERT_TRUE(ok(job.fence(far)));
    static_cast<void>(move_both_ways(rdma_job, job, region, array, leading, 3));
    expect_direct(rdma_job);
    ASSERT_TRUE(ok(job.free_local(*memory)));
  });
}

TEST_F(VerbsWideRows, OfRegisteredMemoryUseTheDevice) {
  RdmaJob rdma_job;
  rdma_job.act(wide_slice_bytes, [&](Job& job, Region& region) {
    constexpr std::size_t leading = 6 * row;  // all of it fits the slice
    const Mapping array(rows * leading, Mapping::Pages::all);
    warm_up(job, region);
    ASSERT_TRUE(ok(put(job, region.at(far_team_rank), array.data(), array.size())));
    ASSERT_TRUE(ok(job.fence(far)));
    EXPECT_EQ(move_both_ways(rdma_job, job, region, array.data(), leading, 4), 0);
    expect_direct(rdma_job);
  });
}

// The setting for the length of rows decides: the device moves rows of 512 B and more.
TEST_F(VerbsWideRows, AreRegisteredOnceIfASettingSelectsTheDevice) {
  for (const std::size_t columns : {1024U, 8192U}) {
    RdmaJob rdma_job;
    rdma_job.act(wide_slice_bytes, [&](Job& job, Region& region) {
      const std::size_t leading = columns * sizeof(double);
      const Mapping array(rows * leading, Mapping::Pages::all);
      warm_up(job, region);
      EXPECT_LE(move_both_ways(rdma_job, job, region, array.data(), leading, 5), 2);
      expect_direct(rdma_job);
      EXPECT_EQ(move_both_ways(rdma_job, job, region, array.data(), leading, 6), 0);
      expect_direct(rdma_job);
    });
  }
}

// The gap would cost more than a separate registration.
TEST_F(VerbsWideRows, FarApartAreRegisteredWithoutTheGapsBetween) {
  RdmaJob rdma_job;
  rdma_job.act(wide_slice_bytes, [&](Job& job, Region& region) {
    constexpr std::size_t far_apart = std::size_t{256} << 20;
    const Mapping array(far_apart + row, Mapping::Pages::as_written);
    const auto sent = pattern(2 * row, 7);
    std::memcpy(array.data(), sent.data(), row);
    std::memcpy(array.data() + far_apart, sent.data() + row, row);
    warm_up(job, region);
    std::size_t most = 0;
    rdma_job.network().watch_registrations(
        [&](const FakeVerbs::Registration& each) { most = std::max(most, each.bytes); });
    rdma_job.network().start_trace();
    ASSERT_TRUE(ok(
        put(job, region.at(far_team_rank), array.data(), CopyShape::rows(row, 2, far_apart, row))));
    ASSERT_TRUE(ok(job.fence(far)));
    rdma_job.network().watch_registrations(nullptr);
    EXPECT_EQ(std::memcmp(rdma_job.slice(1), sent.data(), sent.size()), 0);
    EXPECT_GT(most, 0U);
    EXPECT_LE(most, std::size_t{64} * 1024);
    EXPECT_EQ(bytes_of(rdma_job.posted(IBV_WR_RDMA_WRITE)), sent.size());
  });
}

// If nothing can be registered they are packed, and arrive.
TEST_F(VerbsWideRows, ArePackedIfRegistrationIsRefused) {
  RdmaJob rdma_job;
  rdma_job.act(wide_slice_bytes, [&](Job& job, Region& region) {
    constexpr std::size_t leading = 64 * 1024;
    const Mapping array(rows * leading, Mapping::Pages::all);
    warm_up(job, region);
    rdma_job.network().fail(FakeVerbs::Call::reg_mr, EPERM, 0, -1);
    EXPECT_EQ(move_both_ways(rdma_job, job, region, array.data(), leading, 8), 0);
    rdma_job.network().fail(FakeVerbs::Call::reg_mr, EPERM, 0, 0);
    EXPECT_TRUE(rdma_job.posted(IBV_WR_RDMA_WRITE).empty());
    EXPECT_GE(bytes_of(rdma_job.posted(IBV_WR_SEND_WITH_IMM)), 2 * patch_bytes);
  });
}

// --- costs

TEST(CostModel, PricesPackingAndRegistering) {
  const verbs::DeviceTimes times{
      .request = 160, .copied_kib = 80, .registration = 20'000, .registered_kib = 20};
  const verbs::CostModel costs(times, 8192);
  // 128 rows of 1 KiB: 128 · 2 · 80 ns of copies and 17 messages, or 128 requests.
  EXPECT_DOUBLE_EQ(costs.packing_loss(patch_bytes, rows), 20'480 - 111 * 160);
  EXPECT_LT(costs.packing_loss(64 * 128, 128), 0);
  EXPECT_DOUBLE_EQ(costs.registration_cost(1 << 20, 1), 20'000 + 20'480);
  EXPECT_DOUBLE_EQ(costs.registration_cost(1 << 20, 3), 60'000 + 20'480);
  EXPECT_EQ(costs.max_gap(), 1000U * 1024);
}

TEST(PackingLosses, PayWhenTheirLossHasReachedThePrice) {
  verbs::PackingLosses spans;
  const verbs::PageRange array{0x10'0000, 0x20'0000};
  EXPECT_FALSE(spans.add(array, 40, 100));
  EXPECT_FALSE(spans.add(array, 40, 100));
  EXPECT_TRUE(spans.add(array, 40, 100));
  EXPECT_FALSE(spans.add(array, 40, 100)) << "it counts from 0 again";
  EXPECT_FALSE(spans.add(array, -1000, 100));
  EXPECT_FALSE(spans.add(array, 40, 100));
  EXPECT_TRUE(spans.add(array, 40, 100)) << "a negative loss doesn't count";
}

TEST(PackingLosses, CountPatchesOfOneArrayTogetherAndOthersApart) {
  verbs::PackingLosses spans;
  EXPECT_FALSE(spans.add({0x1000, 0x9000}, 60, 100));
  EXPECT_FALSE(spans.add({0x9000, 0xb000}, 60, 100)) << "next to it";
  EXPECT_TRUE(spans.add({0x8000, 0x9000}, 60, 100));
  // Only the most recently used spans are recorded.
  EXPECT_FALSE(spans.add({0x100'0000, 0x100'1000}, 60, 100));
  for (std::uintptr_t i = 1; i <= 16; ++i) {
    EXPECT_FALSE(spans.add({0x100'0000 + i * 0x1000, 0x100'1000 + i * 0x1000}, 1, 100));
  }
  EXPECT_FALSE(spans.add({0x100'0000, 0x100'1000}, 60, 100));
}

}  // namespace
}  // namespace tessera::rma::test
