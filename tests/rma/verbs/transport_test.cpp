// SPDX-License-Identifier: BSD-3-Clause
//
// What the transport requests from RDMA devices: which requests, how many, with which flags; and
// correct results with any timing of the network.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "rma/armci/memory_pool.hpp"
#include "rma/atomic.hpp"
#include "rma/notify.hpp"
#include "tests/rma/verbs/transport_rig.hpp"

namespace tessera::rma::test {
namespace {

using ::tessera::test::rounds;

constexpr std::size_t slice_bytes = std::size_t{4} << 20;

class VerbsTransport : public WithinLimit {
 protected:
  static std::size_t count_signalled(const std::vector<FakeVerbs::Posted>& posted) {
    return static_cast<std::size_t>(
        std::count_if(posted.begin(), posted.end(),
                      [](const FakeVerbs::Posted& each) { return each.is_signalled; }));
  }
  static std::size_t count_bytes(const std::vector<FakeVerbs::Posted>& posted) {
    std::size_t bytes = 0;
    for (const FakeVerbs::Posted& each : posted) {
      bytes += each.bytes;
    }
    return bytes;
  }
  static std::size_t count_batches(const std::vector<FakeVerbs::Posted>& posted) {
    std::vector<std::uint64_t> batches;
    for (const FakeVerbs::Posted& each : posted) {
      batches.push_back(each.batch);
    }
    std::sort(batches.begin(), batches.end());
    return static_cast<std::size_t>(std::unique(batches.begin(), batches.end()) - batches.begin());
  }
  static bool holds(const std::byte* slice, const std::vector<std::byte>& bytes) {
    return std::memcmp(slice, bytes.data(), bytes.size()) == 0;
  }
};

TEST_F(VerbsTransport, PutsFewBytesInlineWithFewCompletions) {
  RdmaJob rdma_job;
  rdma_job.act(slice_bytes, [&](Job& job, Region& region) {
    constexpr std::uint64_t count = 160;
    ASSERT_TRUE(ok(put_value(job, region.at(far_team_rank), std::uint64_t{1})));
    ASSERT_TRUE(ok(job.fence(far)));
    rdma_job.network().start_trace();
    for (std::uint64_t i = 0; i < count; ++i) {
      ASSERT_TRUE(ok(put_value(job, region.at(far_team_rank, 8 * i), 3 * i + 1)));
    }
    const auto writes = rdma_job.posted(IBV_WR_RDMA_WRITE);
    EXPECT_EQ(writes.size(), count);
    EXPECT_TRUE(std::all_of(writes.begin(), writes.end(), [](const FakeVerbs::Posted& each) {
      return each.is_inline && each.bytes == sizeof(std::uint64_t);
    }));
    EXPECT_LE(count_signalled(writes), count / 16 + 1);
    ASSERT_TRUE(ok(job.fence(far)));
    for (std::uint64_t i = 0; i < count; ++i) {
      EXPECT_EQ(reinterpret_cast<const std::uint64_t*>(rdma_job.slice(1))[i], 3 * i + 1);
    }
  });
}

TEST_F(VerbsTransport, FencesByOneReadAndOnlyAfterWrites) {
  RdmaJob rdma_job;
  rdma_job.act(slice_bytes, [&](Job& job, Region& region) {
    ASSERT_TRUE(ok(put_value(job, region.at(far_team_rank), 1.0)));
    ASSERT_TRUE(ok(job.fence(far)));
    rdma_job.network().start_trace();
    ASSERT_TRUE(ok(job.fence(far)));
    ASSERT_TRUE(ok(job.fence_all()));
    EXPECT_TRUE(rdma_job.network().trace().empty()) << "nothing was written";
    ASSERT_TRUE(ok(put_value(job, region.at(far_team_rank), 2.0)));
    ASSERT_TRUE(ok(job.fence(far)));
    ASSERT_TRUE(ok(job.fence_all()));
    const auto reads = rdma_job.posted(IBV_WR_RDMA_READ);
    ASSERT_EQ(reads.size(), 1U);
    EXPECT_EQ(reads.front().bytes, 1U);
    ASSERT_TRUE(ok(get_value<double>(job, region.at(far_team_rank))));
    rdma_job.network().start_trace();
    ASSERT_TRUE(ok(job.fence(far)));
    EXPECT_TRUE(rdma_job.network().trace().empty()) << "a get needs no fence";
  });
}

TEST_F(VerbsTransport, CopiesDataOfMediumLengthSoThatTheSourceIsFreeAtOnce) {
  RdmaJob rdma_job;
  rdma_job.act(slice_bytes, [&](Job& job, Region& region) {
    ASSERT_TRUE(ok(put_value(job, region.at(far_team_rank), 1.0)));
    const std::size_t regions = rdma_job.network().live().regions;
    const std::vector<std::byte> sent = pattern(3000, 1);
    std::vector<std::byte> source = sent;
    rdma_job.network().start_trace();
    rdma_job.network().hold(true);
    ASSERT_TRUE(ok(put(job, region.at(far_team_rank, 64), source.data(), source.size())));
    std::fill(source.begin(), source.end(), std::byte{0xee});
    rdma_job.network().hold(false);
    ASSERT_TRUE(ok(job.fence(far)));
    const auto writes = rdma_job.posted(IBV_WR_RDMA_WRITE);
    ASSERT_EQ(writes.size(), 1U);
    EXPECT_FALSE(writes.front().is_inline);
    EXPECT_EQ(writes.front().bytes, sent.size());
    EXPECT_EQ(rdma_job.network().live().regions, regions);
    EXPECT_TRUE(holds(rdma_job.slice(1) + 64, sent));
  });
}

TEST_F(VerbsTransport, MovesLongDataInPlace) {
  RdmaJob rdma_job;
  rdma_job.act(slice_bytes, [&](Job& job, Region& region) {
    ASSERT_TRUE(ok(put_value(job, region.at(far_team_rank), 1.0)));
    const std::vector<std::byte> sent = pattern(1'000'003, 2);
    std::vector<std::byte> back(sent.size());
    rdma_job.network().start_trace();
    ASSERT_TRUE(ok(put(job, region.at(far_team_rank, 24), sent.data(), sent.size())));
    ASSERT_TRUE(ok(get(job, region.at(far_team_rank, 24), back.data(), back.size())));
    EXPECT_TRUE(back == sent);
    const auto writes = rdma_job.posted(IBV_WR_RDMA_WRITE);
    const auto reads = rdma_job.posted(IBV_WR_RDMA_READ);
    ASSERT_EQ(writes.size(), 1U);
    ASSERT_EQ(reads.size(), 1U);
    EXPECT_EQ(writes.front().bytes, sent.size());
    EXPECT_EQ(writes.front().pieces, 1);
    EXPECT_EQ(reads.front().bytes, sent.size());
    EXPECT_TRUE(holds(rdma_job.slice(1) + 24, sent));
  });
}

TEST_F(VerbsTransport, RegistersNothingForMemoryOfTheArena) {
  RdmaJob rdma_job;
  rdma_job.act(slice_bytes, [&](Job& job, Region& region) {
    constexpr std::size_t bytes = 300'000;
    auto memory = job.allocate_local(bytes);
    ASSERT_TRUE(ok(memory));
    const std::vector<std::byte> sent = pattern(bytes, 3);
    std::memcpy(*memory, sent.data(), bytes);
    ASSERT_TRUE(ok(put(job, region.at(far_team_rank), *memory, bytes)));  // registers its slab
    const std::size_t regions = rdma_job.network().live().regions;
    rdma_job.network().start_trace();
    ASSERT_TRUE(ok(put(job, region.at(far_team_rank, 8), *memory, bytes)));
    ASSERT_TRUE(ok(job.fence(far)));
    EXPECT_EQ(rdma_job.network().live().regions, regions);
    EXPECT_EQ(count_bytes(rdma_job.posted(IBV_WR_RDMA_WRITE)), bytes);
    EXPECT_EQ(rdma_job.posted(IBV_WR_RDMA_WRITE).size(), 1U);
    EXPECT_TRUE(holds(rdma_job.slice(1) + 8, sent));
    ASSERT_TRUE(ok(job.free_local(*memory)));
  });
}

// The device accesses the part of a sparse slice that is in use, also after it grows; the rest goes
// by requests, which allocate no memory for it.
TEST_F(VerbsTransport, ReachesTheUsedPartsOfSparseMemory) {
  RdmaJob rdma_job;
  constexpr std::size_t used = std::size_t{1} << 20U;
  constexpr std::size_t bytes = 20'000;
  const std::vector<std::byte> sent = pattern(bytes, 3);
  std::vector<std::byte> back(bytes);
  rdma_job.run([&](Job& job) {
    auto unused = Region::allocate(job.world(), slice_bytes, {.sparse = true}).value();
    auto region = Region::allocate(job.world(), std::size_t{64} << 20U, {.sparse = true}).value();
    const auto expect_moved = [&](const Region& memory, std::uint64_t offset, bool by_device) {
      if (job.rank().value == 0) {
        rdma_job.network().start_trace();
        ASSERT_TRUE(ok(put(job, memory.at(far_team_rank, offset), sent.data(), bytes)));
        ASSERT_TRUE(ok(job.fence(far)));
        std::fill(back.begin(), back.end(), std::byte{0});
        ASSERT_TRUE(ok(get(job, memory.at(far_team_rank, offset), back.data(), bytes)));
        EXPECT_EQ(back, sent);
        EXPECT_EQ(count_bytes(rdma_job.posted(IBV_WR_RDMA_WRITE)) >= bytes, by_device) << offset;
        EXPECT_EQ(count_bytes(rdma_job.posted(IBV_WR_RDMA_READ)) >= bytes, by_device) << offset;
      }
      ASSERT_TRUE(ok(job.barrier()));
    };
    region.set_in_use_bytes(used);
    region.set_in_use_bytes(16);  // never less
    ASSERT_TRUE(ok(job.barrier()));
    expect_moved(region, 4096, true);
    expect_moved(region, used - bytes, true);
    region.set_in_use_bytes(40 * used);
    ASSERT_TRUE(ok(job.barrier()));
    expect_moved(region, 30 * used, true);
    expect_moved(unused, 4096, false);
  });
}

// ARMCI_Memget's memory: allocated by one rank alone, in address space that all have reserved.
TEST_F(VerbsTransport, ReachesMemoryThatWasTakenFromArmcisPool) {
  RdmaJob rdma_job;
  rdma_job.settings().armci_memget_mib = 64;
  constexpr std::size_t bytes = 100'000;
  std::array<std::atomic<std::uint64_t>, 3> taken{};
  rdma_job.run([&](Job& job) {
    auto pool = armci::MemoryPool::create(job);
    ASSERT_TRUE(ok(pool));
    for (std::size_t round = 0; round < taken.size(); ++round) {
      if (job.rank().value == 1) {
        const auto offset = pool->take((1 + round) * bytes);
        ASSERT_TRUE(ok(offset));
        taken[round] = *offset + round * bytes;  // its last bytes
      }
      ASSERT_TRUE(ok(job.barrier()));
      if (job.rank().value == 0) {
        const std::vector<std::byte> sent = pattern(bytes, static_cast<std::uint32_t>(round));
        std::vector<std::byte> back(bytes);
        const RemoteAddress at = pool->region().at(far_team_rank, taken[round]);
        rdma_job.network().start_trace();
        ASSERT_TRUE(ok(put(job, at, sent.data(), bytes)));
        ASSERT_TRUE(ok(get(job, at, back.data(), bytes)));
        EXPECT_EQ(back, sent);
        EXPECT_GE(count_bytes(rdma_job.posted(IBV_WR_RDMA_WRITE)), bytes) << "round " << round;
        EXPECT_GE(count_bytes(rdma_job.posted(IBV_WR_RDMA_READ)), bytes) << "round " << round;
      }
      ASSERT_TRUE(ok(job.barrier()));
    }
    ASSERT_TRUE(ok(pool->free()));
  });
}

TEST_F(VerbsTransport, SplitsDataLongerThanTheDevicesMessages) {
  RdmaJobOptions options{.devices = soft_roce_devices(2)};
  constexpr std::size_t most = std::size_t{64} * 1024;
  for (DeviceModel& device : options.devices) {
    device.port.max_msg_sz = most;
  }
  RdmaJob rdma_job(options);
  rdma_job.act(slice_bytes, [&](Job& job, Region& region) {
    const std::vector<std::byte> sent = pattern(10 * most + 77, 4);
    std::vector<std::byte> back(sent.size());
    ASSERT_TRUE(ok(put_value(job, region.at(far_team_rank), 1.0)));
    rdma_job.network().start_trace();
    ASSERT_TRUE(ok(put(job, region.at(far_team_rank, 8), sent.data(), sent.size())));
    ASSERT_TRUE(ok(get(job, region.at(far_team_rank, 8), back.data(), back.size())));
    EXPECT_TRUE(back == sent);
    for (const ibv_wr_opcode opcode : {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ}) {
      const auto posted = rdma_job.posted(opcode);
      EXPECT_EQ(posted.size(), 11U);
      EXPECT_EQ(count_bytes(posted), sent.size());
      EXPECT_TRUE(std::all_of(posted.begin(), posted.end(),
                              [&](const auto& each) { return each.bytes <= most; }));
    }
  });
}

TEST_F(VerbsTransport, PutsLongRowsInBatchesWithOneDoorbellEach) {
  RdmaJob rdma_job;
  rdma_job.act(slice_bytes, [&](Job& job, Region& region) {
    constexpr std::size_t row = 1024;
    constexpr std::int64_t count = 40;
    const std::vector<std::byte> sent = pattern(2 * row * count, 5);
    ASSERT_TRUE(ok(put_value(job, region.at(far_team_rank), 1.0)));
    rdma_job.network().start_trace();
    const auto apart = CopyShape::rows(row, count, 2 * row, 3 * row);
    ASSERT_TRUE(ok(put(job, region.at(far_team_rank), sent.data(), apart)));
    ASSERT_TRUE(ok(job.fence(far)));
    const auto writes = rdma_job.posted(IBV_WR_RDMA_WRITE);
    EXPECT_EQ(writes.size(), static_cast<std::size_t>(count));
    EXPECT_EQ(count_batches(writes), 3U);  // of at most 16
    EXPECT_EQ(count_signalled(writes), 3U);
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_EQ(std::memcmp(rdma_job.slice(1) + 3 * row * i, sent.data() + 2 * row * i, row), 0)
          << i;
    }
  });
}

TEST_F(VerbsTransport, GathersRowsThatAreContiguousAtTheTarget) {
  RdmaJob rdma_job;
  rdma_job.act(slice_bytes, [&](Job& job, Region& region) {
    constexpr std::size_t row = 1024;
    constexpr std::int64_t count = 40;
    const std::vector<std::byte> sent = pattern(2 * row * count, 6);
    std::vector<std::byte> back(sent.size(), std::byte{0x11});
    ASSERT_TRUE(ok(put_value(job, region.at(far_team_rank), 1.0)));
    rdma_job.network().start_trace();
    const auto together = CopyShape::rows(row, count, 2 * row, row);
    ASSERT_TRUE(ok(put(job, region.at(far_team_rank), sent.data(), together)));
    ASSERT_TRUE(ok(get(job, region.at(far_team_rank), back.data(), together)));
    for (const ibv_wr_opcode opcode : {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ}) {
      const auto posted = rdma_job.posted(opcode);
      ASSERT_EQ(posted.size(), 3U);  // of at most 16 pieces
      EXPECT_EQ(posted.front().pieces, 16);
      EXPECT_EQ(posted.back().pieces, 8);
      EXPECT_EQ(count_batches(posted), 1U);
      EXPECT_EQ(count_bytes(posted), row * count);
    }
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_EQ(std::memcmp(back.data() + 2 * row * i, sent.data() + 2 * row * i, row), 0) << i;
      EXPECT_EQ(back[2 * row * i + row], std::byte{0x11}) << "between the rows";
    }
  });
}

TEST_F(VerbsTransport, SendsShortRowsAsMessages) {
  RdmaJob rdma_job;
  rdma_job.act(slice_bytes, [&](Job& job, Region& region) {
    const auto short_rows = CopyShape::rows(64, 100, 128, 192);
    const std::vector<std::byte> sent = pattern(std::size_t{128} * 100, 7);
    ASSERT_TRUE(ok(put_value(job, region.at(far_team_rank), 1.0)));
    ASSERT_TRUE(ok(job.fence(far)));
    rdma_job.network().start_trace();
    ASSERT_TRUE(ok(put(job, region.at(far_team_rank), sent.data(), short_rows)));
    ASSERT_TRUE(ok(job.fence(far)));
    EXPECT_TRUE(rdma_job.posted(IBV_WR_RDMA_WRITE).empty());
    EXPECT_TRUE(rdma_job.posted(IBV_WR_RDMA_READ).empty()) << "requests need no read as a fence";
    EXPECT_FALSE(rdma_job.posted(IBV_WR_SEND_WITH_IMM).empty());
    for (std::size_t i = 0; i < 100; ++i) {
      EXPECT_EQ(std::memcmp(rdma_job.slice(1) + 192 * i, sent.data() + 128 * i, 64), 0) << i;
    }
  });
}

TEST_F(VerbsTransport, GetsFewBytesThroughABufferAndRegistersNothing) {
  RdmaJob rdma_job;
  rdma_job.act(slice_bytes, [&](Job& job, Region& region) {
    const std::vector<std::byte> sent = pattern(1000, 8);
    std::vector<std::byte> back(sent.size());
    ASSERT_TRUE(ok(put(job, region.at(far_team_rank), sent.data(), sent.size())));
    const std::size_t regions = rdma_job.network().live().regions;
    rdma_job.network().start_trace();
    ASSERT_TRUE(ok(get(job, region.at(far_team_rank), back.data(), back.size())));
    EXPECT_TRUE(back == sent);
    EXPECT_EQ(rdma_job.posted(IBV_WR_RDMA_READ).size(), 1U);
    EXPECT_EQ(rdma_job.network().live().regions, regions);
  });
}

// --- order

// A rank's blocking operations of all kinds on one slice, and the same on memory of this process.
class SerialModel {
 public:
  static constexpr std::size_t words = 6000;

  SerialModel(Job& job, Region& region, unsigned seed)
      : job_(job), region_(region), dice_(seed), expected_(words), back_(words) {}

  void step() {
    const std::size_t count = any_count();
    const std::size_t first = dice_() % (words - count + 1);
    const RemoteAddress at = region_.at(far_team_rank, first * sizeof(std::int64_t));
    switch (dice_() % 6) {
      case 0:
        put_some(at, first, count);
        break;
      case 1:
        accumulate_some(at, first, count);
        break;
      case 2:
        put_rows(at, first, count);
        break;
      case 3:
        add_to_one(at, first);
        break;
      case 4:
        ASSERT_TRUE(ok(dice_() % 4 == 0 ? job_.fence(far) : Status()));
        break;
      default:
        get_some(at, first, count);
        break;
    }
  }
  [[nodiscard]] const std::vector<std::int64_t>& expected() const { return expected_; }

 private:
  // A size for each way in which the transport moves data.
  std::size_t any_count() {
    constexpr std::array<std::size_t, 5> counts{1, 20, 300, 1000, words};
    return 1 + dice_() % counts[dice_() % counts.size()];
  }
  std::vector<std::int64_t> some_words(std::size_t count) {
    std::vector<std::int64_t> made(count);
    std::generate(made.begin(), made.end(), [&] { return static_cast<std::int64_t>(dice_()); });
    return made;
  }
  void put_some(RemoteAddress at, std::size_t first, std::size_t count) {
    const auto some = some_words(count);
    ASSERT_TRUE(ok(put(job_, at, some.data(), count * sizeof(std::int64_t))));
    std::copy(some.begin(), some.end(), expected_.begin() + static_cast<std::ptrdiff_t>(first));
  }
  void accumulate_some(RemoteAddress at, std::size_t first, std::size_t count) {
    const auto some = some_words(count);
    ASSERT_TRUE(ok(accumulate(job_, at, some.data(), count * sizeof(std::int64_t),
                              Scale::of(std::int64_t{3}))));
    for (std::size_t i = 0; i < count; ++i) {
      expected_[first + i] += 3 * some[i];
    }
  }
  void put_rows(RemoteAddress at, std::size_t first, std::size_t count) {
    const std::size_t row = std::max<std::size_t>(count / 8, 1);
    const std::size_t rows = std::min<std::size_t>((words - first) / (2 * row), 4);
    const auto some = some_words(row * (rows + 1));
    const auto bytes = static_cast<std::int64_t>(row * sizeof(std::int64_t));
    ASSERT_TRUE(ok(put(job_, at, some.data(),
                       CopyShape::rows(static_cast<std::size_t>(bytes),
                                       static_cast<std::int64_t>(rows), bytes, 2 * bytes))));
    for (std::size_t i = 0; i < row * rows; ++i) {
      expected_[first + i / row * 2 * row + i % row] = some[i];
    }
  }
  void add_to_one(RemoteAddress at, std::size_t first) {
    const auto before = fetch_add(job_, at, std::int64_t{5});
    ASSERT_TRUE(ok(before));
    EXPECT_EQ(*before, expected_[first]);
    expected_[first] += 5;
  }
  void get_some(RemoteAddress at, std::size_t first, std::size_t count) {
    ASSERT_TRUE(ok(get(job_, at, back_.data(), count * sizeof(std::int64_t))));
    ASSERT_TRUE(std::equal(back_.begin(), back_.begin() + static_cast<std::ptrdiff_t>(count),
                           expected_.begin() + static_cast<std::ptrdiff_t>(first)));
  }

  Job& job_;
  Region& region_;
  std::minstd_rand dice_;
  std::vector<std::int64_t> expected_;
  std::vector<std::int64_t> back_;
};

TEST_F(VerbsTransport, KeepsTheOrderOfMixedOperationsWhateverTheNetworksTiming) {
  for (unsigned seed = 1; seed <= rounds(4U) && !HasFailure(); ++seed) {
    RdmaJob rdma_job({.seed = seed});
    rdma_job.settings().verbs_get = seed % 2 == 1 ? "read" : "assisted";
    rdma_job.act(SerialModel::words * sizeof(std::int64_t), [&](Job& job, Region& region) {
      std::minstd_rand random(seed);
      SerialModel model(job, region, 100 + seed);
      for (int i = 0; i < rounds(800) && !HasFailure(); ++i) {
        if (i % 50 == 0) {
          rdma_job.network().slow_down(std::chrono::microseconds(random() % 3 * 20));
        }
        model.step();
      }
      rdma_job.network().slow_down({});
      ASSERT_TRUE(ok(job.fence(far)));
      EXPECT_EQ(std::memcmp(rdma_job.slice(1), model.expected().data(),
                            model.expected().size() * sizeof(std::int64_t)),
                0);
    });
  }
}

TEST_F(VerbsTransport, RaisesAFlagAfterTheDataThatItAnnounces) {
  constexpr std::array<std::size_t, 4> lengths{8, 200, 3000, 300'000};
  for (std::uint64_t seed = 1; seed <= rounds(4U) && !HasFailure(); ++seed) {
    RdmaJob rdma_job({.seed = seed});
    if (seed % 2 == 0) {
      rdma_job.network().relax_all();
    }
    rdma_job.network().slow_down(std::chrono::microseconds(10 * (seed - 1)));
    rdma_job.run([&](Job& job) {
      auto region = Region::allocate(job.world(), slice_bytes);
      ASSERT_TRUE(ok(region));
      ASSERT_TRUE(ok(job.barrier()));
      const auto other = WorldRank{1 - job.rank().value};
      for (std::int32_t round = 1; round <= 40; ++round) {
        const std::size_t bytes = lengths[static_cast<std::size_t>(round) % lengths.size()];
        const auto data = pattern(bytes, static_cast<std::uint32_t>(round));
        const RemoteAddress to = region->at(TeamRank{other.value}, 64);
        ASSERT_TRUE(ok(put_with_flag(job, to, data.data(), CopyShape::contiguous(bytes),
                                     region->at(TeamRank{other.value}), round)));
        ASSERT_TRUE(ok(wait_for_flag(job, region->at(TeamRank{job.rank().value}), round, other)));
        EXPECT_TRUE(holds(region->local() + 64, data)) << "round " << round;
        ASSERT_TRUE(ok(notify(job, other)));  // and only then the next
        ASSERT_TRUE(ok(wait_for_notifications(job, other, static_cast<std::uint64_t>(round))));
      }
      ASSERT_TRUE(ok(job.barrier()));
    });
  }
}

TEST_F(VerbsTransport, FencesDataThatLandInRandomOrder) {
  for (std::uint64_t seed = 1; seed <= rounds(4U) && !HasFailure(); ++seed) {
    RdmaJob rdma_job({.seed = seed});
    rdma_job.network().relax_all();
    rdma_job.act(slice_bytes, [&](Job& job, Region& region) {
      for (std::uint32_t round = 1; round <= 20; ++round) {
        const auto sent = pattern(100'000, round);
        ASSERT_TRUE(ok(put(job, region.at(far_team_rank, 8), sent.data(), sent.size())));
        ASSERT_TRUE(ok(put_value(job, region.at(far_team_rank), std::uint64_t{round})));
        ASSERT_TRUE(ok(job.fence(far)));
        EXPECT_TRUE(holds(rdma_job.slice(1) + 8, sent)) << "round " << round;
        std::uint64_t word = 0;
        std::memcpy(&word, rdma_job.slice(1), sizeof word);
        EXPECT_EQ(word, round);
      }
    });
  }
}

// --- messages

TEST_F(VerbsTransport, NeverSendsMoreMessagesThanTheOtherEndHasBuffersFor) {
  RdmaJob rdma_job;
  rdma_job.run([&](Job& job) {
    constexpr std::int64_t words = 2000;
    auto region = Region::allocate(job.world(), words * 8);
    ASSERT_TRUE(ok(region));
    ASSERT_TRUE(ok(job.barrier()));
    const std::vector<std::int64_t> ones(words, 1);
    std::vector<std::int64_t> back(words);
    const TeamRank other{1 - job.rank().value};
    const int count = rounds(400);
    for (int i = 0; i < count; ++i) {
      ASSERT_TRUE(ok(
          accumulate(job, region->at(other), ones.data(), words * 8, Scale::of(std::int64_t{1}))));
      // Replies of many messages, against requests of many messages.
      if (i % 8 == 0) {
        ASSERT_TRUE(ok(get(job, region->at(other), back.data(), CopyShape::rows(8, 1000, 8, 16))));
      }
    }
    ASSERT_TRUE(ok(job.barrier()));
    const auto* const mine = reinterpret_cast<const std::int64_t*>(region->local());
    EXPECT_TRUE(std::all_of(mine, mine + words, [&](std::int64_t each) { return each == count; }));
    ASSERT_TRUE(ok(job.barrier()));
  });
  EXPECT_EQ(rdma_job.network().not_ready_count(), 0U);
}

TEST_F(VerbsTransport, SharesItsReceivesAmongManyConnections) {
  RdmaJob rdma_job({.ranks = 7});
  rdma_job.run([&](Job& job) {
    constexpr std::int64_t words = 512;
    auto region = Region::allocate(job.world(), 7 * words * 8);
    ASSERT_TRUE(ok(region));
    ASSERT_TRUE(ok(job.barrier()));
    const std::vector<std::int64_t> ones(words, 1);
    const int count = rounds(60);
    for (int i = 0; i < count; ++i) {
      for (std::int32_t step = 1; step < job.size(); ++step) {
        const TeamRank to{(job.rank().value + step) % job.size()};
        ASSERT_TRUE(ok(
            accumulate(job, region->at(to), ones.data(), words * 8, Scale::of(std::int64_t{1}))));
        const auto at = static_cast<std::uint64_t>(job.rank().value) * words * 8;
        if (job.rank().value > 0) {
          ASSERT_TRUE(ok(put(job, region->at(to, at), ones.data(), words * 8)));
        }
      }
    }
    ASSERT_TRUE(ok(job.barrier()));
    const auto* const mine = reinterpret_cast<const std::int64_t*>(region->local());
    EXPECT_TRUE(std::all_of(mine, mine + words,
                            [&](std::int64_t each) { return each == std::int64_t{6} * count; }));
    ASSERT_TRUE(ok(job.barrier()));
  });
  EXPECT_EQ(rdma_job.network().not_ready_count(), 0U);
  EXPECT_EQ(rdma_job.warnings(), std::vector<std::string>());
}

// --- others

TEST_F(VerbsTransport, SleepsWhenNothingIsPending) {
  RdmaJob rdma_job;
  rdma_job.settings().server = "block";
  rdma_job.act(slice_bytes, [&](Job& job, Region& region) {
    ASSERT_TRUE(ok(fetch_add(job, region.at(far_team_rank), std::int64_t{1})));
    EXPECT_TRUE(rdma_job.becomes_idle());
  });
}

}  // namespace
}  // namespace tessera::rma::test
