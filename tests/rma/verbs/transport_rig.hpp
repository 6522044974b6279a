// SPDX-License-Identifier: BSD-3-Clause
//
// The base of the tests of the transport over RDMA devices: jobs whose ranks are threads of this
// process, each a node of its own with its own device, on a network that belongs to the test.
//
// Threads: as Job; the rest by the test's own thread and, if documented, by ranks.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "rma/job.hpp"
#include "rma/region.hpp"
#include "rma/server/transport.hpp"
#include "rma/transfer.hpp"
#include "rma/transport/verbs/device_discovery.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/effort.hpp"
#include "tests/support/fake_verbs.hpp"
#include "tests/support/watchdog.hpp"

namespace tessera::rma::test {

/// Ends the program if a test takes longer than any test here may.
class WithinLimit : public testing::Test {
 protected:
  void SetUp() override {
    watchdog_.begin(testing::UnitTest::GetInstance()->current_test_info()->name());
  }
  void TearDown() override { watchdog_.end(); }

 private:
  Watchdog watchdog_{std::chrono::seconds(60)};
};

struct RdmaJobOptions {
  std::int32_t ranks = 2;
  std::vector<DeviceModel> devices = {};  ///< none: one like soft RoCE for each rank
  std::uint64_t seed = 1;
  std::string transport = "shm,fabric,tcp";
};

/// The job's ranks, each of which is a node, and the network between them. At its end all network
/// objects must be destroyed, and no call may have been a misuse.
class RdmaJob {
 public:
  explicit RdmaJob(RdmaJobOptions options = {})
      : options_(std::move(options)),
        network_(std::make_shared<FakeVerbs>(
            options_.devices.empty() ? soft_roce_devices(options_.ranks) : options_.devices,
            options_.seed)) {}
  ~RdmaJob() {
    EXPECT_EQ(network_->live(), FakeVerbs::Live()) << "some objects were not destroyed";
    EXPECT_EQ(network_->misuses(), std::vector<std::string>());
  }
  RdmaJob(const RdmaJob&) = delete;
  RdmaJob& operator=(const RdmaJob&) = delete;

  [[nodiscard]] FakeVerbs& network() const { return *network_; }
  [[nodiscard]] std::int32_t ranks() const { return options_.ranks; }

  /// Runs `body` as every rank. No rank leaves the job before all have finished, so a rank that
  /// runs longer is not disturbed.
  void run(const std::function<void(Job&)>& body) {
    std::atomic<int> through{0};
    EXPECT_TRUE(ok(try_to_run([&](Job& job) {
      body(job);
      ++through;
      EXPECT_TRUE(eventually([&] { return through == options_.ranks; }));
    })));
  }
  /// The same for jobs that may not start; ranks do not wait for each other at the end.
  Status try_to_run(const std::function<void(Job&)>& body) {
    ThreadRunOptions how;
    how.settings = settings();
    how.transports = {transport()};
    return run_on_threads(
        options_.ranks,
        [&](Job& job) {
          body(job);
          return Status();
        },
        how);
  }

  /// Runs `action` as rank 0; all have a slice of `bytes` each, and the others do not use the
  /// network meanwhile.
  void act(std::size_t bytes, const std::function<void(Job&, Region&)>& action,
           RegionOptions options = {}) {
    std::atomic<bool> is_over{false};
    run([&](Job& job) {
      auto region = Region::allocate(job.world(), bytes, options);
      ASSERT_TRUE(ok(region));
      keep_slice(job.rank(), region->local());
      ASSERT_TRUE(ok(job.barrier()));
      if (job.rank().value == 0) {
        action(job, *region);
        is_over = true;
      }
      EXPECT_TRUE(eventually([&] { return is_over.load(); }));
    });
  }

  /// A rank's slice in act(), as its owner sees it.
  [[nodiscard]] std::byte* slice(std::int32_t rank) {
    const std::lock_guard guard(mutex_);
    return slices_[static_cast<std::size_t>(rank)];
  }
  void keep_slice(WorldRank rank, std::byte* slice) {
    const std::lock_guard guard(mutex_);
    slices_[static_cast<std::size_t>(rank.value)] = slice;
  }

  /// The transports' warnings that contain `words`.
  [[nodiscard]] std::vector<std::string> warnings(std::string_view words = "") {
    const std::lock_guard guard(mutex_);
    std::vector<std::string> found;
    std::copy_if(warnings_.begin(), warnings_.end(), std::back_inserter(found),
                 [&](const std::string& line) { return line.find(words) != std::string::npos; });
    return found;
  }

  /// The requests of that kind since the trace began.
  [[nodiscard]] std::vector<FakeVerbs::Posted> posted(ibv_wr_opcode opcode) const {
    std::vector<FakeVerbs::Posted> found = network_->trace();
    std::erase_if(found, [&](const FakeVerbs::Posted& each) { return each.opcode != opcode; });
    return found;
  }

  /// Returns true once the completion queues are polled only rarely.
  [[nodiscard]] bool becomes_idle() const {
    constexpr std::uint64_t few = 1000;  // a thread that does not sleep polls more often in this
                                         // time
    return eventually([&] {
      const std::uint64_t before = network_->poll_count();
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      return network_->poll_count() - before < few;
    });
  }

  /// Settings of the job; to be changed before run().
  Settings& settings() { return settings_; }
  /// The ranks that find no device.
  std::function<bool(WorldRank)> has_no_device = [](WorldRank) { return false; };

 private:
  static Settings first_settings(const std::string& transport) {
    Settings settings;
    settings.transport = transport;
    settings.ranks_per_node = 1;
    settings.arena_mib = 256;
    settings.start_timeout_ms = 20'000;
    settings.liveness_ms = 20;
    settings.log = "silent";
    // Protocols that do not depend on measurements.
    settings.direct_row = 512;
    settings.verbs_get = "read";
    settings.verbs_chunk_kib = 0;
    return settings;
  }
  void record_warning(const std::string& line) {
    const std::lock_guard guard(mutex_);
    warnings_.push_back(line);
  }
  // Rank i uses device "fake<i>".
  Result<std::shared_ptr<detail::RdmaProvider>> find(const detail::RdmaProviderContext& context) {
    if (has_no_device(context.rank)) {
      return Status::error(Code::unsupported, "there is no device here");
    }
    Settings mine = *context.settings;
    mine.verbs_device = "fake" + std::to_string(context.rank.value);
    detail::RdmaProviderContext changed = context;
    changed.settings = &mine;
    return verbs::find_rdma_provider(network_, changed);
  }
  TransportFactory transport() {
    TransportFactory factory = server::factory(
        "fabric", [this](const detail::RdmaProviderContext& context) { return find(context); });
    factory.create = [this, create = factory.create](const TransportContext& context) {
      TransportContext changed = context;
      changed.warn = [this](const std::string& line) { record_warning(line); };
      return create(changed);
    };
    return factory;
  }

  const RdmaJobOptions options_;
  const std::shared_ptr<FakeVerbs> network_;
  Settings settings_ = first_settings(options_.transport);
  std::mutex mutex_;
  std::array<std::byte*, 64> slices_{};
  std::vector<std::string> warnings_;
};

/// Bytes that differ from their neighbours and from those of other seeds.
inline std::vector<std::byte> pattern(std::size_t bytes, std::uint32_t seed) {
  std::vector<std::byte> made(bytes);
  std::uint32_t state = 2 * seed + 1;
  for (std::byte& each : made) {
    state = state * 1'664'525U + 1'013'904'223U;
    each = static_cast<std::byte>(state >> 24U);
  }
  return made;
}

inline constexpr WorldRank far{1};  ///< the rank that tests act upon
inline constexpr TeamRank far_team_rank{1};

}  // namespace tessera::rma::test
