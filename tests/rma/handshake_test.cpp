// SPDX-License-Identifier: BSD-3-Clause
#include "rma/server/wire/handshake.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::rma::server {
namespace {

using Bytes = std::vector<std::byte>;

constexpr std::uint64_t job = 0x1122334455667788;
constexpr std::int32_t ranks = 8;
constexpr NodeId node{2};
constexpr HandshakeNames names{job, WorldRank{5}, node};

Bytes bytes_of(std::string_view text) {
  Bytes bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

template <class Side>
Bytes take(Side& side) {
  const auto out = side.outgoing();
  Bytes bytes(out.begin(), out.end());
  side.sent(bytes.size());
  return bytes;
}

Secret secret_of(int seed) {
  std::array<std::byte, secret_bytes> bytes;
  bytes.fill(static_cast<std::byte>(seed));
  return Secret(bytes);
}

HandshakeClient client(const Secret& secret = secret_of(1), const HandshakeNames& who = names) {
  return HandshakeClient::create(secret, who).value();
}

HandshakeServer server(const Secret& secret = secret_of(1)) {
  return HandshakeServer::create(secret, job, ranks, node).value();
}

template <class Side>
std::string refusal(Side& side, const Bytes& in) {
  const auto progress = side.feed(in);
  EXPECT_FALSE(progress.ok());
  EXPECT_EQ(progress.status().code(), Code::protocol);
  EXPECT_EQ(side.ended().message(), progress.status().message());
  EXPECT_EQ(side.feed({}).status().message(), progress.status().message()) << "errors are final";
  return progress.status().message();
}

// Runs both sides to their end in pieces of `piece` bytes, with frames after the client's reply.
void shake_hands(std::size_t piece) {
  HandshakeClient one = client();
  HandshakeServer other = server();
  const Bytes frames = bytes_of("frames");
  Bytes up = take(one);
  Bytes down;
  bool client_finished = false;
  bool server_finished = false;
  while (!server_finished) {
    ASSERT_FALSE(up.empty());
    const auto progress = other.feed(std::span(up).first(std::min(piece, up.size())));
    ASSERT_TRUE(progress.ok()) << progress.status().describe();
    server_finished = progress.value().finished;
    up.erase(up.begin(), up.begin() + static_cast<std::ptrdiff_t>(progress.value().consumed));
    const Bytes challenge = take(other);
    down.insert(down.end(), challenge.begin(), challenge.end());
    while (!down.empty()) {
      const auto step = one.feed(std::span(down).first(std::min(piece, down.size())));
      ASSERT_TRUE(step.ok()) << step.status().describe();
      client_finished = step.value().finished;
      down.erase(down.begin(), down.begin() + static_cast<std::ptrdiff_t>(step.value().consumed));
      if (client_finished) {
        const Bytes answer = take(one);
        up.insert(up.end(), answer.begin(), answer.end());
        up.insert(up.end(), frames.begin(), frames.end());
      }
    }
  }
  EXPECT_TRUE(client_finished);
  EXPECT_EQ(other.origin(), WorldRank{5});
  EXPECT_TRUE(std::equal(up.begin(), up.end(), frames.begin())) << "frames are not consumed";
  EXPECT_TRUE(one.ended().ok() && other.ended().ok());
  EXPECT_EQ(other.feed(frames).value().consumed, 0U);
}

TEST(Handshake, SucceedsInPiecesOfAnySize) {
  for (const std::size_t piece : {1U, 2U, 3U, 7U, 8U, 9U, 40U, 56U, 72U, 1000U}) {
    SCOPED_TRACE(piece);
    shake_hands(piece);
  }
}

TEST(Handshake, SecretsDiffer) {
  const Secret one = new_secret().value();
  const Secret other = new_secret().value();
  EXPECT_FALSE(std::equal(one.bytes().begin(), one.bytes().end(), other.bytes().begin()));
}

TEST(Handshake, NeedsASecret) {
  EXPECT_EQ(HandshakeClient::create(Secret(), names).status().code(), Code::internal);
  EXPECT_EQ(HandshakeServer::create(Secret(), job, ranks, node).status().code(), Code::internal);
}

TEST(Handshake, ClientRefusesAServerWithAnotherSecret) {
  HandshakeClient one = client();
  HandshakeServer other = server(secret_of(2));
  ASSERT_TRUE(other.feed(take(one)).ok());
  EXPECT_EQ(refusal(one, take(other)),
            "the side that listens does not know this job's secret, or replays an old connection");
  EXPECT_TRUE(one.outgoing().empty()) << "the client sends it no proof";
}

// A client without the secret can do everything except the proof.
TEST(Handshake, ServerRefusesAProofWithAnotherSecret) {
  HandshakeServer other = server();
  HandshakeClient one = client(secret_of(2));
  const Bytes hello = take(one);
  ASSERT_TRUE(other.feed(hello).ok());
  const Bytes challenge = take(other);
  const auto proof = proof_of('c', secret_of(2), std::span<const std::byte, hello_bytes>(hello),
                              std::span<const std::byte, nonce_bytes>(challenge.data() + 8, 32));
  Bytes answer = bytes_of(std::string_view("TSRH\1\0\3\0", 8));
  answer.insert(answer.end(), proof.begin(), proof.end());
  EXPECT_EQ(refusal(other, answer),
            "a client that says it is rank 5 does not know this job's secret, or replays an old "
            "connection");
  EXPECT_EQ(take(other), bytes_of(std::string_view("TSRH\1\0\4\5", 8)));
}

TEST(Handshake, ProofIsNotAcceptedFromTheOtherRole) {
  HandshakeServer other = server();
  HandshakeClient one = client();
  ASSERT_TRUE(other.feed(take(one)).ok());
  const Bytes challenge = take(other);
  Bytes reflected = bytes_of(std::string_view("TSRH\1\0\3\0", 8));
  reflected.insert(reflected.end(), challenge.begin() + 40, challenge.end());
  EXPECT_NE(refusal(other, reflected).find("does not know this job's secret"), std::string::npos);
}

TEST(Handshake, AReplayedConnectionIsRefused) {
  HandshakeClient one = client();
  HandshakeServer first = server();
  Bytes sent = take(one);
  ASSERT_TRUE(first.feed(sent).ok());
  const Bytes challenge = take(first);
  ASSERT_TRUE(one.feed(challenge).value().finished);
  const Bytes answer = take(one);
  ASSERT_TRUE(first.feed(answer).value().finished);
  sent.insert(sent.end(), answer.begin(), answer.end());

  HandshakeServer second = server();
  EXPECT_NE(refusal(second, sent).find("replays an old connection"), std::string::npos);
  HandshakeClient another = client();
  EXPECT_NE(refusal(another, challenge).find("replays an old connection"), std::string::npos);
}

TEST(Handshake, ServerRefusesForeignNames) {
  const auto answered = [](const HandshakeNames& who, std::string& server_error) {
    HandshakeClient one = client(secret_of(1), who);
    HandshakeServer other = server();
    server_error = refusal(other, take(one));
    return refusal(one, take(other));
  };
  std::string says;
  EXPECT_EQ(answered({job + 1, WorldRank{5}, node}, says),
            "the agent refused the connection: it belongs to another job");
  EXPECT_EQ(says,
            "a client of job 1122334455667789 connected to the agent of job 1122334455667788");
  EXPECT_EQ(answered({job, WorldRank{5}, NodeId{3}}, says),
            "the agent refused the connection: it serves another node");
  EXPECT_EQ(says, "a client that wants node 3 connected to the agent of node 2");
  EXPECT_EQ(answered({job, WorldRank{8}, node}, says),
            "the agent refused the connection: its job has no such rank");
  EXPECT_EQ(says, "a client says that it is rank 8 of a job of 8 ranks");
  answered({job, WorldRank{-1}, node}, says);
}

TEST(Handshake, NamesAreBoundIntoTheProof) {
  for (std::size_t bit = 0; bit < 8 * hello_bytes; ++bit) {
    HandshakeClient one = client();
    HandshakeServer other = server();
    Bytes hello = take(one);
    hello[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    if (other.feed(hello).ok()) {  // another existing rank, or another nonce
      EXPECT_NE(refusal(one, take(other)).find("does not know"), std::string::npos) << bit;
    }
  }
}

TEST(Handshake, IsRefusedWithAnyBitOfTheChallengeOrAnswerFlipped) {
  for (std::size_t bit = 0; bit < 8 * challenge_bytes; ++bit) {
    HandshakeClient one = client();
    HandshakeServer other = server();
    ASSERT_TRUE(other.feed(take(one)).ok());
    Bytes challenge = take(other);
    challenge[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    refusal(one, challenge);
  }
  for (std::size_t bit = 0; bit < 8 * answer_bytes; ++bit) {
    HandshakeClient one = client();
    HandshakeServer other = server();
    ASSERT_TRUE(other.feed(take(one)).ok());
    ASSERT_TRUE(one.feed(take(other)).ok());
    Bytes answer = take(one);
    answer[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    refusal(other, answer);
  }
}

TEST(Handshake, UnauthenticatedPeersAreRefusedAtTheirFirstByteAndReceiveNothing) {
  HandshakeServer other = server();
  EXPECT_EQ(refusal(other, bytes_of("G")),
            "a connection begins with 'G', which is not Tessera's handshake");
  EXPECT_TRUE(other.outgoing().empty());
  HandshakeServer web = server();
  EXPECT_EQ(refusal(web, bytes_of("GET / HTTP/1.1\r\n\r\n")),
            "a connection begins with 'GET / HT', which is not Tessera's handshake");
  HandshakeClient one = client();
  EXPECT_EQ(refusal(one, bytes_of("220 mail\r\n")),
            "a connection begins with '220 mail', which is not Tessera's handshake");
}

TEST(Handshake, OtherVersionsAreNamed) {
  HandshakeClient one = client();
  HandshakeServer other = server();
  Bytes hello = take(one);
  hello[4] = std::byte{2};
  EXPECT_EQ(refusal(other, hello),
            "the other side's handshake has version 2; this library's has 1");
  EXPECT_EQ(refusal(one, take(other)),
            "the agent refused the connection: it speaks another version");
}

TEST(Handshake, MessagesOutOfOrderAreRefused) {
  HandshakeServer other = server();
  HandshakeClient one = client();
  const Bytes hello = take(one);
  ASSERT_TRUE(other.feed(hello).ok());
  EXPECT_EQ(refusal(other, hello), "a handshake message of type 1 (0) came; type 3 was expected");
}

TEST(Handshake, TruncatedHandshakesReportWhere) {
  HandshakeClient one = client();
  EXPECT_EQ(one.ended().message(),
            "the connection ended in the handshake, 0 bytes into the agent's challenge");
  HandshakeServer other = server();
  const Bytes hello = take(one);
  ASSERT_TRUE(other.feed(std::span(hello).first(13)).ok());
  EXPECT_EQ(other.ended().message(),
            "the connection ended in the handshake, 13 bytes into the client's hello");
  ASSERT_TRUE(other.feed(std::span(hello).subspan(13)).ok());
  EXPECT_EQ(other.ended().message(),
            "the connection ended in the handshake, 0 bytes into the client's answer");
  EXPECT_EQ(other.ended().code(), Code::protocol);
}

}  // namespace
}  // namespace tessera::rma::server
