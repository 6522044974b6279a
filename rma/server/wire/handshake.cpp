// SPDX-License-Identifier: BSD-3-Clause
#include "rma/server/wire/handshake.hpp"

#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "rma/server/wire/bytes.hpp"

namespace tessera::rma::server {
namespace {

static_assert(secret_bytes == crypto_auth_KEYBYTES && proof_bytes == crypto_auth_BYTES);

// All messages begin in the same way; docs/wire-format.md has the tables.
constexpr std::uint16_t handshake_version = 1;
constexpr std::array<std::byte, 4> magic = {std::byte{'T'}, std::byte{'S'}, std::byte{'R'},
                                            std::byte{'H'}};
enum class Type : std::uint8_t { hello = 1, challenge, answer, refusal };
enum class Reason : std::uint8_t { none, version, job, node, rank, proof };

namespace at {
constexpr std::size_t version = 4;
constexpr std::size_t type = 6;
constexpr std::size_t reason = 7;
constexpr std::size_t body = 8;
constexpr std::size_t hello_origin = 16;
constexpr std::size_t hello_node = 20;
constexpr std::size_t hello_nonce = 24;
constexpr std::size_t challenge_proof = body + nonce_bytes;
}  // namespace at
static_assert(at::hello_nonce + nonce_bytes == hello_bytes);
static_assert(at::challenge_proof + proof_bytes == challenge_bytes);
static_assert(at::body + proof_bytes == answer_bytes && at::body == refusal_bytes);

// libsodium uses unsigned char for bytes.
unsigned char* raw(std::byte* bytes) noexcept {
  return reinterpret_cast<unsigned char*>(bytes);  // NOLINT(*-reinterpret-cast)
}
const unsigned char* raw(const std::byte* bytes) noexcept {
  return reinterpret_cast<const unsigned char*>(bytes);  // NOLINT(*-reinterpret-cast)
}

Status reject(std::string what) {
  return Status::error(Code::protocol, std::move(what));
}

Status start_sodium() {
  // sodium_init() may be called repeatedly and by several threads.
  if (sodium_init() < 0) {
    return Status::error(Code::internal, "libsodium finds no random numbers on this system");
  }
  return {};
}

Status check_secret(const Secret& secret) {
  TESSERA_RETURN_IF_ERROR(start_sodium());
  if (sodium_is_zero(raw(secret.bytes().data()), secret_bytes) != 0) {
    return Status::error(Code::internal, "the job's secret was not set before a connection");
  }
  return {};
}

void begin(std::byte* message, Type type, Reason reason = Reason::none) noexcept {
  std::copy(magic.begin(), magic.end(), message);
  store(handshake_version, message + at::version);
  store(static_cast<std::uint8_t>(type), message + at::type);
  store(static_cast<std::uint8_t>(reason), message + at::reason);
}

std::array<std::byte, refusal_bytes> refusal(Reason reason) noexcept {
  std::array<std::byte, refusal_bytes> message = {};
  begin(message.data(), Type::refusal, reason);
  return message;
}

std::size_t size_of(Type type) noexcept {
  switch (type) {
    case Type::hello:
      return hello_bytes;
    case Type::challenge:
      return challenge_bytes;
    case Type::answer:
      return answer_bytes;
    case Type::refusal:
      break;
  }
  return refusal_bytes;
}

Type type_of(const HandshakeInbox& in) noexcept {
  return static_cast<Type>(load<std::uint8_t>(in.bytes.data() + at::type));
}

// Appends bytes from the front of `from` until there are `size`; returns how many it appended.
std::size_t fill(HandshakeInbox& in, std::size_t size, std::span<const std::byte> from) noexcept {
  const std::size_t count = std::min(size - std::min(size, in.size), from.size());
  std::copy_n(from.begin(), count, in.bytes.begin() + static_cast<std::ptrdiff_t>(in.size));
  in.size += count;
  return count;
}

std::string printable(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte each : bytes) {
    const auto code = std::to_integer<unsigned char>(each);
    text += code >= ' ' && code <= '~' ? static_cast<char>(code) : '.';
  }
  return text;
}

// Stops at the first wrong byte: a foreign program may never send eight.
Status check_beginning(const HandshakeInbox& in, Type expected, bool refusal_possible) {
  const auto count = static_cast<std::ptrdiff_t>(std::min(in.size, magic.size()));
  if (!std::equal(magic.begin(), magic.begin() + count, in.bytes.begin())) {
    return reject(fmt::format("a connection begins with '{}', which is not Tessera's handshake",
                              printable({in.bytes.data(), std::min(in.size, at::body)})));
  }
  if (in.size < at::body) {
    return {};
  }
  const auto version = load<std::uint16_t>(in.bytes.data() + at::version);
  if (version != handshake_version) {
    return reject(fmt::format("the other side's handshake has version {}; this library's has {}",
                              version, handshake_version));
  }
  const Type type = type_of(in);
  const bool refused = refusal_possible && type == Type::refusal;
  if ((type != expected && !refused) || (!refused && in.bytes[at::reason] != std::byte{0})) {
    return reject(
        fmt::format("a handshake message of type {} ({}) came; type {} was "
                    "expected",
                    static_cast<int>(type), std::to_integer<int>(in.bytes[at::reason]),
                    static_cast<int>(expected)));
  }
  return {};
}

bool speaks_another_version(const HandshakeInbox& in) noexcept {
  return in.size >= at::body && std::equal(magic.begin(), magic.end(), in.bytes.begin()) &&
         load<std::uint16_t>(in.bytes.data() + at::version) != handshake_version;
}

// Takes bytes up to the end of the message; sets `complete` if the whole message is there.
Status collect(HandshakeInbox& in, std::span<const std::byte>& from, Type expected,
               bool refusal_possible, bool& complete) {
  if (in.size < at::body) {
    from = from.subspan(fill(in, at::body, from));
    TESSERA_RETURN_IF_ERROR(check_beginning(in, expected, refusal_possible));
  }
  if (in.size >= at::body) {
    from = from.subspan(fill(in, size_of(type_of(in)), from));
    complete = in.size == size_of(type_of(in));
  }
  return {};
}

Status refusal_for(Reason reason) {
  switch (reason) {
    case Reason::version:
      return reject("the agent refused the connection: it speaks another version");
    case Reason::job:
      return reject("the agent refused the connection: it belongs to another job");
    case Reason::node:
      return reject("the agent refused the connection: it serves another node");
    case Reason::rank:
      return reject("the agent refused the connection: its job has no such rank");
    case Reason::proof:
      return reject("the agent refused the connection: the proof was wrong");
    case Reason::none:
      break;
  }
  return reject(fmt::format("the agent refused the connection for an unknown reason ({})",
                            static_cast<int>(reason)));
}

Status ended_after(const HandshakeInbox& in, const char* what) {
  return reject(
      fmt::format("the connection ended in the handshake, {} bytes into the {}", in.size, what));
}

// The input of the keyed hash: the role, the hello as it was sent, and the server's nonce.
using Statement = std::array<std::byte, at::body + hello_bytes + nonce_bytes>;

Statement statement_of(char role, std::span<const std::byte, hello_bytes> hello,
                       std::span<const std::byte, nonce_bytes> server_nonce) noexcept {
  constexpr std::string_view label = "tsr-hs1";
  static_assert(label.size() + 1 == at::body);
  Statement statement = {};
  std::transform(label.begin(), label.end(), statement.begin(),
                 [](char each) { return static_cast<std::byte>(each); });
  statement[label.size()] = static_cast<std::byte>(role);
  std::copy(hello.begin(), hello.end(), statement.begin() + at::body);
  std::copy(server_nonce.begin(), server_nonce.end(), statement.begin() + at::body + hello_bytes);
  return statement;
}

// Compares in constant time.
bool proves(const std::byte* proof, char role, const Secret& secret,
            std::span<const std::byte, hello_bytes> hello,
            std::span<const std::byte, nonce_bytes> server_nonce) noexcept {
  const Statement statement = statement_of(role, hello, server_nonce);
  return crypto_auth_verify(raw(proof), raw(statement.data()), statement.size(),
                            raw(secret.bytes().data())) == 0;
}

}  // namespace

Secret::Secret(std::span<const std::byte, secret_bytes> bytes) noexcept {
  std::copy(bytes.begin(), bytes.end(), bytes_.begin());
}

Secret::~Secret() {
  sodium_memzero(bytes_.data(), bytes_.size());
}

Result<Secret> new_secret() {
  TESSERA_RETURN_IF_ERROR(start_sodium());
  std::array<std::byte, secret_bytes> bytes;
  randombytes_buf(bytes.data(), bytes.size());
  Secret secret{std::span<const std::byte, secret_bytes>(bytes)};
  sodium_memzero(bytes.data(), bytes.size());
  return secret;
}

std::array<std::byte, proof_bytes> proof_of(
    char role, const Secret& secret, std::span<const std::byte, hello_bytes> hello,
    std::span<const std::byte, nonce_bytes> server_nonce) noexcept {
  const Statement statement = statement_of(role, hello, server_nonce);
  std::array<std::byte, proof_bytes> proof = {};
  crypto_auth(raw(proof.data()), raw(statement.data()), statement.size(),
              raw(secret.bytes().data()));
  return proof;
}

void HandshakeOutput::send(std::span<const std::byte> message) noexcept {
  std::copy(message.begin(), message.end(), bytes_.begin() + static_cast<std::ptrdiff_t>(to_));
  to_ += message.size();
}

Result<HandshakeClient> HandshakeClient::create(const Secret& secret, const HandshakeNames& names) {
  TESSERA_RETURN_IF_ERROR(check_secret(secret));
  return HandshakeClient(secret, names);
}

HandshakeClient::HandshakeClient(const Secret& secret, const HandshakeNames& names) noexcept
    : secret_(secret) {
  std::byte* const to = hello_.data();
  begin(to, Type::hello);
  store(names.job, to + at::body);
  store(names.origin.value, to + at::hello_origin);
  store(names.node.value, to + at::hello_node);
  randombytes_buf(to + at::hello_nonce, nonce_bytes);
  out_.send(hello_);
}

Result<HandshakeProgress> HandshakeClient::feed(std::span<const std::byte> in) {
  if (finished_ || !failure_.ok()) {
    return failure_.ok() ? Result<HandshakeProgress>(HandshakeProgress{0, true})
                         : Result<HandshakeProgress>(failure_);
  }
  const std::size_t given = in.size();
  bool complete = false;
  failure_ = collect(in_, in, Type::challenge, true, complete);
  if (failure_.ok() && complete) {
    failure_ = check_message();
    finished_ = failure_.ok();
  }
  TESSERA_RETURN_IF_ERROR(failure_);
  return HandshakeProgress{given - in.size(), finished_};
}

Status HandshakeClient::check_message() {
  if (type_of(in_) == Type::refusal) {
    return refusal_for(static_cast<Reason>(load<std::uint8_t>(in_.bytes.data() + at::reason)));
  }
  const std::span<const std::byte, nonce_bytes> nonce(in_.bytes.data() + at::body, nonce_bytes);
  if (!proves(in_.bytes.data() + at::challenge_proof, 's', secret_, hello_, nonce)) {
    return reject(
        "the side that listens does not know this job's secret, or replays an old "
        "connection");
  }
  std::array<std::byte, answer_bytes> answer = {};
  begin(answer.data(), Type::answer);
  const auto proof = proof_of('c', secret_, hello_, nonce);
  std::copy(proof.begin(), proof.end(), answer.begin() + at::body);
  out_.send(answer);
  return {};
}

Status HandshakeClient::ended() const {
  if (finished_ || !failure_.ok()) {
    return failure_;
  }
  return ended_after(in_, "agent's challenge");
}

Result<HandshakeServer> HandshakeServer::create(const Secret& secret, std::uint64_t job,
                                                std::int32_t ranks, NodeId node) {
  TESSERA_RETURN_IF_ERROR(check_secret(secret));
  return HandshakeServer(secret, job, ranks, node);
}

Result<HandshakeProgress> HandshakeServer::feed(std::span<const std::byte> in) {
  const std::size_t given = in.size();
  bool complete = true;  // more than one message may have come
  while (failure_.ok() && !finished_ && complete) {
    complete = false;
    failure_ = collect(in_, in, greeted_ ? Type::answer : Type::hello, false, complete);
    if (failure_.ok() && complete) {
      failure_ = check_message();
    } else if (!failure_.ok() && speaks_another_version(in_)) {
      out_.send(refusal(Reason::version));
    }
  }
  TESSERA_RETURN_IF_ERROR(failure_);
  return HandshakeProgress{given - in.size(), finished_};
}

Status HandshakeServer::check_message() {
  if (!greeted_) {
    TESSERA_RETURN_IF_ERROR(check_hello());
    challenge();
    greeted_ = true;
    in_.size = 0;
    return {};
  }
  TESSERA_RETURN_IF_ERROR(check_answer());
  finished_ = true;
  return {};
}

Status HandshakeServer::check_hello() {
  std::copy_n(in_.bytes.begin(), hello_bytes, hello_.begin());
  const auto job = load<std::uint64_t>(hello_.data() + at::body);
  origin_ = WorldRank{load<std::int32_t>(hello_.data() + at::hello_origin)};
  const auto node = load<std::int32_t>(hello_.data() + at::hello_node);
  if (job != job_) {
    out_.send(refusal(Reason::job));
    return reject(
        fmt::format("a client of job {:016x} connected to the agent of job {:016x}", job, job_));
  }
  if (node != node_.value) {
    out_.send(refusal(Reason::node));
    return reject(fmt::format("a client that wants node {} connected to the agent of node {}", node,
                              node_.value));
  }
  if (origin_.value < 0 || origin_.value >= ranks_) {
    out_.send(refusal(Reason::rank));
    return reject(fmt::format("a client says that it is rank {} of a job of {} ranks",
                              origin_.value, ranks_));
  }
  return {};
}

void HandshakeServer::challenge() noexcept {
  randombytes_buf(nonce_.data(), nonce_.size());
  std::array<std::byte, challenge_bytes> message = {};
  begin(message.data(), Type::challenge);
  std::copy(nonce_.begin(), nonce_.end(), message.begin() + at::body);
  const auto proof = proof_of('s', secret_, hello_, nonce_);
  std::copy(proof.begin(), proof.end(), message.begin() + at::challenge_proof);
  out_.send(message);
}

Status HandshakeServer::check_answer() {
  if (!proves(in_.bytes.data() + at::body, 'c', secret_, hello_, nonce_)) {
    out_.send(refusal(Reason::proof));
    return reject(
        fmt::format("a client that says it is rank {} does not know this job's secret, "
                    "or replays an old connection",
                    origin_.value));
  }
  return {};
}

Status HandshakeServer::ended() const {
  if (finished_ || !failure_.ok()) {
    return failure_;
  }
  return ended_after(in_, greeted_ ? "client's answer" : "client's hello");
}

}  // namespace tessera::rma::server
