// SPDX-License-Identifier: BSD-3-Clause
//
// The handshake: the two ends of a new connection prove to each other that they belong to one job.
//
//     client                                              server
//     hello: job, rank, node wanted, nonce c   ───────▶
//                                              ◀───────   challenge: nonce s, proof_s
//     answer: proof_c, then frames             ───────▶   (or a refusal, with its reason)
//
// A proof is a keyed hash (libsodium's crypto_auth, HMAC-SHA-512-256) under the job's secret. It
// covers the prover's role, the hello and s. Both nonces are random, so a recorded handshake cannot
// be replayed; the role prevents a proof from being reflected to its maker. The secret is never
// sent. Frames are neither encrypted nor signed: the handshake excludes foreign processes and other
// jobs, not an attacker who can change packets on the network.
//
// Both classes only convert bytes to bytes, in pieces of any size. The owner of the stream moves
// them: it sends outgoing() and calls sent(), and passes what came to feed() until that returns
// finished. Bytes that feed() has not consumed belong to the frames. An error is final: later calls
// return it again. Even then, send what is in outgoing() before closing.
//
// Threads: one at a time for each object.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "rma/base/rank.hpp"
#include "rma/base/result.hpp"
#include "rma/base/status.hpp"

namespace tessera::rma::server {

inline constexpr std::size_t secret_bytes = 32;
inline constexpr std::size_t nonce_bytes = 32;
inline constexpr std::size_t proof_bytes = 32;
inline constexpr std::size_t hello_bytes = 56;
inline constexpr std::size_t challenge_bytes = 72;
inline constexpr std::size_t answer_bytes = 40;
inline constexpr std::size_t refusal_bytes = 8;

/// Known only to the ranks of one job. Erased on destruction.
class Secret {
 public:
  Secret() noexcept = default;  ///< all zeros, which prove nothing: to receive a real secret
  explicit Secret(std::span<const std::byte, secret_bytes> bytes) noexcept;
  Secret(const Secret&) noexcept = default;
  Secret& operator=(const Secret&) noexcept = default;
  ~Secret();

  [[nodiscard]] std::span<const std::byte, secret_bytes> bytes() const noexcept { return bytes_; }

 private:
  std::array<std::byte, secret_bytes> bytes_ = {};
};

/// A random secret. Errors: internal if the system provides no random numbers.
[[nodiscard]] Result<Secret> new_secret();

/// The result of feed().
struct HandshakeProgress {
  std::size_t consumed = 0;  ///< bytes consumed from the front of the input
  bool finished = false;     ///< the other side has proven itself
};

/// The names in the hello: the job, the rank that connects, and the node it wants.
struct HandshakeNames {
  std::uint64_t job = 0;
  WorldRank origin = {};
  NodeId node = {};  ///< the agent's node; another agent that listens there now refuses
};

/// Bytes still to be sent: at most one message at a time.
class HandshakeOutput {
 public:
  [[nodiscard]] std::span<const std::byte> left() const noexcept {
    return {bytes_.data() + from_, to_ - from_};
  }
  void sent(std::size_t bytes) noexcept { from_ += bytes; }
  /// Appends `message` to the unsent bytes. Requires: there is room, which every handshake
  /// guarantees.
  void send(std::span<const std::byte> message) noexcept;

 private:
  std::array<std::byte, hello_bytes + challenge_bytes> bytes_ = {};
  std::size_t from_ = 0;
  std::size_t to_ = 0;
};

/// The message that is being received.
struct HandshakeInbox {
  std::array<std::byte, challenge_bytes> bytes = {};  ///< room for the largest
  std::size_t size = 0;
};

/// The side that connected.
class HandshakeClient {
 public:
  /// Starts with the hello in outgoing(). Errors: internal if there are no random numbers or no
  /// secret.
  static Result<HandshakeClient> create(const Secret& secret, const HandshakeNames& names);

  /// Bytes to be sent; valid until the next call of another function.
  [[nodiscard]] std::span<const std::byte> outgoing() const noexcept { return out_.left(); }
  /// The first `bytes` of outgoing() were sent.
  void sent(std::size_t bytes) noexcept { out_.sent(bytes); }
  /// Takes bytes that the server sent. When finished, send outgoing() and then frames. Errors:
  /// protocol, with the reason: another program, version, job, node or secret.
  [[nodiscard]] Result<HandshakeProgress> feed(std::span<const std::byte> in);
  /// The stream ended. Errors: protocol if the handshake was not finished.
  [[nodiscard]] Status ended() const;

 private:
  HandshakeClient(const Secret& secret, const HandshakeNames& names) noexcept;
  Status check_message();

  Secret secret_;
  std::array<std::byte, hello_bytes> hello_ = {};
  HandshakeOutput out_;
  HandshakeInbox in_;
  Status failure_;
  bool finished_ = false;
};

/// The side that listens.
class HandshakeServer {
 public:
  /// For the agent of `node` in the job `job` of `ranks` ranks. Errors: as for the client.
  static Result<HandshakeServer> create(const Secret& secret, std::uint64_t job, std::int32_t ranks,
                                        NodeId node);

  [[nodiscard]] std::span<const std::byte> outgoing() const noexcept { return out_.left(); }
  void sent(std::size_t bytes) noexcept { out_.sent(bytes); }
  /// Takes bytes that the client sent. Errors: protocol, with the reason. Foreign programs are sent
  /// nothing; other clients are sent a refusal.
  [[nodiscard]] Result<HandshakeProgress> feed(std::span<const std::byte> in);
  /// The stream ended. Errors: protocol if the handshake was not finished.
  [[nodiscard]] Status ended() const;
  /// The rank that connected. Requires: feed() returned finished.
  [[nodiscard]] WorldRank origin() const noexcept { return origin_; }

 private:
  HandshakeServer(const Secret& secret, std::uint64_t job, std::int32_t ranks, NodeId node) noexcept
      : secret_(secret), job_(job), ranks_(ranks), node_(node) {}
  Status check_message();
  Status check_hello();
  Status check_answer();
  void challenge() noexcept;

  Secret secret_;
  std::uint64_t job_;
  std::int32_t ranks_;
  NodeId node_;
  WorldRank origin_;
  std::array<std::byte, hello_bytes> hello_ = {};
  std::array<std::byte, nonce_bytes> nonce_ = {};
  HandshakeOutput out_;
  HandshakeInbox in_;
  Status failure_;
  bool greeted_ = false;  ///< the hello was accepted, and the challenge was sent
  bool finished_ = false;
};

/// The proof for `role` 'c' or 's'; public for the test vectors.
[[nodiscard]] std::array<std::byte, proof_bytes> proof_of(
    char role, const Secret& secret, std::span<const std::byte, hello_bytes> hello,
    std::span<const std::byte, nonce_bytes> server_nonce) noexcept;

}  // namespace tessera::rma::server
