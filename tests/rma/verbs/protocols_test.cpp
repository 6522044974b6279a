// SPDX-License-Identifier: BSD-3-Clause
//
// The protocols of the transport over RDMA devices that settings and the cost model select.
#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "rma/handle.hpp"
#include "rma/transport/verbs/cost_model.hpp"
#include "rma/transport/verbs/device_times.hpp"
#include "tests/rma/verbs/transport_rig.hpp"

namespace tessera::rma::test {
namespace {

constexpr std::size_t protocols_slice_bytes = std::size_t{24} << 20;
constexpr std::size_t one_mib = std::size_t{1} << 20;

class VerbsProtocols : public WithinLimit {
 protected:
  // Fills the slice of rank 1, and registers it with the device of rank 0.
  static void fill(RdmaJob& rdma_job, Job& job, Region& region,
                   const std::vector<std::byte>& bytes) {
    std::copy(bytes.begin(), bytes.end(), rdma_job.slice(1));
    ASSERT_TRUE(ok(put_value(job, region.at(far_team_rank, protocols_slice_bytes - 16), 1.0)));
    ASSERT_TRUE(ok(job.fence(far)));
    rdma_job.network().start_trace();
  }
  static void ask_for_all(RdmaJob& rdma_job) {
    rdma_job.settings().verbs_get = "assisted";
    rdma_job.settings().verbs_chunk_kib = 1024;
  }
  // In more than its end pages, which other memory may share.
  static bool lies_in(const FakeVerbs::Registration& region, const std::vector<std::byte>& bytes) {
    constexpr std::size_t page = 4096;
    const auto* const from = static_cast<const std::byte*>(region.address);
    return from < bytes.data() + bytes.size() - page && from + region.bytes > bytes.data() + page;
  }
};

TEST_F(VerbsProtocols, LetTheOtherEndWriteRequestedData) {
  RdmaJob rdma_job;
  ask_for_all(rdma_job);
  rdma_job.act(protocols_slice_bytes, [&](Job& job, Region& region) {
    const auto sent = pattern(9 * one_mib + 7, 1);
    fill(rdma_job, job, region, sent);
    std::vector<std::byte> back(sent.size());
    ASSERT_TRUE(ok(get(job, region.at(far_team_rank), back.data(), back.size())));
    EXPECT_TRUE(back == sent);
    EXPECT_TRUE(rdma_job.posted(IBV_WR_RDMA_READ).empty());
    EXPECT_GE(rdma_job.posted(IBV_WR_RDMA_WRITE).size(), 10U)
        << "in units of the registration, 1 MiB";
  });
}

TEST_F(VerbsProtocols, ReadShortDataDirectly) {
  RdmaJob rdma_job;
  ask_for_all(rdma_job);
  rdma_job.act(protocols_slice_bytes, [&](Job& job, Region& region) {
    const auto sent = pattern(4000, 2);
    fill(rdma_job, job, region, sent);
    std::vector<std::byte> back(sent.size());
    ASSERT_TRUE(ok(get(job, region.at(far_team_rank), back.data(), back.size())));
    EXPECT_TRUE(back == sent);
    EXPECT_EQ(rdma_job.posted(IBV_WR_RDMA_READ).size(), 1U);
  });
}

// Rows that are adjacent at the origin are gathered by the target's device.
TEST_F(VerbsProtocols, GatherRowsInPlaceAndWriteThemTogether) {
  RdmaJob rdma_job;
  ask_for_all(rdma_job);
  rdma_job.act(protocols_slice_bytes, [&](Job& job, Region& region) {
    constexpr std::size_t row = 1024;
    constexpr std::int64_t count = 40;
    const auto sent = pattern(3 * row * count, 3);
    fill(rdma_job, job, region, sent);
    std::vector<std::byte> back(row * count);
    ASSERT_TRUE(ok(get(job, region.at(far_team_rank), back.data(),
                       CopyShape::rows(row, count, row, 3 * row))));
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(std::memcmp(back.data() + row * i, sent.data() + 3 * row * i, row), 0) << i;
    }
    EXPECT_TRUE(rdma_job.posted(IBV_WR_RDMA_READ).empty());
    const auto writes = rdma_job.posted(IBV_WR_RDMA_WRITE);
    ASSERT_EQ(writes.size(), 3U);
    EXPECT_EQ(writes.front().pieces, 16);
  });
}

// Requests beyond the queue's size wait at the agent, and the reply comes after them.
TEST_F(VerbsProtocols, RequestMoreRowsThanFitInTheQueue) {
  RdmaJob rdma_job;
  ask_for_all(rdma_job);
  rdma_job.settings().direct_row = 64;
  rdma_job.act(protocols_slice_bytes, [&](Job& job, Region& region) {
    constexpr std::size_t row = 64;
    constexpr std::int64_t count = 20'000;
    const auto sent = pattern(3 * row * count, 4);
    fill(rdma_job, job, region, sent);
    rdma_job.network().slow_down(std::chrono::microseconds(1));
    std::vector<std::byte> back(2 * row * count, std::byte{0x11});
    ASSERT_TRUE(ok(get(job, region.at(far_team_rank), back.data(),
                       CopyShape::rows(row, count, 2 * row, 3 * row))));
    std::int64_t wrong = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::byte* const at = back.data() + 2 * row * i;
      wrong += std::memcmp(at, sent.data() + 3 * row * i, row) == 0 && at[row] == std::byte{0x11}
                   ? 0
                   : 1;
    }
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(rdma_job.posted(IBV_WR_RDMA_WRITE).size(), static_cast<std::size_t>(count));
  });
}

TEST_F(VerbsProtocols, RequestBackwardsAndAcrossSlabs) {
  RdmaJob rdma_job;
  ask_for_all(rdma_job);
  rdma_job.act(protocols_slice_bytes, [&](Job& job, Region& region) {
    constexpr std::size_t row = 4096;
    constexpr std::int64_t count = 5'000;
    const auto sent = pattern(row * count, 5);
    fill(rdma_job, job, region, sent);
    std::vector<std::byte> back(sent.size());
    const auto last = static_cast<std::int64_t>(row) * (count - 1);
    ASSERT_TRUE(ok(get(job, region.at(far_team_rank), back.data() + last,
                       CopyShape::rows(row, count, -static_cast<std::int64_t>(row), row))));
    std::int64_t wrong = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t other = static_cast<std::size_t>(count) - 1 - i;
      wrong += std::memcmp(&back[row * i], &sent[row * other], row) == 0 ? 0 : 1;
    }
    EXPECT_EQ(wrong, 0);
  });
}

// An assisted get is a request, so no fence is needed before it.
TEST_F(VerbsProtocols, RequestAfterOtherRequestsWithoutAFence) {
  RdmaJob rdma_job;
  ask_for_all(rdma_job);
  rdma_job.act(protocols_slice_bytes, [&](Job& job, Region& region) {
    std::vector<std::int64_t> ones(one_mib / 8, 1);
    fill(rdma_job, job, region, std::vector<std::byte>(one_mib));
    ASSERT_TRUE(ok(accumulate(job, region.at(far_team_rank), ones.data(), one_mib,
                              Scale::of(std::int64_t{2}))));
    std::vector<std::int64_t> back(ones.size());
    ASSERT_TRUE(ok(get(job, region.at(far_team_rank), back.data(), one_mib)));
    EXPECT_TRUE(std::all_of(back.begin(), back.end(), [](std::int64_t each) { return each == 2; }));
    EXPECT_TRUE(rdma_job.posted(IBV_WR_RDMA_READ).empty()) << "no byte is read";
  });
}

TEST_F(VerbsProtocols, ContinueWithoutRegistrationIfItIsRefused) {
  for (const char* const way : {"read", "assisted"}) {
    RdmaJob rdma_job;
    rdma_job.settings().verbs_get = way;
    rdma_job.act(protocols_slice_bytes, [&](Job& job, Region& region) {
      const auto sent = pattern(3 * one_mib, 6);
      fill(rdma_job, job, region, sent);
      std::vector<std::byte> back(sent.size());
      // The first part is registered, the others are not.
      rdma_job.network().fail(FakeVerbs::Call::reg_mr, EPERM, 1, -1);
      ASSERT_TRUE(ok(get(job, region.at(far_team_rank), back.data(), back.size())));
      rdma_job.network().fail(FakeVerbs::Call::reg_mr, EPERM, 0, 0);
      EXPECT_TRUE(back == sent) << way;
    });
  }
}

// A registered part moves while the next part is registered.
TEST_F(VerbsProtocols, RegisterLongMemoryInParts) {
  RdmaJob rdma_job;
  rdma_job.settings().verbs_chunk_kib = 1024;
  rdma_job.act(protocols_slice_bytes, [&](Job& job, Region& region) {
    const auto sent = pattern(8 * one_mib, 7);
    fill(rdma_job, job, region, {});
    std::vector<std::size_t> parts;
    std::vector<std::size_t> posted_before;
    rdma_job.network().watch_registrations([&](const FakeVerbs::Registration& each) {
      if (each.is_new && lies_in(each, sent)) {
        parts.push_back(each.bytes);
        posted_before.push_back(rdma_job.posted(IBV_WR_RDMA_WRITE).size());
      }
    });
    ASSERT_TRUE(ok(put(job, region.at(far_team_rank), sent.data(), sent.size())));
    rdma_job.network().watch_registrations(nullptr);
    ASSERT_TRUE(ok(job.fence(far)));
    EXPECT_EQ(std::memcmp(rdma_job.slice(1), sent.data(), sent.size()), 0);
    EXPECT_GE(parts.size(), 8U);
    EXPECT_TRUE(std::all_of(parts.begin(), parts.end(),
                            [](std::size_t bytes) { return bytes <= one_mib; }));
    EXPECT_GT(posted_before.back(), 0U);
  });
}

TEST_F(VerbsProtocols, RegisterWholeMemoryOrNoneAsSettingsRequire) {
  struct Case {
    std::int64_t chunk_kib;
    const char* way;
    std::size_t max_parts;
  };
  for (const Case& each : {Case{0, "cached", 2}, Case{0, "each", 2}, Case{1024, "never", 0}}) {
    RdmaJob rdma_job;
    rdma_job.settings().verbs_chunk_kib = each.chunk_kib;
    rdma_job.settings().verbs_register = each.way;
    rdma_job.act(protocols_slice_bytes, [&](Job& job, Region& region) {
      const auto sent = pattern(8 * one_mib, 8);
      fill(rdma_job, job, region, {});
      std::vector<std::size_t> parts;
      rdma_job.network().watch_registrations([&](const FakeVerbs::Registration& one) {
        if (one.is_new && lies_in(one, sent)) {
          parts.push_back(one.bytes);
        }
      });
      for (int i = 0; i < 2; ++i) {
        ASSERT_TRUE(ok(put(job, region.at(far_team_rank), sent.data(), sent.size())));
      }
      rdma_job.network().watch_registrations(nullptr);
      ASSERT_TRUE(ok(job.fence(far)));
      EXPECT_EQ(std::memcmp(rdma_job.slice(1), sent.data(), sent.size()), 0);
      EXPECT_LE(parts.size(), each.max_parts) << each.way << testing::PrintToString(parts);
      EXPECT_EQ(parts.empty(), each.max_parts == 0) << each.way;
    });
  }
}

TEST_F(VerbsProtocols, CarryWordsAsSettingsRequire) {
  for (const bool by_device : {true, false}) {
    RdmaJob rdma_job;
    rdma_job.settings().verbs_small_transfers = by_device ? "device" : "requests";
    rdma_job.act(protocols_slice_bytes, [&](Job& job, Region& region) {
      fill(rdma_job, job, region, {});
      ASSERT_TRUE(ok(put_value(job, region.at(far_team_rank, 64), std::int64_t{77})));
      EXPECT_EQ(rdma_job.posted(IBV_WR_RDMA_WRITE).size(), by_device ? 1U : 0U);
      EXPECT_EQ(get_value<std::int64_t>(job, region.at(far_team_rank, 64)).value(), 77);
    });
  }
}

// --- the cost model

constexpr std::size_t message_bytes = 8192;

TEST(CostModel, ReadsUnlessReadsAreMuchWeakerThanWrites) {
  const verbs::CostModel usual(verbs::DeviceTimes(), message_bytes);
  EXPECT_FALSE(usual.prefers_assisted(one_mib));
  verbs::DeviceTimes weak;
  weak.read_kib = 2 * weak.written_kib;
  const verbs::CostModel assisted(weak, message_bytes);
  EXPECT_TRUE(assisted.prefers_assisted(one_mib));
  EXPECT_FALSE(assisted.prefers_assisted(std::size_t{16} * 1024))
      << "the request costs more than it saves";
}

TEST(CostModel, PacksRowsThatAreShorterThanARequestIsWorth) {
  verbs::DeviceTimes times;
  times.request = 160;
  times.copied_kib = 80;  // with its share of a message, 180 ns a KiB
  EXPECT_EQ(verbs::CostModel(times, message_bytes).min_row(), 1024U);
  times.request = 16;
  EXPECT_EQ(verbs::CostModel(times, message_bytes).min_row(), 128U);
  times.request = 1;
  EXPECT_EQ(verbs::CostModel(times, message_bytes).min_row(), 64U);
  times.request = 1e6;
  EXPECT_LE(verbs::CostModel(times, message_bytes).min_row(), 32U * 1024);
}

TEST(CostModel, CopiesWhatIsCopiedSoonerThanRegistered) {
  verbs::DeviceTimes times;
  times.registration = 20'000;
  times.registered_kib = 20;
  times.copied_kib = 80;
  times.request = 160;  // 100 ns a KiB in total, against 20 and 20 us
  const verbs::CostModel costs(times, message_bytes);
  EXPECT_TRUE(costs.prefers_copy(std::size_t{200} * 1024));
  EXPECT_FALSE(costs.prefers_copy(std::size_t{300} * 1024));
}

TEST(DeviceTimes, AreMeasuredOnTheDeviceItself) {
  const auto network = std::make_shared<FakeVerbs>();
  auto device = verbs::Device::open(network, {.device = "fake0"});
  ASSERT_TRUE(ok(device));
  auto registrar = verbs::Registrar::create(network, (*device)->domain(), {.may_cache = false});
  ASSERT_TRUE(ok(registrar));
  const auto times = verbs::measure_times(*device, **registrar);
  ASSERT_TRUE(ok(times));
  for (const double each :
       {times->request, times->write_wait, times->read_wait, times->written_kib, times->read_kib,
        times->copied_kib, times->registration, times->registered_kib}) {
    EXPECT_GT(each, 0);
    EXPECT_LT(each, 1e9);
  }
  EXPECT_EQ(network->misuses(), std::vector<std::string>());
}

TEST(DeviceTimes, ReportWhyTheyCannotBeMeasured) {
  const auto network = std::make_shared<FakeVerbs>();
  auto device = verbs::Device::open(network, {.device = "fake0"});
  ASSERT_TRUE(ok(device));
  auto registrar = verbs::Registrar::create(network, (*device)->domain(), {.may_cache = false});
  ASSERT_TRUE(ok(registrar));
  network->fail(FakeVerbs::Call::post_send, ENOMEM);
  EXPECT_TRUE(fails(verbs::measure_times(*device, **registrar), Code::unsupported,
                    {"fake0 does not accept requests to itself"}));
  network->fail(FakeVerbs::Call::create_cq, ENOMEM);
  EXPECT_TRUE(fails(verbs::measure_times(*device, **registrar), Code::no_memory,
                    {"device 'fake0': cannot make a completion queue: Cannot allocate memory",
                     "; its limit is 1048576"}));
  network->hold(true);
  EXPECT_TRUE(fails(verbs::measure_times(*device, **registrar), Code::unsupported,
                    {"fake0 doesn't answer requests to itself"}));
  network->hold(false);
}

}  // namespace
}  // namespace tessera::rma::test
