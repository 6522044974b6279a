// SPDX-License-Identifier: BSD-3-Clause
#include "rma/server/client.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <pthread.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <utility>

#include "rma/kernels/copy.hpp"
#include "rma/kernels/walk.hpp"
#include "rma/server/conversation.hpp"
#include "rma/server/parts.hpp"

namespace tessera::rma::server {
namespace {

using Clock = std::chrono::steady_clock;

// What one link may keep unsent before those who post more have to wait.
constexpr std::size_t most_kept_bytes = 4U << 20U;

// An answer that may fill the socket's buffers before a thread that naps looks at it.
constexpr std::size_t least_stream_bytes = std::size_t{16} * 1024;

// How long the communication thread lets small requests and answers gather.
constexpr std::chrono::microseconds gathering_time{50};

// Other threads may take the answer that a sleeping one waits for; it looks again this often.
constexpr std::chrono::nanoseconds longest_sleep = std::chrono::milliseconds(1);

std::vector<std::byte> join(const FrameHeader& header, std::span<const std::byte> descriptor) {
  const auto fixed = encode(header);
  std::vector<std::byte> head(header_bytes + descriptor.size());
  std::copy(fixed.begin(), fixed.end(), head.begin());
  std::copy(descriptor.begin(), descriptor.end(), head.begin() + header_bytes);
  return head;
}

std::int64_t sign_extended(std::uint64_t word, int bytes) noexcept {
  return bytes == 4 ? std::int64_t{static_cast<std::int32_t>(static_cast<std::uint32_t>(word))}
                    : static_cast<std::int64_t>(word);
}

// Stores packed bytes where the answer's receiver wants them.
void unpack(const Awaited& awaited, std::byte* packed) noexcept {
  if (awaited.is_shaped) {
    kernels::copy_shape(awaited.bytes, packed, with_packed_remote(awaited.shape),
                        kernels::Direction::from_remote);
    return;
  }
  for (const Fragment& each : awaited.fragments) {
    kernels::copy_small(each.local, packed, each.bytes);
    packed += each.bytes;
  }
  if (awaited.bytes != nullptr) {
    kernels::copy_small(awaited.bytes, packed, awaited.size);
  }
}

}  // namespace

// --- Link
// -----------------------------------------------------------------------------------------

Link::Link(Client& client, NodeId node, std::unique_ptr<Channel> channel)
    : client_(client),
      node_(node),
      channel_(std::move(channel)),
      writer_(*channel_),
      reader_(*channel_, *this) {}

Link::~Link() {
  lose(Status::error(Code::closed, "the job was stopped"));
}

Status Link::loss() const {
  const std::lock_guard guard(table_);
  return reason_;
}

Status Link::post(const FrameHeader& header, std::span<const std::byte> descriptor,
                  std::span<const iovec> body, Completion* sent, When when) {
  return post_with([&] {
    return descriptor.empty() ? writer_.post(encode(header), body, sent, when)
                              : writer_.post(join(header, descriptor), body, sent, when);
  });
}

Status Link::post(const FrameHeader& header, std::span<const std::byte> descriptor,
                  std::vector<std::byte> body, When when) {
  return post_with([&] { return writer_.post(join(header, descriptor), std::move(body), when); });
}

Link::When Link::when() {
  constexpr std::int64_t pause_ns = 25'000;  // longer than it takes to send one
  constexpr int least_burst = 4;
  if (is_awaiting()) {
    return When::soon;
  }
  const std::int64_t now = Clock::now().time_since_epoch().count();
  const std::int64_t before = last_request_.exchange(now, std::memory_order_relaxed);
  if (now - before > pause_ns) {
    burst_.store(0, std::memory_order_relaxed);
    return When::now;
  }
  if (burst_.fetch_add(1, std::memory_order_relaxed) < least_burst) {
    return When::now;
  }
  client_.stir();
  return When::soon;
}

// Requires: sending_ is locked.
void Link::note_unsent() {
  unsent_ = !writer_.is_empty();
  held_up_ = writer_.is_held_up();
}

template <class Post>
Status Link::post_with(Post&& post_frame) {
  wait_for_room();
  Status status;
  {
    const std::lock_guard guard(sending_);
    if (is_lost()) {
      return loss();
    }
    status = post_frame();
    note_unsent();
  }
  if (!status.ok()) {
    // The reason may have come already: an agent says when it ends in good order.
    progress();
  }
  if (status.ok()) {
    return status;
  }
  return is_lost() ? loss() : client_.loss_of(node_, status);
}

void Link::wait_for_room() {
  Completion never;
  never.begin();
  while (!is_lost()) {
    {
      const std::lock_guard guard(sending_);
      if (writer_.kept_bytes() < most_kept_bytes) {
        break;
      }
    }
    client_.wait(never, longest_sleep);
  }
  never.end({});
}

Status Link::ask(FrameHeader header, std::span<const std::byte> descriptor, Awaited awaited) {
  header.operation = enter(std::move(awaited));
  const When when = awaiting_.load() > 1 ? When::soon : When::now;
  Status status = post(header, descriptor, {}, nullptr, when);
  if (!status.ok()) {
    // Unless lose() was faster, which ended it then.
    auto mine = take(header.operation);
    return mine.ok() ? std::move(status) : Status();
  }
  return {};
}

std::uint64_t Link::enter(Awaited awaited) {
  const std::lock_guard guard(table_);
  if (free_slots_.empty()) {
    free_slots_.push_back(static_cast<std::uint32_t>(slots_.size()));
    slots_.emplace_back();
  }
  const std::uint32_t at = free_slots_.back();
  free_slots_.pop_back();
  Slot& slot = slots_[at];
  streams_.fetch_add(awaited.size >= least_stream_bytes ? 1 : 0, std::memory_order_relaxed);
  slot.awaited = std::move(awaited);
  slot.is_used = true;
  // Never 0: that is the operation of requests which are not answered when they succeed.
  ++slot.generation;
  awaiting_.fetch_add(1);
  return std::uint64_t{slot.generation} << 32U | at;
}

Result<Awaited*> Link::look_at(std::uint64_t operation) {
  const std::lock_guard guard(table_);
  const std::size_t at = operation & 0xffff'ffffU;
  if (at >= slots_.size() || !slots_[at].is_used || slots_[at].generation != operation >> 32U) {
    return Status::error(Code::protocol, fmt::format("{} answered operation {:#x}, which nobody "
                                                     "waits for",
                                                     channel_->peer(), operation));
  }
  return &slots_[at].awaited;  // a deque's elements stay where they are
}

Result<Awaited> Link::take(std::uint64_t operation) {
  TESSERA_ASSIGN_OR_RETURN(Awaited * awaited, look_at(operation));
  const std::lock_guard guard(table_);
  const std::size_t at = operation & 0xffff'ffffU;
  slots_[at].is_used = false;
  free_slots_.push_back(static_cast<std::uint32_t>(at));
  awaiting_.fetch_sub(1);
  streams_.fetch_sub(awaited->size >= least_stream_bytes ? 1 : 0, std::memory_order_relaxed);
  return std::exchange(*awaited, {});
}

void Link::wait(Completion& done) {
  while (!done.done()) {
    client_.wait(done, longest_sleep);
  }
}

void Link::say_bye() {
  const FrameHeader bye{.kind = Kind::bye, .origin = client_.options().rank};
  Completion sent;
  sent.begin();
  // A peer that is lost needs no farewell.
  if (post(bye, {}, {}, &sent, When::now).ok()) {
    wait(sent);
  }
}

int Link::progress() {
  if (is_lost()) {
    return 0;
  }
  if (has_unsent()) {
    const std::unique_lock guard(sending_, std::try_to_lock);
    if (guard.owns_lock()) {
      // What is wrong with the channel is found when it is read, too.
      static_cast<void>(writer_.flush());
      note_unsent();
    }
  }
  const std::unique_lock guard(receiving_, std::try_to_lock);
  // Another thread may have found meanwhile that it is lost, and told those whose memory the
  // answers were for.
  if (!guard.owns_lock() || is_lost()) {
    return 0;
  }
  answers_ = 0;
  auto came = reader_.advance();
  if (!came.ok()) {
    lose(std::move(came).status());
  }
  return answers_;
}

void Link::check_host() {
  if (!is_lost()) {
    if (const Status status = channel_->check(); !status.ok()) {
      const std::lock_guard guard(receiving_);
      lose(status);
    }
  }
}

void Link::lose(const Status& reason) {
  const Status told = client_.loss_of(node_, reason);
  std::vector<Completion*> waiting;
  {
    const std::lock_guard guard(table_);
    if (is_lost()) {
      return;
    }
    // The reason first: whoever finds the link lost returns it.
    reason_ = told;
    lost_.store(true, std::memory_order_release);
    for (Slot& slot : slots_) {
      if (std::exchange(slot.is_used, false)) {
        waiting.push_back(slot.awaited.done);
        slot.awaited = {};
      }
    }
    awaiting_ = 0;
    streams_ = 0;
  }
  for (Completion* const each : waiting) {
    each->end(told);
  }
  // Nobody sends any more what had no room; who waits for that has to know.
  const std::lock_guard guard(sending_);
  writer_.fail(told);
  note_unsent();
}

Status Link::begin(const FrameHeader& header, std::span<const std::byte>,
                   std::vector<iovec>& into) {
  if (header.kind == Kind::bye) {
    return Status::error(Code::closed, "it has left the job");
  }
  TESSERA_RETURN_IF_ERROR(check_answer(header));
  is_in_place_ = false;
  packed_.clear();
  if (header.kind == Kind::data) {
    TESSERA_ASSIGN_OR_RETURN(Awaited * awaited, look_at(header.operation));
    if (awaited->size != header.payload_bytes || header.payload_bytes == 0) {
      return Status::error(Code::protocol,
                           fmt::format("{} sent {} bytes where {} were asked for", channel_->peer(),
                                       header.payload_bytes, awaited->size));
    }
    place_payload(*awaited, header.payload_bytes, into);
  } else if (header.payload_bytes > 0) {
    packed_.resize(header.payload_bytes);
    into.push_back({packed_.data(), packed_.size()});
  }
  return {};
}

// An error here ends the conversation: no agent of ours sends such a frame.
Status Link::check_answer(const FrameHeader& header) const {
  if (!is_answer(header.kind)) {
    return Status::error(Code::protocol, fmt::format("{} sent a request ({}) where answers are "
                                                     "expected",
                                                     channel_->peer(), to_string(header.kind)));
  }
  const std::size_t most = header.kind == Kind::data     ? max_direct_bytes
                           : header.kind == Kind::failed ? max_failure_bytes
                                                         : 0;
  if (header.payload_bytes > most) {
    return Status::error(
        Code::protocol,
        fmt::format("{} sent {} bytes at once with {}; the most is {}", channel_->peer(),
                    header.payload_bytes, to_string(header.kind), most));
  }
  if (header.descriptor_bytes > 0) {
    return Status::error(Code::protocol, fmt::format("{} sent a descriptor with an answer ({})",
                                                     channel_->peer(), to_string(header.kind)));
  }
  return {};
}

void Link::place_payload(Awaited& awaited, std::size_t bytes, std::vector<iovec>& into) {
  is_in_place_ = true;
  if (awaited.is_shaped && awaited.shape.run_bytes >= least_piece_bytes) {
    kernels::for_each_run(awaited.shape, [&](std::int64_t local, std::int64_t) {
      into.push_back({awaited.bytes + local, awaited.shape.run_bytes});
    });
  } else if (!awaited.is_shaped && awaited.fragments.empty()) {
    into.push_back({awaited.bytes, bytes});
  } else if (!awaited.fragments.empty() && are_long(awaited.fragments)) {
    for (const Fragment& each : awaited.fragments) {
      into.push_back({each.local, each.bytes});
    }
  } else {
    is_in_place_ = false;
    packed_.resize(bytes);
    into.push_back({packed_.data(), packed_.size()});
  }
}

Status Link::end(const FrameHeader& header) {
  ++answers_;
  if (header.operation == 0 || header.operation == unwatched_operation) {
    if (header.kind != Kind::failed) {
      return {};
    }
    Status told = decode_failure(packed_);
    if (told.code() == Code::protocol) {
      return told;  // it closes this conversation, and says why
    }
    if (header.operation == unwatched_operation && told.code() == Code::closed) {
      return {};
    }
    client_.options().stray_error(std::move(told));
    return {};
  }
  TESSERA_ASSIGN_OR_RETURN(Awaited awaited, take(header.operation));
  Status result = header.kind == Kind::failed ? decode_failure(packed_) : deliver(header, awaited);
  if (result.ok() && awaited.fenced > 0) {
    note_fenced(awaited.fenced);
  }
  const bool is_wrong = result.code() == Code::protocol;
  awaited.done->end(result);
  return is_wrong ? std::move(result) : Status();
}

// Another thread's fence may have covered more meanwhile.
void Link::note_fenced(std::uint64_t count) noexcept {
  std::uint64_t before = fenced_changes.load();
  while (before < count && !fenced_changes.compare_exchange_weak(before, count)) {
  }
}

// What was asked for has to come with the answer: who waits takes it for his.
Status Link::deliver(const FrameHeader& header, Awaited& awaited) {
  alignas(8) std::uint64_t word = header.words[0];
  if (header.kind == Kind::data) {
    if (!is_in_place_) {
      unpack(awaited, packed_.data());
    }
  } else if (header.kind == Kind::value && awaited.word != nullptr) {
    *awaited.word = sign_extended(word, awaited.word_bytes);
  } else if (header.kind == Kind::value && awaited.size > 0 && awaited.size <= sizeof(word)) {
    unpack(awaited, reinterpret_cast<std::byte*>(&word));
  } else if (header.kind != Kind::done || awaited.size > 0 || awaited.word != nullptr) {
    return Status::error(Code::protocol, fmt::format("{} answered with {} where {} were asked for",
                                                     channel_->peer(), to_string(header.kind),
                                                     awaited.word != nullptr
                                                         ? std::string("a word")
                                                         : fmt::format("{} bytes", awaited.size)));
  }
  return {};
}

// --- Client
// ---------------------------------------------------------------------------------------

Client::Client(ClientOptions options)
    : options_(std::move(options)),
      by_node_(options_.agents.size()),
      active_(options_.agents.size()) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { communicate(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Client::~Client() {
  is_ending_ = true;
  {
    const std::lock_guard guard(sleep_mutex_);
    is_stirred_ = true;
  }
  work_.notify_all();
  thread_.join();
}

Result<Link*> Client::link_to(NodeId node) {
  return link_to(node, options_.connect_timeout);
}

Result<Link*> Client::link_to(NodeId node, std::chrono::milliseconds timeout) {
  Peer& peer = by_node_[static_cast<std::size_t>(node.value)];
  if (Link* const link = peer.ready.load(std::memory_order_acquire)) {
    return link;
  }
  // Not under links_mutex_: a node that doesn't answer concerns those only who want it.
  const std::lock_guard guard(peer.connecting);
  if (peer.link == nullptr) {
    TESSERA_RETURN_IF_ERROR(peer.gone);
    if (Status made = connect(node, peer, timeout); !made.ok()) {
      // An agent listened before the job had started, and listens once in its life.
      const bool is_final = made.code() == Code::peer_lost || made.code() == Code::closed;
      peer.gone = is_final ? made : Status();
      return made;
    }
  }
  return peer.link.get();
}

Status Client::connect(NodeId node, Peer& peer, std::chrono::milliseconds timeout) {
  const Status left = Status::error(Code::closed, "it has left the job");
  if (options_.has_left(node)) {
    return loss_of(node, left);
  }
  auto channel = introduce(node, timeout);
  if (!channel.ok()) {
    // It may have left meanwhile: those that do tell everybody first.
    return loss_of(node, options_.has_left(node) ? left : channel.status());
  }
  peer.link = std::make_unique<Link>(*this, node, std::move(channel).take());
  {
    const std::lock_guard guard(links_mutex_);
    const std::size_t count = active_count_.load(std::memory_order_relaxed);
    active_[count] = peer.link.get();
    active_count_.store(count + 1, std::memory_order_release);
  }
  peer.ready.store(peer.link.get(), std::memory_order_release);
  return {};
}

Status Client::loss_of(NodeId node, const Status& reason) const {
  const auto at = static_cast<std::size_t>(node.value);
  if (reason.code() != Code::peer_lost || at >= options_.carriers.size()) {
    return Status::error(reason.code(), fmt::format("node {}: {}", node.value, reason.message()));
  }
  const WorldRank carrier = options_.carriers[at];
  return Status::error_at(carrier, Code::peer_lost,
                          fmt::format("node {} is lost with rank {}, whose process served it: {}",
                                      node.value, carrier.value, reason.message()));
}

// An agent that closes in the middle of a handshake has too many strangers just now, or ends: then
// nobody listens any more.
Result<std::unique_ptr<Channel>> Client::introduce(NodeId node,
                                                   std::chrono::milliseconds timeout) const {
  constexpr std::chrono::milliseconds pause{10};
  const TcpAddress address = options_.agents[static_cast<std::size_t>(node.value)];
  const auto deadline = Clock::now() + timeout;
  while (true) {
    TESSERA_ASSIGN_OR_RETURN(auto channel, connect_tcp(address, timeout));
    Status met = shake_hands(*channel, node, deadline);
    if (met.ok()) {
      return channel;
    }
    if (met.code() != Code::peer_lost) {
      return met;
    }
    if (Clock::now() > deadline) {
      return Status::error(Code::unreachable, met.message());
    }
    std::this_thread::sleep_for(pause);
  }
}

// On a channel of which nobody else knows yet.
Status Client::shake_hands(Channel& channel, NodeId node, Clock::time_point deadline) const {
  TESSERA_ASSIGN_OR_RETURN(
      auto handshake,
      HandshakeClient::create(options_.secret,
                              {.job = options_.job, .origin = options_.rank, .node = node}));
  bool is_finished = false;
  while (!is_finished || !handshake.outgoing().empty()) {
    const auto out = handshake.outgoing();
    if (!out.empty()) {
      const iovec piece{const_cast<std::byte*>(out.data()), out.size()};
      TESSERA_ASSIGN_OR_RETURN(const std::size_t sent, channel.send(std::span(&piece, 1)));
      handshake.sent(sent);
      continue;
    }
    if (Clock::now() > deadline) {
      return Status::error(
                 Code::timed_out,
                 fmt::format("the agent at {} did not introduce itself in time", channel.peer()))
          .hint(
              "its process is stopped, or can open no more files (ulimit -n): look at its output");
    }
    pollfd waiting{.fd = channel.descriptor(), .events = POLLIN, .revents = 0};
    poll(&waiting, 1, 100);
    std::array<std::byte, challenge_bytes> bytes;
    const iovec room{bytes.data(), bytes.size()};
    TESSERA_ASSIGN_OR_RETURN(const std::size_t came, channel.receive(std::span(&room, 1)));
    // The server says nothing of its own accord, so nothing of the frames can be among this.
    TESSERA_ASSIGN_OR_RETURN(const Progress progress,
                             handshake.feed(std::span<const std::byte>(bytes).first(came)));
    is_finished = progress.finished;
  }
  return {};
}

void Client::close() noexcept {
  for (Link* const link : links()) {
    if (!link->is_lost()) {
      link->say_bye();
    }
  }
}

int Client::progress() {
  int answers = 0;
  for (Link* const link : links()) {
    answers += link->progress();
  }
  return answers;
}

bool Client::is_busy() const {
  const auto all = links();
  return std::any_of(all.begin(), all.end(), [](const Link* link) {
    return !link->is_lost() && (link->is_awaiting() || link->has_unsent());
  });
}

bool Client::is_streaming() const {
  const auto all = links();
  return std::any_of(all.begin(), all.end(), [](const Link* link) { return link->is_streaming(); });
}

// By one of those that wait, now and then.
void Client::check_hosts() {
  constexpr std::chrono::seconds every{5};
  const auto now = Clock::now().time_since_epoch();
  auto last = checked_.load();
  if (now - last >= every && checked_.compare_exchange_strong(last, now)) {
    for (Link* const link : links()) {
      link->check_host();
    }
  }
}

void Client::sleep_on_sockets(std::chrono::nanoseconds period) {
  check_hosts();
  std::vector<pollfd> sockets;
  for (const Link* const link : links()) {
    if (!link->is_lost()) {
      sockets.push_back(
          {.fd = link->descriptor(),
           .events = static_cast<short>(link->has_unsent() ? POLLIN | POLLOUT : POLLIN),
           .revents = 0});
    }
  }
  const timespec timeout{.tv_sec = 0, .tv_nsec = std::min(period, longest_sleep).count()};
  ppoll(sockets.data(), sockets.size(), &timeout, nullptr);
}

bool Client::wait(Completion& done, std::chrono::nanoseconds period) {
  waiting_.fetch_add(1);
  const auto start = Clock::now();
  while (!done.done() && progress() == 0 && Clock::now() - start < options_.spin) {
  }
  if (!done.done()) {
    sleep_on_sockets(period);
    progress();
  }
  last_waited_ = Clock::now().time_since_epoch().count();
  waiting_.fetch_sub(1);
  return done.done();
}

// Those who wait look at their operation again and again: between two looks they still wait.
bool Client::is_waited_for() const {
  constexpr std::chrono::nanoseconds between_looks = std::chrono::microseconds(200);
  return waiting_.load() > 0 ||
         Clock::now().time_since_epoch().count() - last_waited_.load() < between_looks.count();
}

void Client::stir() {
  if (is_asleep_.load() && waiting_.load() == 0) {
    {
      const std::lock_guard guard(sleep_mutex_);
      is_stirred_ = true;
    }
    work_.notify_all();
  }
}

// The communication thread. Those who wait do its work for it.
void Client::communicate() noexcept {
  pthread_setname_np(pthread_self(), "tessera-comm");
  while (!is_ending_) {
    if (is_busy()) {
      if (is_waited_for()) {
        std::this_thread::sleep_for(longest_sleep);
        continue;
      }
      if (!is_streaming()) {
        std::this_thread::sleep_for(gathering_time);
      }
      if (progress() == 0) {
        sleep_on_sockets(longest_sleep);
      }
      continue;
    }
    std::unique_lock guard(sleep_mutex_);
    is_asleep_ = true;
    work_.wait(guard, [&] { return is_stirred_; });
    is_stirred_ = false;
    is_asleep_ = false;
  }
}

}  // namespace tessera::rma::server
