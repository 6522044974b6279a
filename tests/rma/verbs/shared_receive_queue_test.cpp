// SPDX-License-Identifier: BSD-3-Clause
//
// Thousands of connections that share the receive buffers of an RDMA context: traffic on all of
// them, the smallest pools, the memory of a silent connection, and a device without further queue
// pairs.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "rma/transport/verbs/queue_pair.hpp"
#include "tests/rma/verbs/connection_rig.hpp"
#include "tests/rma/verbs/transport_rig.hpp"
#include "tests/support/heap.h"

namespace tessera::rma::verbs {
namespace {

using test::fails;
using test::FakeVerbs;
using test::ok;

constexpr int many = 2000;

/// One end of a connection: sends bytes and receives the same number of the same bytes.
class Stream {
 public:
  Stream(detail::RdmaConnection& connection, std::span<std::byte> bytes)
      : connection_(connection), bytes_(bytes) {}

  /// Sends as much as possible.
  void send() {
    while (sent_ < bytes_.size()) {
      const iovec piece{bytes_.data() + sent_, bytes_.size() - sent_};
      const auto taken = connection_.send(std::span(&piece, 1));
      ASSERT_TRUE(ok(taken));
      if (*taken == 0) {
        return;
      }
      sent_ += *taken;
    }
  }
  void receive() {
    std::array<std::byte, 10'000> room;
    const iovec piece{room.data(), room.size()};
    while (true) {
      const auto come = connection_.receive(std::span(&piece, 1));
      ASSERT_TRUE(ok(come));
      if (*come == 0) {
        return;
      }
      ASSERT_LE(received_ + *come, bytes_.size());
      is_right_ = is_right_ && std::equal(room.begin(), room.begin() + *come,
                                          bytes_.begin() + static_cast<std::ptrdiff_t>(received_));
      received_ += *come;
    }
  }
  [[nodiscard]] bool is_done() const {
    return sent_ == bytes_.size() && received_ == bytes_.size();
  }
  [[nodiscard]] bool is_right() const { return is_right_; }
  [[nodiscard]] std::size_t received() const { return received_; }

 private:
  detail::RdmaConnection& connection_;
  std::span<std::byte> bytes_;
  std::size_t sent_ = 0;
  std::size_t received_ = 0;
  bool is_right_ = true;
};

/// An agent's context and one for its clients, with connections between them.
class SharedReceiveQueueTest : public test::WithinLimit {
 protected:
  void TearDown() override {
    close();
    WithinLimit::TearDown();
  }
  void open(int count, const std::function<void(VerbsContextOptions&)>& change) {
    clients_ = make_context(network_, "fake0", change);
    agent_ = make_context(network_, "fake1", change);
    for (int i = 0; i < count; ++i) {
      auto ends = connect(*clients_, *agent_, i);
      ASSERT_TRUE(ok(ends)) << i;
      ends_.push_back(std::move(*ends));
    }
  }
  /// While both contexts make progress, as they do in different processes.
  void close() {
    std::atomic<bool> is_over{false};
    std::thread others([&] {
      while (!is_over) {
        progress();
        std::this_thread::yield();
      }
    });
    ends_.clear();
    is_over = true;
    others.join();
    clients_.reset();
    agent_.reset();
    EXPECT_EQ(network_->live(), FakeVerbs::Live());
    EXPECT_EQ(network_->misuses(), std::vector<std::string>());
  }
  void progress() {
    if (clients_ != nullptr && agent_ != nullptr) {
      clients_->progress();
      agent_->progress();
    }
  }
  /// `total` bytes in both directions on each connection.
  void exchange(std::size_t total) {
    std::vector<std::byte> bytes = test::pattern(total + 7 * ends_.size(), 1);
    std::vector<Stream> here;
    std::vector<Stream> there;
    for (std::size_t i = 0; i < ends_.size(); ++i) {
      here.emplace_back(*ends_[i].here, std::span(bytes).subspan(7 * i, total));
      there.emplace_back(*ends_[i].there, std::span(bytes).subspan(7 * i, total));
    }
    for (std::size_t i = 0; i < ends_.size(); ++i) {
      here[i].send();
      there[i].send();
    }
    const auto serve = [&](VerbsContext& context, std::vector<Stream>& streams) {
      for (const int descriptor : context.take_ready_descriptors()) {
        Stream& stream =
            streams[static_cast<std::size_t>(descriptor - SilentStream::first_descriptor)];
        stream.receive();
        stream.send();
      }
    };
    const auto is_done = [](const std::vector<Stream>& streams) {
      return std::all_of(streams.begin(), streams.end(),
                         [](const Stream& each) { return each.is_done(); });
    };
    for (int turn = 0; turn % 64 != 0 || !is_done(here) || !is_done(there); ++turn) {
      progress();
      serve(*clients_, here);
      serve(*agent_, there);
      ASSERT_FALSE(HasFailure());
    }
    for (std::size_t i = 0; i < ends_.size(); ++i) {
      ASSERT_TRUE(here[i].is_right() && there[i].is_right()) << "path " << i;
    }
  }

  const std::shared_ptr<FakeVerbs> network_ = std::make_shared<FakeVerbs>();
  std::unique_ptr<VerbsContext> clients_;
  std::unique_ptr<VerbsContext> agent_;
  std::vector<Ends> ends_;
};

TEST_F(SharedReceiveQueueTest, CarriesTrafficOnTwoThousandConnections) {
  open(many, [](VerbsContextOptions&) {});
  exchange(20'000);
  EXPECT_LE(agent_->receive_queue().count(), VerbsContextOptions().max_receive_buffers);
}

// 16 buffers on each side, of which each direction uses 8; and send buffers for 4 messages.
TEST_F(SharedReceiveQueueTest, NeitherStopsNorLosesAnythingInTheSmallestPool) {
  open(200, [](VerbsContextOptions& options) {
    options.max_receive_buffers = 16;
    options.send_buffers = 4;
    options.depth = min_depth;
  });
  exchange(30'000);
  EXPECT_EQ(agent_->receive_queue().count(), 16U);
}

// Each request waits for entries of the completion queue that other connections hold.
TEST_F(SharedReceiveQueueTest, SharesTheEntriesOfASmallCompletionQueue) {
  open(300, [](VerbsContextOptions& options) {
    options.completions = 512;
    options.max_receive_buffers = 256;
  });
  exchange(50'000);
}

// Peers with unread messages keep their credits; the others continue.
TEST_F(SharedReceiveQueueTest, ContinuesBesideConnectionsThatAreNotRead) {
  open(40, [](VerbsContextOptions& options) { options.max_receive_buffers = 32; });
  std::vector<std::byte> bytes = test::pattern(100'000, 2);
  std::vector<Stream> here;
  std::vector<Stream> there;
  for (const Ends& each : ends_) {
    here.emplace_back(*each.here, bytes);
    there.emplace_back(*each.there, bytes);
  }
  const auto turn = [&](std::size_t first_read) {
    for (std::size_t i = 0; i < here.size(); ++i) {
      here[i].send();
      if (i >= first_read) {
        there[i].receive();
      }
    }
    progress();
  };
  constexpr std::size_t unread = 20;
  const auto all_of = [&](std::size_t first) {
    return std::all_of(there.begin() + static_cast<std::ptrdiff_t>(first), there.end(),
                       [](const Stream& each) { return each.received() == 100'000; });
  };
  while (!all_of(unread)) {
    turn(unread);
  }
  EXPECT_TRUE(std::all_of(there.begin(), there.begin() + unread,
                          [](const Stream& each) { return each.received() == 0; }));
  while (!all_of(0)) {
    turn(0);
  }
}

// The device provides the queue pair; the rest is the cost of the connection.
TEST_F(SharedReceiveQueueTest, TakesNoBuffersForSilentConnections) {
  constexpr std::size_t max_bytes = 768;
  open(1, [](VerbsContextOptions&) {});
  const std::size_t registered = network_->registered_bytes();
  const auto measure = [](const auto& add) {
    const std::size_t before = heap_bytes();
    for (int i = 1; i <= many; ++i) {
      add(i);
    }
    return (heap_bytes() - before) / many;
  };
  ends_.reserve(many + 1);
  const std::size_t of_paths =
      measure([&](int i) { ends_.push_back(connect(*clients_, *agent_, i).value()); });
  EXPECT_EQ(network_->registered_bytes(), registered);

  std::vector<QueuePair> pairs;
  pairs.reserve(2 * many);
  const auto add_pair = [&](VerbsContext& context) {
    pairs.push_back(
        QueuePair::create(context.device(), {.send_completions = context.completions(),
                                             .receive_completions = context.completions(),
                                             .receives = context.receive_queue().get(),
                                             .depth = VerbsContextOptions().depth})
            .value());
    ASSERT_TRUE(ok(pairs.back().connect(pairs.back().address())));
  };
  const std::size_t of_pairs = measure([&](int) {
    add_pair(*clients_);
    add_pair(*agent_);
  });
  const std::size_t of_a_path = (of_paths - of_pairs) / 2;
  RecordProperty("bytes_a_silent_path", static_cast<int>(of_a_path));
  std::printf("bytes of a silent connection: %zu without its queue pair\n", of_a_path);
  EXPECT_LE(of_a_path, max_bytes);
}

// As buffers leave the device's queue.
TEST_F(SharedReceiveQueueTest, FreesSlabsAfterABurst) {
  open(200, [](VerbsContextOptions&) {});
  exchange(200'000);
  const std::size_t after_burst = agent_->receive_queue().count();
  ASSERT_GE(after_burst, 256U);
  // Credits are recalled, and then a small traffic turns the buffers over.
  for (int looks = 0; looks < 3; ++looks) {
    clients_->maintain();
    agent_->maintain();
    for (int i = 0; i < 200; ++i) {
      progress();
    }
  }
  for (int rounds = 0; rounds < 30; ++rounds) {
    exchange(600);
    agent_->maintain();
  }
  EXPECT_LE(agent_->receive_queue().count(), after_burst / 2);
}

TEST_F(SharedReceiveQueueTest, ReservesBuffersForEachClientIfRequested) {
  const auto reserve = [](VerbsContextOptions& options) {
    options.reserves_for_clients = true;
    options.max_receive_buffers = 512;
  };
  open(1, reserve);
  const std::size_t one = network_->registered_bytes();
  std::size_t count = 1;
  Status refusal;
  while (refusal.ok() && count < 100) {
    auto ends = connect(*clients_, *agent_, static_cast<int>(count));
    refusal = ends.status();
    if (ends.ok()) {
      ends_.push_back(std::move(*ends));
      ++count;
    }
  }
  EXPECT_EQ(count, (512U - 64U) / (VerbsContextOptions().window + credit_messages));
  EXPECT_GE(network_->registered_bytes() - one,
            2 * (count - 2) * VerbsContextOptions().window * VerbsContextOptions().buffer_bytes);
  EXPECT_TRUE(fails(refusal, Code::limit_exceeded,
                    {"all 512 receive buffers are reserved for other clients",
                     "TESSERA_TUNE=server_buffers=shared", "TESSERA_TUNE=verbs_receives"}));
  exchange(100'000);
}

}  // namespace
}  // namespace tessera::rma::verbs

namespace tessera::rma::test {
namespace {

class VerbsWithoutQueuePairs : public WithinLimit {};

// Two devices are measured with a queue pair each, and two agents make their own; then none
// remains.
constexpr int tried_out = 4;

TEST_F(VerbsWithoutQueuePairs, ReportsOnceThatItUsesTcp) {
  RdmaJob rdma_job({.ranks = 4});
  rdma_job.network().fail(FakeVerbs::Call::create_qp, ENOMEM, 2 * tried_out, -1);
  rdma_job.run([&](Job& job) {
    auto region = Region::allocate(job.world(), 8);
    ASSERT_TRUE(ok(region));
    for (std::int32_t step = 1; step < job.size(); ++step) {
      ASSERT_TRUE(ok(put_value(job, region->at(neighbour(job, step)), 1.0)));
    }
    ASSERT_TRUE(ok(job.barrier()));
  });
  const auto warnings = rdma_job.warnings("is reached over TCP: device 'fake");
  EXPECT_EQ(warnings.size(), 4U) << "once by each process";
  EXPECT_FALSE(rdma_job.warnings("cannot make a queue pair").empty());
}

TEST_F(VerbsWithoutQueuePairs, FailsIfTcpIsNotNamed) {
  RdmaJob rdma_job({.ranks = 2, .transport = "shm,fabric"});
  rdma_job.network().fail(FakeVerbs::Call::create_qp, ENOMEM, tried_out, -1);
  const Status status = rdma_job.try_to_run([&](Job& job) {
    const auto region = Region::allocate(job.world(), 8);
    EXPECT_TRUE(fails(region.status(), Code::no_memory,
                      {"cannot be reached by TESSERA_TRANSPORT=shm,fabric: device 'fake",
                       "cannot make a queue pair for 128 requests", "its limit is 65536",
                       "add tcp to TESSERA_TRANSPORT"}));
  });
  EXPECT_TRUE(rdma_job.warnings("over TCP").empty());
  static_cast<void>(status.ok());
}

}  // namespace
}  // namespace tessera::rma::test
