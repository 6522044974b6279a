// SPDX-License-Identifier: BSD-3-Clause
//
// Feeds arbitrary bytes to a client's connection that has completed its handshake, with the input
// in place of the agent. An operation changes only the memory that it
// asked for, and only while it is under way. Every operation completes exactly once, at the latest
// when the connection is lost.
//
// An input is
//
//     byte 0     the largest number of bytes that the channel returns at once, minus one
//     byte 1     the bytes of requests that it accepts at a time, divided by 64; 0: none
//     then       the agent's frames, one after the other
//
// The second byte of a frame chooses what the client starts before the frame arrives: nothing if it
// is 0, else one of `starters`. Fields that a fuzzer cannot guess are set to valid values
// (tests/fuzz/fed_channel.hpp). In nearly all frames this includes the operation number, which
// becomes one of the first few of the connection.
//
// With libFuzzer: TESSERA_FUZZ in .cmake/options.cmake. Without it, tests/fuzz/replay_main.cpp runs
// this target over the seeds.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "rma/server/client/client.hpp"
#include "rma/server/client/endpoint.hpp"
#include "tests/fuzz/fed_channel.hpp"

namespace {

using namespace tessera::rma;          // NOLINT(google-build-using-namespace)
using namespace tessera::rma::server;  // NOLINT(google-build-using-namespace)

constexpr WorldRank self{3};
constexpr WorldRank peer{1};
constexpr Target target{.rank = TeamRank{1}, .offset = 64, .region = RegionId{1}};

// An operation that the client started, with local memory of its own.
class Operation {
 public:
  explicit Operation(std::size_t data_bytes) : memory_(2 * guard_bytes + data_bytes, canary) {
    done.begin();
  }

  Completion done;

  [[nodiscard]] std::byte* at(std::int64_t offset) { return memory_.data() + guard_bytes + offset; }
  // Returns at(offset), and notes that `bytes` bytes there may change while the operation is under
  // way.
  std::byte* expect_change(std::int64_t offset, std::size_t bytes) {
    changing_.emplace_back(at(offset), bytes);
    return at(offset);
  }

  // Checks whether the operation has completed, and notes it.
  void check_completion() {
    if (!has_ended_ && done.done()) {
      has_ended_ = true;
      at_end_ = memory_;
      const Status error = done.take_error();
      must(error.ok() || !error.message().empty());
    }
  }
  // Requires: the connection is lost, and check_completion() was called after that.
  void check() const {
    must(has_ended_ && done.done());
    must(memory_ == at_end_);
    Bytes expected(memory_.size(), canary);
    for (const auto& each : changing_) {
      std::copy(each.begin(), each.end(), expected.data() + (each.data() - memory_.data()));
    }
    must(memory_ == expected);
  }

 private:
  static constexpr std::byte canary{0xca};
  static constexpr std::size_t guard_bytes = 128;

  Bytes memory_;
  std::vector<std::span<std::byte>> changing_;
  bool has_ended_ = false;
  Bytes at_end_;
};

// --- operations that the client may start; make_client_seeds.cpp uses their numbers ------------

Status get_bytes(Endpoint& endpoint, Operation& operation, std::size_t bytes) {
  return endpoint.get(operation.expect_change(0, bytes), target, CopyShape::contiguous(bytes),
                      operation.done);
}

Status get_rows(Endpoint& endpoint, Operation& operation, const CopyShape& shape) {
  const std::int64_t first = shape.level[0].local_stride < 0 ? 2000 : 0;
  for (std::int64_t row = 0; row < shape.level[0].count; ++row) {
    operation.expect_change(first + row * shape.level[0].local_stride, shape.run_bytes);
  }
  return endpoint.get(operation.at(first), target, shape, operation.done);
}

Status get_fragments(Endpoint& endpoint, Operation& operation, std::array<std::size_t, 3> sizes) {
  std::vector<Fragment> list;
  for (const std::size_t bytes : sizes) {
    const auto offset = static_cast<std::int64_t>(1000 * list.size());
    list.push_back({operation.expect_change(offset, bytes), 4096 * list.size(), bytes});
  }
  return endpoint.get_fragments(target, list, operation.done);
}

Status fetch_add(Endpoint& endpoint, Operation& operation, int bytes) {
  auto* const word =
      reinterpret_cast<std::int64_t*>(operation.expect_change(0, sizeof(std::int64_t)));
  return endpoint.atomic(
      target,
      {.kind = AtomicRequest::Kind::fetch_add, .bytes = bytes, .operand = 1, .previous = word},
      operation.done);
}

Status put(Endpoint& endpoint, Operation& operation, const CopyShape& shape) {
  return endpoint.put(target, operation.at(0), shape, operation.done);
}

struct Starter {
  std::size_t data_bytes;
  Status (*start)(Endpoint&, Operation&);
};
const std::array<Starter, 13> starters = {{
    {8, [](auto& to, auto& operation) { return get_bytes(to, operation, 8); }},
    {1001, [](auto& to, auto& operation) { return get_bytes(to, operation, 1001); }},
    {16'384, [](auto& to, auto& operation) { return get_bytes(to, operation, 16'384); }},
    {400, [](auto& to,
             auto& operation) { return get_rows(to, operation, CopyShape::rows(16, 9, 48, 16)); }},
    {2520,
     [](auto& to, auto& operation) {
       return get_rows(to, operation, CopyShape::rows(520, 3, -1000, 520));
     }},
    {2016,
     [](auto& to, auto& operation) {
       return get_fragments(to, operation, {3, 8, 16});
     }},
    {2700,
     [](auto& to, auto& operation) {
       return get_fragments(to, operation, {600, 512, 700});
     }},
    {8, [](auto& to, auto& operation) { return fetch_add(to, operation, 8); }},
    {8, [](auto& to, auto& operation) { return fetch_add(to, operation, 4); }},
    {8, [](auto& to, auto& operation) { return put(to, operation, CopyShape::contiguous(8)); }},
    {3000,
     [](auto& to, auto& operation) { return put(to, operation, CopyShape::contiguous(3000)); }},
    {400,
     [](auto& to, auto& operation) { return put(to, operation, CopyShape::rows(16, 9, 48, 16)); }},
    {0, [](auto& to, auto& operation) { return to.start_fence(operation.done); }},
}};

// A client that has no nodes of its own; the fuzzer gives it its connections.
Client& client() {
  static Client one([] {
    ClientOptions options;
    options.rank = self;
    options.agent_hosts = {WorldRank{0}};
    options.stray_error = [](const Status& error) { must(!error.ok()); };
    return options;
  }());
  return one;
}

// The connection and the operations over it.
class Session {
 public:
  Session(std::size_t max_in, std::size_t room) : room_(room) { channel_->begin(max_in); }

  void start(std::size_t which) {
    if (operations_.size() == max_operations) {
      return;
    }
    const Starter& starter = starters[which % starters.size()];
    Operation& operation =
        *operations_.emplace_back(std::make_unique<Operation>(starter.data_bytes));
    // A refused operation is not complete, and nothing else completes it.
    if (Status refused = starter.start(endpoint_, operation); !refused.ok()) {
      must(connection_.is_lost() && !operation.done.done());
      operation.done.end(std::move(refused));
    }
    operation.check_completion();
  }
  void receive(View bytes) {
    channel_->give(bytes);
    while (!connection_.is_lost() && !channel_->is_empty()) {
      move();
    }
  }
  // Closes the channel, which loses the connection if it is not lost yet.
  void finish() {
    channel_->end();
    while (!connection_.is_lost()) {
      move();
    }
    start(operations_.size());  // any operation; it is refused or completes at once
    for (const auto& each : operations_) {
      each->check_completion();
      each->check();
    }
    must(!connection_.is_polled());
  }

 private:
  static constexpr std::size_t max_operations = 64;
  static constexpr int max_moves = 1'000'000;

  void move() {
    must(++moves_ < max_moves);  // fails if there is no progress
    channel_->make_room(room_);
    connection_.progress();
    for (const auto& each : operations_) {
      each->check_completion();
    }
  }

  std::vector<std::unique_ptr<Operation>> operations_;  // must outlive the connection
  std::size_t room_;
  int moves_ = 0;
  FedChannel* channel_ = new FedChannel;
  ClientConnection connection_{client(), NodeId{0}, std::unique_ptr<Channel>(channel_)};
  ServerEndpoint endpoint_{connection_, self, peer};
};

// A connection numbers its operations by slot and generation: makes the number one of the first few
// of each.
void make_operation_likely(std::span<std::byte, header_bytes> header) {
  const auto number = load<std::uint64_t>(header.data() + 32);
  if (number != 0 && number != unmonitored_operation) {
    const std::uint64_t generation = 1 + ((number >> 32U) - 1) % 4;
    store(generation << 32U | number % 16, header.data() + 32);
  }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it so
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const View input = std::as_bytes(std::span(data, size));
  if (input.size() < 2) {
    return 0;
  }
  Session session(std::size_t{1} + std::to_integer<std::size_t>(input[0]),
                  64 * std::to_integer<std::size_t>(input[1]));
  Bytes bytes(input.begin() + 2, input.end());
  for (std::span<std::byte> frames(bytes); !frames.empty();) {
    const std::size_t starter_number =
        frames.size() > 1 ? std::to_integer<std::size_t>(frames[1]) : 0;
    if (starter_number > 0) {
      session.start(starter_number - 1);
    }
    const auto frame = first_frame(frames, [](unsigned choice, auto header) {
      if (choice != 1) {
        make_operation_likely(header);
      }
    });
    session.receive(frame);
    frames = frames.subspan(frame.size());
  }
  session.finish();
  return 0;
}
