// SPDX-License-Identifier: BSD-3-Clause
//
// Feeds arbitrary bytes to the decoders of messages from other nodes: headers, descriptors and the
// handshake. Accepted input must be the same after it is encoded and decoded again.
//
// The first byte of an input chooses the decoder; the decoder gets the rest.
//
// With libFuzzer: TESSERA_FUZZ in .cmake/options.cmake. Without it, tests/fuzz/replay_main.cpp runs
// this target over the seeds.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <variant>
#include <vector>

#include "rma/server/wire/handshake.hpp"
#include "rma/server/wire/wire.hpp"
#include "tests/fuzz/sealed_header.hpp"

namespace {

using namespace tessera::rma;          // NOLINT(google-build-using-namespace)
using namespace tessera::rma::server;  // NOLINT(google-build-using-namespace)

using Bytes = std::vector<std::byte>;
using View = std::span<const std::byte>;

// Used instead of assert(), which release builds leave out.
void must(bool holds) {
  if (!holds) {
    std::abort();
  }
}

std::size_t copy_header(View input, std::array<std::byte, header_bytes>& header) {
  const std::size_t size = std::min(input.size(), header.size());
  std::copy_n(input.begin(), size, header.begin());
  return size;
}

void decode_any_header(View input) {
  std::array<std::byte, header_bytes> bytes = {};
  copy_header(input, bytes);
  if (const auto header = decode(bytes); header.ok()) {
    must(encode(header.value()) == bytes);
  }
}

void decode_any_shape(View input) {
  if (const auto shape = decode_shape(input); shape.ok()) {
    must(shape.value().check().ok() && shape.value().total_bytes() <= max_payload_bytes);
    const CopyShape::Extent extent = shape.value().remote_extent();
    must(extent.lowest >= -max_reach_bytes && extent.highest <= max_reach_bytes);
    Bytes again;
    encode_shape(shape.value(), again);
    must(std::equal(again.begin(), again.end(), input.begin(), input.end()));
  }
}

void decode_any_sides(View input) {
  if (const auto shape = decode_sides(input); shape.ok()) {
    must(shape.value().check().ok() && shape.value().runs() <= detail::max_assisted_get_runs);
    Bytes again;
    encode_sides(shape.value(), again);
    must(std::equal(again.begin(), again.end(), input.begin(), input.end()));
  }
}

bool equal(const std::vector<Fragment>& a, const std::vector<Fragment>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Fragment& one, const Fragment& other) {
                      return one.remote_offset == other.remote_offset && one.bytes == other.bytes;
                    });
}

void decode_any_fragments(View input) {
  if (const auto fragments = decode_fragments(input); fragments.ok()) {
    Bytes again;
    encode_fragments(fragments.value(), again);
    must(again.size() <= input.size() && again.size() == encoded_bytes(fragments.value()));
    must(equal(decode_fragments(again).value(), fragments.value()));
  }
}

void decode_any_accumulate(View input) {
  const auto terms = decode_accumulate(input);
  if (!terms.ok()) {
    return;
  }
  Bytes again;
  const Scale& scale = terms.value().scale;
  if (const auto* shape = std::get_if<CopyShape>(&terms.value().pattern)) {
    encode_accumulate(scale, *shape, again);
  } else {
    encode_accumulate(scale, Fragments(std::get<std::vector<Fragment>>(terms.value().pattern)),
                      again);
  }
  // The head and the factor come back bit for bit, even if the factor is not a number.
  must(again.size() >= 24 && std::equal(again.begin(), again.begin() + 24, input.begin()));
  must(total_bytes(decode_accumulate(again).value().pattern) == total_bytes(terms.value().pattern));
}

void decode_any_atomic(View input) {
  if (const auto terms = decode_atomic(input); terms.ok()) {
    Bytes again;
    encode_atomic(terms.value(), again);
    must(std::equal(again.begin(), again.end(), input.begin(), input.end()));
  }
}

void decode_any_atomics(View input) {
  if (const auto list = decode_atomics(input); list.ok()) {
    Bytes again;
    encode_atomics({list.value().terms.kind, list.value().terms.bytes, list.value().items}, again);
    must(std::equal(again.begin(), again.end(), input.begin(), input.end()));
  }
}

void decode_any_failure(View input) {
  must(!decode_failure(input).ok());
}

const Secret& secret() {
  static const Secret one = [] {
    std::array<std::byte, secret_bytes> bytes;
    bytes.fill(std::byte{7});
    return Secret{std::span<const std::byte, secret_bytes>(bytes)};
  }();
  return one;
}

// Feeds the handshake in pieces; the first byte gives their size. A peer that does not know the
// server's nonce cannot complete it.
template <class Side>
void shake_hands(Side& side, View input) {
  if (input.empty()) {
    return;
  }
  const std::size_t piece = 1 + std::to_integer<std::size_t>(input.front());
  for (View left = input.subspan(1); !left.empty();) {
    const auto progress = side.feed(left.first(std::min(piece, left.size())));
    if (!progress.ok()) {
      must(!side.ended().ok());
      return;
    }
    must(!progress.value().finished && progress.value().consumed > 0);
    side.sent(side.outgoing().size());
    left = left.subspan(progress.value().consumed);
  }
  must(!side.ended().ok());
}

void feed_server(View input) {
  auto server = HandshakeServer::create(secret(), 0x1122334455667788, 8, NodeId{2});
  shake_hands(server.value(), input);
}

void feed_client(View input) {
  auto client = HandshakeClient::create(secret(), {0x1122334455667788, WorldRank{5}, NodeId{2}});
  shake_hands(client.value(), input);
}

void decode_sealed_header(View input) {
  std::array<std::byte, header_bytes> bytes = {};
  copy_header(input, bytes);
  decode_any_header(sealed(bytes));
}

constexpr std::array decoders = {decode_any_header,    decode_sealed_header,  decode_any_shape,
                                 decode_any_fragments, decode_any_accumulate, decode_any_atomic,
                                 decode_any_failure,   feed_server,           feed_client,
                                 decode_any_sides,     decode_any_atomics};

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it so
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const View input = std::as_bytes(std::span(data, size));
  if (!input.empty()) {
    decoders[std::to_integer<std::size_t>(input.front()) % decoders.size()](input.subspan(1));
  }
  return 0;
}
