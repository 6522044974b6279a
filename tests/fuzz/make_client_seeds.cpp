// SPDX-License-Identifier: BSD-3-Clause
//
// Writes the seeds of client_fuzzer.cpp. Run it after each change of the wire format:
//
//     build/tests/bin/make_client_seeds tests/fuzz/seeds/client
#include <string>
#include <utility>
#include <vector>

#include "rma/server/wire/wire.hpp"
#include "tests/fuzz/seed_folder.hpp"

namespace {

using namespace tessera::rma;          // NOLINT(google-build-using-namespace)
using namespace tessera::rma::server;  // NOLINT(google-build-using-namespace)

using Bytes = std::vector<std::byte>;

// The fuzzer's starters, by number, and the sizes of their replies.
enum class Start : std::uint8_t {
  nothing,
  get_word,
  get_1001,
  get_16384,
  get_short_rows,
  get_long_rows,
  get_short_fragments,
  get_long_fragments,
  fetch_add_64,
  fetch_add_32,
  put_word,
  put_3000,
  put_short_rows,
  fence
};
constexpr std::size_t short_rows_bytes = 144;
constexpr std::size_t long_rows_bytes = 1560;
constexpr std::size_t short_fragments_bytes = 27;
constexpr std::size_t long_fragments_bytes = 1812;

// The number that a connection gives to an operation; the connection reuses the slot that was freed
// last.
constexpr std::uint64_t operation(std::uint64_t slot, std::uint64_t generation = 1) {
  return generation << 32U | slot;
}

// The agent's frames, and what the client starts before each.
class FrameSequence {
 public:
  FrameSequence& then(Start before, Kind kind, std::uint64_t operation, const Bytes& payload) {
    const FrameHeader header{.kind = kind,
                             .payload_bytes = payload.size(),
                             .origin = WorldRank{3},
                             .target = WorldRank{1},
                             .operation = operation,
                             .words = {0xffff'fff0, 0}};
    auto fixed = encode(header);
    fixed[0] = std::byte{64};  // sets all fields to valid values
    fixed[1] = static_cast<std::byte>(before);
    bytes_.insert(bytes_.end(), fixed.begin(), fixed.end());
    bytes_.insert(bytes_.end(), payload.begin(), payload.end());
    return *this;
  }
  FrameSequence& then(Start before, Kind kind, std::uint64_t operation, std::size_t payload = 0) {
    return then(before, kind, operation, Bytes(payload, std::byte{0x11}));
  }
  // A frame without effect, before which `what` is started.
  FrameSequence& start(Start what) { return then(what, Kind::done, 0); }
  [[nodiscard]] const Bytes& bytes() const { return bytes_; }

 private:
  Bytes bytes_;
};

Bytes failure(Code code, const char* text) {
  Bytes bytes;
  encode_failure(Status::error(code, text), bytes);
  return bytes;
}

std::vector<std::pair<std::string, FrameSequence>> sequences() {
  std::vector<std::pair<std::string, FrameSequence>> all;
  const auto add = [&](const char* name) -> FrameSequence& {
    return all.emplace_back(name, FrameSequence()).second;
  };
  add("words")
      .then(Start::get_word, Kind::value, operation(0))
      .then(Start::fetch_add_64, Kind::value, operation(0, 2))
      .then(Start::fetch_add_32, Kind::value, operation(0, 3))
      .then(Start::get_word, Kind::data, operation(0, 4), 8);
  add("in-place")
      .then(Start::get_1001, Kind::data, operation(0), 1001)
      .then(Start::get_long_rows, Kind::data, operation(0, 2), long_rows_bytes)
      .then(Start::get_long_fragments, Kind::data, operation(0, 3), long_fragments_bytes);
  add("a-stream").then(Start::get_16384, Kind::data, operation(0), 16'384);
  add("packed")
      .then(Start::get_short_rows, Kind::data, operation(0), short_rows_bytes)
      .then(Start::get_short_fragments, Kind::data, operation(0, 2), short_fragments_bytes);
  add("out-of-order")
      .start(Start::get_1001)
      .start(Start::get_short_rows)
      .start(Start::fetch_add_64)
      .then(Start::get_long_fragments, Kind::value, operation(2))
      .then(Start::nothing, Kind::data, operation(1), short_rows_bytes)
      .then(Start::get_word, Kind::data, operation(3), long_fragments_bytes)
      .then(Start::nothing, Kind::data, operation(0), 1001);
  add("requests")
      .start(Start::put_word)
      .start(Start::put_3000)
      .start(Start::put_short_rows)
      .then(Start::fence, Kind::done, operation(0));
  add("failures")
      .then(Start::get_1001, Kind::failed, operation(0), failure(Code::out_of_range, "too far"))
      .then(Start::put_3000, Kind::failed, 0, failure(Code::closed, "it was freed"))
      .then(Start::fence, Kind::failed, ~std::uint64_t{0}, failure(Code::closed, "given up"))
      .then(Start::nothing, Kind::failed, operation(0, 2), failure(Code::protocol, "nonsense"));
  add("answered-twice")
      .then(Start::get_1001, Kind::data, operation(0), 1001)
      .then(Start::get_1001, Kind::data, operation(0), 1001);
  add("too-much").then(Start::get_1001, Kind::data, operation(0), 1002);
  add("not-what-was-asked").then(Start::get_1001, Kind::value, operation(0));
  add("a-request").then(Start::get_word, Kind::get, operation(0));
  add("bye").start(Start::get_16384).then(Start::fetch_add_32, Kind::bye, 0);
  add("reasons-for-the-end")
      .start(Start::get_16384)
      .then(Start::put_3000, Kind::failed, 0, failure(Code::protocol, "you said nonsense"));
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  return fuzz::write_seeds(argc, argv, "make_client_seeds", [](fuzz::SeedFolder& folder) {
    const auto all = sequences();
    for (const auto& [name, sequence] : all) {
      folder.write(name, {255, 16}, sequence.bytes());
    }
    // An agent that sends few bytes at a time, and one that reads nothing.
    folder.write("slow-packed", {12, 1}, all[2].second.bytes());
    folder.write("unread-requests", {255, 0}, all[4].second.bytes());
  });
}
