// SPDX-License-Identifier: BSD-3-Clause
//
// Writes the seeds of frame_fuzzer.cpp. Run it after each change of the wire format:
//
//     build/tests/bin/make_frame_seeds tests/fuzz/seeds/frame
#include <complex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rma/server/wire/handshake.hpp"
#include "rma/server/wire/wire.hpp"
#include "tests/fuzz/seed_folder.hpp"

namespace {

using namespace tessera::rma;          // NOLINT(google-build-using-namespace)
using namespace tessera::rma::server;  // NOLINT(google-build-using-namespace)

using Bytes = std::vector<std::byte>;

// The positions of the decoders in the list of frame_fuzzer.cpp.
enum class Decoder : std::uint8_t {
  header,
  sealed_header,
  shape,
  fragments,
  accumulate,
  atomic,
  failure,
  server,
  client,
  sides,
  atomics
};

class Folder {
 public:
  explicit Folder(fuzz::SeedFolder& seeds) : seeds_(seeds) {}
  void write(const std::string& name, Decoder decoder, std::span<const std::byte> bytes) {
    seeds_.write(name, {static_cast<int>(decoder)}, bytes);
  }

 private:
  fuzz::SeedFolder& seeds_;
};

Bytes bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

void write_headers(Folder& folder) {
  for (int kind = 1; kind <= kind_count; ++kind) {
    FrameHeader header{.kind = static_cast<Kind>(kind)};
    header.payload_bytes = 48;
    header.target = WorldRank{5};
    header.operation = 0x0102030405060708;
    header.words = {42, 8};
    folder.write("header-" + std::string(to_string(header.kind)),
                 kind % 2 == 0 ? Decoder::header : Decoder::sealed_header, encode(header));
  }
  folder.write("header-http", Decoder::header, bytes_of("GET / HTTP/1.1\r\n\r\n"));
}

void write_patterns(Folder& folder) {
  Bytes bytes;
  encode_shape(CopyShape::contiguous(4096), bytes);
  folder.write("shape-contiguous", Decoder::shape, bytes);
  bytes.clear();
  CopyShape shape = CopyShape::rows(16, 3, 16, 64);
  for (int level = 1; level < max_stride_levels; ++level) {
    shape.repeat(2, 0, std::int64_t{-1000} * level);
  }
  encode_shape(shape, bytes);
  folder.write("shape-deep", Decoder::shape, bytes);
  bytes.clear();
  encode_sides(CopyShape::rows(16, 3, 32, 64), bytes);
  folder.write("sides", Decoder::sides, bytes);
  const std::vector<Fragment> same = {{nullptr, 0, 8}, {nullptr, 64, 8}, {nullptr, 24, 8}};
  const std::vector<Fragment> mixed = {{nullptr, 16, 32}, {nullptr, 128, 16}};
  bytes.clear();
  encode_fragments(same, bytes);
  folder.write("fragments-same", Decoder::fragments, bytes);
  bytes.clear();
  encode_fragments(mixed, bytes);
  folder.write("fragments-mixed", Decoder::fragments, bytes);
  bytes[7] = std::byte{0x80};  // a number that would overflow 32 bits
  folder.write("fragments-wrapped", Decoder::fragments, bytes);
  bytes.clear();
  encode_accumulate(Scale::of(-0.5), shape, bytes);
  folder.write("accumulate-shape", Decoder::accumulate, bytes);
  bytes.clear();
  encode_accumulate(Scale::by(AccumulateOp::max, ElementType::f64), shape, bytes);
  folder.write("accumulate-max", Decoder::accumulate, bytes);
  bytes[2] = std::byte{0x60};  // no operation
  folder.write("accumulate-by-nothing", Decoder::accumulate, bytes);
  bytes.clear();
  encode_accumulate(Scale::of(std::complex<float>(1, 2)), Fragments(mixed), bytes);
  folder.write("accumulate-fragments", Decoder::accumulate, bytes);
}

void write_small_ones(Folder& folder) {
  Bytes bytes;
  encode_atomic({AtomicRequest::Kind::compare_swap, 4}, bytes);
  folder.write("atomic", Decoder::atomic, bytes);
  bytes.clear();
  const std::vector<AtomicList::Item> items = {{.offset = 8, .operand = 1, .expected = -1},
                                               {.offset = 64, .operand = 2, .expected = -1}};
  encode_atomics({AtomicRequest::Kind::compare_swap, 4, items}, bytes);
  folder.write("atomics-swap", Decoder::atomics, bytes);
  bytes.clear();
  encode_atomics({AtomicRequest::Kind::fetch_min, 8, items}, bytes);
  folder.write("atomics-min", Decoder::atomics, bytes);
  bytes.clear();
  encode_failure(Status::error_at(WorldRank{1}, Code::peer_lost, "rank 1 died"), bytes);
  folder.write("failure", Decoder::failure, bytes);
}

// A handshake message with fixed bytes in place of nonces and proofs, so that the files are the
// same each time.
Bytes message(std::string_view head, std::string_view names, std::size_t size) {
  Bytes bytes = bytes_of(head);
  const Bytes more = bytes_of(names);
  bytes.insert(bytes.end(), more.begin(), more.end());
  bytes.resize(size, std::byte{0xc0});
  return bytes;
}

void write_handshake(Folder& folder) {
  using namespace std::literals;
  const auto names = "\x88\x77\x66\x55\x44\x33\x22\x11\5\0\0\0\2\0\0\0"sv;
  const Bytes hello = message("TSRH\1\0\1\0"sv, names, hello_bytes);
  const Bytes answer = message("TSRH\1\0\3\0"sv, "", answer_bytes);
  Bytes all = {std::byte{12}};  // the size of the pieces, minus one
  all.insert(all.end(), hello.begin(), hello.end());
  all.insert(all.end(), answer.begin(), answer.end());
  folder.write("server-replay", Decoder::server, all);
  folder.write("server-http", Decoder::server, bytes_of("\377GET / HTTP/1.1\r\n\r\n"));
  Bytes challenge = message("\377TSRH\1\0\2\0"sv, "", 1 + challenge_bytes);
  folder.write("client-challenge", Decoder::client, challenge);
  folder.write("client-refusal", Decoder::client, bytes_of("\3TSRH\1\0\4\2"sv));
}

}  // namespace

int main(int argc, char** argv) {
  return fuzz::write_seeds(argc, argv, "make_frame_seeds", [](fuzz::SeedFolder& seeds) {
    Folder folder(seeds);
    write_headers(folder);
    write_patterns(folder);
    write_small_ones(folder);
    write_handshake(folder);
  });
}
