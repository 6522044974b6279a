// SPDX-License-Identifier: BSD-3-Clause
//
// The example bytes in docs/wire-format.md are those that the code sends and accepts. They were
// made by hand from the tables of that page, without the code.
#include <gtest/gtest.h>

#include <complex>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "rma/server/wire/handshake.hpp"
#include "rma/server/wire/wire.hpp"

namespace tessera::rma::server {
namespace {

using Bytes = std::vector<std::byte>;

// The page's code blocks "```hex NAME".
std::map<std::string, Bytes> read_vectors() {
  std::map<std::string, Bytes> vectors;
  std::ifstream page(WIRE_FORMAT_PAGE);
  EXPECT_TRUE(page.is_open()) << WIRE_FORMAT_PAGE;
  const std::string begin = "```hex ";
  Bytes* vector = nullptr;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with(begin)) {
      vector = &vectors[line.substr(begin.size())];
    } else if (line.starts_with("```")) {
      vector = nullptr;
    } else if (vector != nullptr) {
      std::istringstream numbers(line);
      for (unsigned number = 0; numbers >> std::hex >> number;) {
        vector->push_back(static_cast<std::byte>(number));
      }
    }
  }
  return vectors;
}

class WireFormatPage : public testing::Test {
 protected:
  // Takes the vector's bytes; each may be taken once.
  Bytes bytes(const std::string& name) {
    const auto found = vectors_.extract(name);
    EXPECT_FALSE(found.empty()) << "no vector " << name;
    return found.empty() ? Bytes() : found.mapped();
  }
  // Checks that the header and `rest` are the vector, and that the header decodes.
  void expect(const std::string& name, FrameHeader header, const Bytes& rest) {
    const auto head = encode(header);
    Bytes frame(head.begin(), head.end());
    frame.insert(frame.end(), rest.begin(), rest.end());
    EXPECT_EQ(bytes(name), frame) << name;
    const auto decoded = decode(head);
    ASSERT_TRUE(decoded.ok()) << decoded.status().describe();
    EXPECT_EQ(decoded.value(), header) << name;
  }
  void expect_with_descriptor(const std::string& name, FrameHeader header,
                              const Bytes& descriptor) {
    header.descriptor_bytes = static_cast<std::uint32_t>(descriptor.size());
    expect(name, header, descriptor);
  }
  void expect_push();
  void expect_failure();
  void expect_handshake();

  std::map<std::string, Bytes> vectors_ = read_vectors();
};

void WireFormatPage::expect_push() {
  Bytes descriptor;
  encode_sides(CopyShape::rows(16, 3, 32, 64), descriptor);
  expect_with_descriptor("push",
                         {.kind = Kind::push,
                          .origin = WorldRank{3},
                          .target = WorldRank{1},
                          .operation = 5,
                          .route = 12,
                          .region = RegionId{7},
                          .offset = 4096,
                          .words = {0x7f0000001000, 0x1234}},
                         descriptor);
}

void WireFormatPage::expect_failure() {
  Bytes payload;
  encode_failure(Status::error_at(WorldRank{1}, Code::peer_lost, "rank 1 died"), payload);
  expect("failed",
         {.kind = Kind::failed,
          .payload_bytes = payload.size(),
          .origin = WorldRank{3},
          .target = WorldRank{1},
          .operation = 4},
         payload);
}

void WireFormatPage::expect_handshake() {
  const Bytes hello = bytes("hello");
  const Bytes challenge = bytes("challenge");
  const Bytes answer = bytes("answer");
  ASSERT_EQ(hello.size(), hello_bytes);
  ASSERT_EQ(challenge.size(), challenge_bytes);
  ASSERT_EQ(answer.size(), answer_bytes);
  std::array<std::byte, secret_bytes> numbers;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = static_cast<std::byte>(i);
  }
  const Secret secret{std::span<const std::byte, secret_bytes>(numbers)};

  // A client's hello equals the vector except for its nonce, and a server accepts the vector.
  const std::uint64_t job = 0x1122334455667788;
  const auto client = HandshakeClient::create(secret, {job, WorldRank{5}, NodeId{2}});
  const auto sent = client.value().outgoing();
  EXPECT_TRUE(std::equal(sent.begin(), sent.begin() + 24, hello.begin()));
  auto server = HandshakeServer::create(secret, job, 8, NodeId{2});
  ASSERT_TRUE(server.value().feed(hello).ok());
  const auto challenged = server.value().outgoing();
  ASSERT_EQ(challenged.size(), challenge_bytes);
  EXPECT_TRUE(std::equal(challenged.begin(), challenged.begin() + 8, challenge.begin()));

  const std::span<const std::byte, hello_bytes> greeting(hello.data(), hello_bytes);
  const std::span<const std::byte, nonce_bytes> nonce(challenge.data() + 8, nonce_bytes);
  const auto server_proof = proof_of('s', secret, greeting, nonce);
  const auto client_proof = proof_of('c', secret, greeting, nonce);
  EXPECT_TRUE(std::equal(server_proof.begin(), server_proof.end(), challenge.begin() + 40));
  EXPECT_TRUE(std::equal(client_proof.begin(), client_proof.end(), answer.begin() + 8));

  auto foreign = HandshakeServer::create(secret, job + 1, 8, NodeId{2});
  EXPECT_FALSE(foreign.value().feed(hello).ok());
  const auto refusal = foreign.value().outgoing();
  EXPECT_EQ(bytes("refusal"), Bytes(refusal.begin(), refusal.end()));
}

TEST_F(WireFormatPage, HasTheVectorsOfTheCode) {
  expect("header",
         {.kind = Kind::get,
          .flags = flags::wants_answer,
          .descriptor_bytes = 0x20304,
          .payload_bytes = 0x1112131415,
          .origin = WorldRank{0x21222324},
          .target = WorldRank{0x31323334},
          .reply_to = 0x41424344,
          .forwarder = 0x51525354,
          .operation = 0x6162636465666768,
          .route = 0x7172737475767778,
          .region = RegionId{0x81828384},
          .offset = 0x9192939495969798,
          .words = {0xa1a2a3a4a5a6a7a8, 0xb1b2b3b4b5b6b7b8}},
         {});

  Bytes descriptor;
  encode_shape(CopyShape::rows(16, 3, 16, 64), descriptor);
  expect_with_descriptor("put-strided",
                         {.kind = Kind::put,
                          .payload_bytes = 48,
                          .target = WorldRank{5},
                          .operation = 1,
                          .route = 1,
                          .region = RegionId{7},
                          .offset = 4096},
                         descriptor);

  descriptor.clear();
  const std::vector<Fragment> words = {{nullptr, 0, 8}, {nullptr, 64, 8}, {nullptr, 24, 8}};
  encode_fragments(words, descriptor);
  expect_with_descriptor("get-fragments",
                         {.kind = Kind::get,
                          .origin = WorldRank{3},
                          .target = WorldRank{1},
                          .operation = 2,
                          .route = 9,
                          .region = RegionId{7}},
                         descriptor);

  descriptor.clear();
  const std::vector<Fragment> pieces = {{nullptr, 16, 32}, {nullptr, 128, 16}};
  encode_accumulate(Scale::of(std::complex<double>(0.5, -1)), Fragments(pieces), descriptor);
  expect_with_descriptor("accumulate",
                         {.kind = Kind::accumulate,
                          .flags = flags::wants_answer,
                          .payload_bytes = 48,
                          .origin = WorldRank{3},
                          .target = WorldRank{1},
                          .reply_to = 0,
                          .forwarder = 2,
                          .operation = 3,
                          .route = 10,
                          .region = RegionId{7}},
                         descriptor);

  descriptor.clear();
  encode_atomic({AtomicRequest::Kind::compare_swap, 8}, descriptor);
  expect_with_descriptor("compare-swap",
                         {.kind = Kind::atomic,
                          .origin = WorldRank{3},
                          .target = WorldRank{1},
                          .operation = 4,
                          .route = 11,
                          .region = RegionId{7},
                          .offset = 8,
                          .words = {42, ~std::uint64_t{0}}},
                         descriptor);

  expect_push();
  expect_failure();
  expect_handshake();
  EXPECT_TRUE(vectors_.empty()) << "the page shows " << vectors_.begin()->first
                                << ", which is not tested";
}

// The page's table of kinds has a row "| 1 | `put` |" for each.
TEST_F(WireFormatPage, HasARowForEachKindAndCode) {
  std::ifstream page(WIRE_FORMAT_PAGE);
  std::stringstream text;
  text << page.rdbuf();
  for (int kind = 1; kind <= kind_count; ++kind) {
    const std::string row = "\n| " + std::to_string(kind) + " | `" +
                            std::string(to_string(static_cast<Kind>(kind))) + "` |";
    EXPECT_NE(text.str().find(row), std::string::npos) << row;
  }
  for (int code = 1; code <= static_cast<int>(Code::internal); ++code) {
    const std::string item =
        std::to_string(code) + " `" + std::string(to_string(static_cast<Code>(code))) + "`";
    EXPECT_NE(text.str().find(item), std::string::npos) << item;
  }
}

}  // namespace
}  // namespace tessera::rma::server
