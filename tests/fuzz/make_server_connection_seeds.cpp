// SPDX-License-Identifier: BSD-3-Clause
//
// Writes the seeds of server_connection_fuzzer.cpp. Run it after each change of the wire format:
//
//     build/tests/bin/make_server_connection_seeds tests/fuzz/seeds/server_connection
#include <complex>
#include <string>
#include <utility>
#include <vector>

#include "rma/node/queue_lock.hpp"
#include "rma/server/wire/wire.hpp"
#include "tests/fuzz/seed_folder.hpp"

namespace {

using namespace tessera::rma;          // NOLINT(google-build-using-namespace)
using namespace tessera::rma::server;  // NOLINT(google-build-using-namespace)

using Bytes = std::vector<std::byte>;

// The same ranks and regions as in the fuzzer's node.
constexpr WorldRank peer{3};
constexpr WorldRank first_owner{1};
constexpr WorldRank second_owner{0};
constexpr RegionId first{1};
constexpr RegionId strict{2};
constexpr RegionId mail{3};
constexpr RegionId locks{4};

const std::uint64_t lock_bytes = detail::QueueLock::bytes(8);

// Frames, one after the other.
class FrameSequence {
 public:
  FrameSequence& then(FrameHeader header, const Bytes& descriptor = {}, std::size_t payload = 0) {
    header.origin = peer;
    header.operation = ++operation_;
    header.descriptor_bytes = static_cast<std::uint32_t>(descriptor.size());
    header.payload_bytes = payload;
    const auto fixed = encode(header);
    bytes_.insert(bytes_.end(), fixed.begin(), fixed.end());
    bytes_.insert(bytes_.end(), descriptor.begin(), descriptor.end());
    bytes_.resize(bytes_.size() + payload, std::byte{0x11});
    return *this;
  }
  [[nodiscard]] const Bytes& bytes() const { return bytes_; }

 private:
  Bytes bytes_;
  std::uint64_t operation_ = 0;
};

FrameHeader on(Kind kind, RegionId region, WorldRank owner, std::uint64_t offset,
               std::uint64_t word = 0, std::uint64_t other = 0) {
  return {
      .kind = kind, .target = owner, .region = region, .offset = offset, .words = {word, other}};
}

FrameHeader with_flags(FrameHeader header, std::uint8_t flags) {
  header.flags = flags;
  return header;
}

Bytes shape(std::size_t run, std::int64_t count, std::int64_t stride) {
  Bytes bytes;
  encode_shape(CopyShape::rows(run, count, static_cast<std::int64_t>(run), stride), bytes);
  return bytes;
}

Bytes fragments(std::vector<Fragment> list) {
  Bytes bytes;
  encode_fragments(Fragments(list), bytes);
  return bytes;
}

template <class T>
Bytes accumulate(T factor, const CopyShape& rows) {
  Bytes bytes;
  encode_accumulate(Scale::of(factor), rows, bytes);
  return bytes;
}

Bytes atomic(AtomicRequest::Kind kind, int bytes) {
  Bytes descriptor;
  encode_atomic({kind, bytes}, descriptor);
  return descriptor;
}

Bytes combine(AccumulateOp op, ElementType type, const CopyShape& rows) {
  Bytes bytes;
  encode_accumulate(Scale::by(op, type), rows, bytes);
  return bytes;
}

Bytes atomics(AtomicRequest::Kind kind, int bytes, const std::vector<std::uint64_t>& offsets) {
  std::vector<AtomicList::Item> items;
  for (const std::uint64_t offset : offsets) {
    items.push_back({.offset = offset, .operand = static_cast<std::int64_t>(offset) - 30});
  }
  Bytes descriptor;
  encode_atomics({kind, bytes, items}, descriptor);
  return descriptor;
}

// Requests that later versions of the wire format added.
void add_lists_and_operations(std::vector<std::pair<std::string, FrameSequence>>& all) {
  using Of = AtomicRequest::Kind;
  all.emplace_back("atomic-lists", FrameSequence());
  all.back()
      .second.then(on(Kind::atomic, first, first_owner, 8), atomics(Of::fetch_min, 8, {0, 64, 16}))
      .then(on(Kind::atomic, strict, second_owner, 0), atomics(Of::compare_swap, 4, {4, 4, 1000}))
      .then(on(Kind::atomic, strict, second_owner, 0), atomics(Of::fetch_xor, 4, {0, 8}))
      .then(on(Kind::atomic, strict, second_owner, 0), atomics(Of::fetch_max, 8, {0, 1'000'000}))
      .then(on(Kind::atomic, first, first_owner, 0), atomics(Of::fetch_or, 8, {0, 12}));
  all.emplace_back("combines", FrameSequence());
  all.back()
      .second
      .then(on(Kind::accumulate, first, first_owner, 8),
            combine(AccumulateOp::max, ElementType::f32, CopyShape::contiguous(4000)), 4000)
      .then(on(Kind::accumulate, strict, second_owner, 16),
            combine(AccumulateOp::bit_xor, ElementType::u16, CopyShape::rows(8, 10, 8, 24)), 80)
      .then(on(Kind::accumulate, first, first_owner, 0),
            combine(AccumulateOp::min, ElementType::i64, CopyShape::contiguous(8)), 8);
}

std::vector<std::pair<std::string, FrameSequence>> sequences() {
  std::vector<std::pair<std::string, FrameSequence>> all;
  const auto add = [&](const char* name) -> FrameSequence& {
    return all.emplace_back(name, FrameSequence()).second;
  };
  add("puts")
      .then(with_flags(on(Kind::put, first, first_owner, 40, 42, 8), flags::inline_data))
      .then(on(Kind::put, first, first_owner, 1000), {}, 600)
      .then(with_flags(on(Kind::put, first, first_owner, 39'000), flags::wants_answer), {}, 1001)
      .then(on(Kind::put, first, first_owner, 39'500), {}, 600)
      .then(on(Kind::fence, {}, first_owner, 0));
  add("put-rows")
      .then(on(Kind::put, first, first_owner, 3), shape(16, 9, 48), 144)
      .then(on(Kind::put, first, first_owner, 30'000), shape(520, 2, -1000), 1040)
      .then(on(Kind::put, strict, second_owner, 0),
            fragments({{nullptr, 8, 16}, {nullptr, 1000, 16}, {nullptr, 0, 3}}), 35);
  add("gets")
      .then(on(Kind::get, first, first_owner, 0, 0, 8))
      .then(on(Kind::get, first, first_owner, 1, 0, 40'000))
      .then(on(Kind::get, first, first_owner, 2, 0, 40'000))
      .then(on(Kind::get, strict, second_owner, 8), shape(16, 20, 48))
      .then(on(Kind::get, first, first_owner, 0), shape(600, 30, 1200))
      .then(on(Kind::get, first, first_owner, 0),
            fragments({{nullptr, 0, 8}, {nullptr, 64, 8}, {nullptr, 24, 8}}));
  add("accumulates")
      .then(on(Kind::accumulate, first, first_owner, 8),
            accumulate(0.5, CopyShape::contiguous(4000)), 4000)
      .then(on(Kind::accumulate, strict, second_owner, 16),
            accumulate(std::int32_t{3}, CopyShape::rows(8, 10, 8, 24)), 80)
      .then(on(Kind::accumulate, first, first_owner, 0),
            accumulate(std::complex<double>(1, -1), CopyShape::rows(32, 3, 32, 4096)), 96);
  add("atomics")
      .then(on(Kind::atomic, first, first_owner, 64, 5), atomic(AtomicRequest::Kind::fetch_add, 8))
      .then(on(Kind::atomic, strict, second_owner, 4, 7), atomic(AtomicRequest::Kind::swap, 4))
      .then(on(Kind::atomic, strict, second_owner, 1008, 7, 9),
            atomic(AtomicRequest::Kind::compare_swap, 8))
      .then(on(Kind::atomic, first, first_owner, 61, 1), atomic(AtomicRequest::Kind::fetch_add, 8));
  add("flags")
      .then(on(Kind::flag, first, first_owner, 128, 1))
      .then(on(Kind::notify, {}, first_owner, 0))
      .then(on(Kind::join, RegionId{12}, second_owner, 0, 99))
      .then(on(Kind::probe, {}, second_owner, 0))
      .then(on(Kind::deliver, mail, second_owner, 64, 2992, 7), {}, 100)
      .then(on(Kind::deliver, mail, second_owner, 0, 8, 7))
      .then(on(Kind::deliver, mail, second_owner, 2990, 0, 7), {}, 11)
      .then(on(Kind::bye, {}, first_owner, 0))
      .then(on(Kind::fence, {}, first_owner, 0));
  add("locks")
      .then(on(Kind::lock, locks, second_owner, 0))
      .then(on(Kind::lock, locks, second_owner, 0))
      .then(on(Kind::unlock, locks, second_owner, 0))
      .then(on(Kind::lock, locks, second_owner, lock_bytes))
      .then(on(Kind::unlock, locks, second_owner, lock_bytes))
      .then(on(Kind::unlock, locks, second_owner, lock_bytes))
      .then(on(Kind::lock, locks, second_owner, 64))
      .then(on(Kind::get, locks, second_owner, 0, 0, 8));
  add("refused")
      .then(on(Kind::put, RegionId{9}, first_owner, 0), {}, 700)
      .then(on(Kind::get, first, WorldRank{2}, 0, 0, 100))
      .then(on(Kind::put, first, first_owner, 40'000), {}, 600)
      .then(on(Kind::get, strict, second_owner, 1016, 0, 1))
      .then(on(Kind::notify, {}, WorldRank{2}, 0))
      .then(on(Kind::value, {}, first_owner, 0));
  add_lists_and_operations(all);
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  return fuzz::write_seeds(argc, argv, "make_server_connection_seeds",
                           [](fuzz::SeedFolder& folder) {
                             const auto all = sequences();
                             for (const auto& [name, sequence] : all) {
                               folder.write(name, {255, 1}, sequence.bytes());
                             }
                             // A peer that sends few bytes at a time, and one that reads nothing.
                             folder.write("slow-puts", {12, 1}, all[1].second.bytes());
                             folder.write("unread-gets", {255, 0}, all[2].second.bytes());
                           });
}
