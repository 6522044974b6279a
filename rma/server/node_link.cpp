// SPDX-License-Identifier: BSD-3-Clause
#include "rma/server/node_link.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "rma/node/growing_nap.hpp"
#include "rma/server/lock_keeper.hpp"
#include "rma/server/visit.hpp"
#include "rma/within_memory.hpp"

namespace tessera::rma::server {

using detail::DirectorySlice;
using detail::Fate;
using detail::Invitation;
using detail::LockOutcome;

ServerLink::ServerLink(std::shared_ptr<Client> client, std::shared_ptr<detail::Node> node,
                       const detail::NodeMap& nodes,
                       std::shared_ptr<const Farewells> farewells) noexcept
    : client_(std::move(client)),
      node_(std::move(node)),
      nodes_(nodes),
      farewells_(std::move(farewells)),
      directory_(node_->arena(), node_->lock_context()) {}

WorldRank ServerLink::first_rank_of(NodeId node) const noexcept {
  return nodes_.first_rank_of(node);
}

Status ServerLink::publish(RegionId memory, const detail::PublishedMemory& piece) {
  using Use = DirectorySlice::Use;
  const DirectorySlice slice{.owner = node_->ranks().front(),
                             .place = piece.offset,
                             .bytes = piece.bytes,
                             .use = piece.lock_bytes > 0 ? Use::locks : Use::mailboxes,
                             .unit = std::max<std::uint64_t>(piece.lock_bytes, 1)};
  return directory_.insert(memory, std::span(&slice, 1));
}

void ServerLink::withdraw(RegionId memory) noexcept {
  const DirectorySlice slice{.owner = node_->ranks().front()};
  directory_.remove(memory, std::span(&slice, 1));
}

Status ServerLink::deliver(NodeId node, RegionId memory, std::uint64_t offset,
                           std::span<const std::byte> bytes, std::uint64_t flag_offset,
                           std::uint64_t flag) {
  TESSERA_ASSIGN_OR_RETURN(Link * link, client_->link_to(node));
  FrameHeader header{.kind = Kind::deliver,
                     .payload_bytes = bytes.size(),
                     .origin = client_->options().rank,
                     .target = first_rank_of(node),
                     .operation = unwatched_operation,
                     .region = memory,
                     .offset = offset,
                     .words = {flag_offset, flag}};
  return link->post_copy(header, bytes, Link::When::now);
}

// A rank's inbox may be full. The agent serves others, too, and does not wait for room, so this
// retries.
Status ServerLink::invite(WorldRank rank, const Invitation& invitation) {
  detail::GrowingNap pause(std::chrono::milliseconds(1), detail::longest_nap);
  const FrameHeader header{.kind = Kind::invite,
                           .origin = client_->options().rank,
                           .target = rank,
                           .region = RegionId{invitation.memory},
                           .offset = invitation.offset,
                           .words = {invitation.key, 0}};
  while (true) {
    TESSERA_ASSIGN_OR_RETURN(const std::uint64_t is_in, ask_word(nodes_.node_of(rank), header));
    if (is_in != 0) {
      return {};
    }
    std::this_thread::sleep_for(pause.next());
  }
}

Status ServerLink::raise_flag(WorldRank rank, RegionId region, std::uint64_t offset,
                              std::int32_t value) {
  TESSERA_ASSIGN_OR_RETURN(Link * link, client_->link_to(nodes_.node_of(rank)));
  const FrameHeader header{.kind = Kind::flag,
                           .origin = client_->options().rank,
                           .target = rank,
                           .region = region,
                           .offset = offset,
                           .words = {static_cast<std::uint32_t>(value), 0}};
  return link->post(header, {}, {}, nullptr, Link::When::now);
}

Result<std::uint64_t> ServerLink::notify(WorldRank rank) {
  const FrameHeader header{.kind = Kind::notify, .origin = client_->options().rank, .target = rank};
  return ask_word(nodes_.node_of(rank), header);
}

FrameHeader ServerLink::lock_request(Kind kind, NodeId node, RegionId memory,
                                     std::uint64_t offset) const {
  return {.kind = kind,
          .origin = client_->options().rank,
          .target = first_rank_of(node),
          .region = memory,
          .offset = offset};
}

Result<LockOutcome> ServerLink::try_lock(NodeId node, RegionId memory, std::uint64_t offset) {
  FrameHeader request = lock_request(Kind::lock, node, memory, offset);
  request.words[0] = lock_without_waiting;
  TESSERA_ASSIGN_OR_RETURN(const std::uint64_t word, ask_word(node, request));
  return lock_outcome(word);
}

Status ServerLink::unlock(NodeId node, RegionId memory, std::uint64_t offset) {
  TESSERA_ASSIGN_OR_RETURN(Link * link, client_->link_to(node));
  Status posted = link->post(lock_request(Kind::unlock, node, memory, offset), {}, {}, nullptr,
                             Link::When::now);
  link->note_unlocked();
  return posted;
}

Result<Fate> ServerLink::fate_of(WorldRank rank) {
  return detail::within_memory([&] { return ask_fate_of(rank); });
}

Result<Fate> ServerLink::ask_fate_of(WorldRank rank) {
  const NodeId node = nodes_.node_of(rank);
  if (const auto known = farewells_->fate_of(rank)) {
    return *known;
  }
  const FrameHeader header{.kind = Kind::probe, .origin = client_->options().rank, .target = rank};
  const auto fate = ask_in_passing(node, header);
  if (fate.ok()) {
    return *fate <= static_cast<std::uint64_t>(Fate::died) ? static_cast<Fate>(*fate) : Fate::died;
  }
  if (detail::is_own_lack(fate.status())) {
    return fate.status();
  }
  // Its node may have left meanwhile, with a shutdown notice before its agent ended.
  const auto known = farewells_->fate_of(rank);
  return known ? Result<Fate>(*known) : fate_of_silent(rank, fate.status());
}

// No agent responds for the rank. An agent listens as long as its process lives. So if there was a
// connection, and the port is closed now or belongs to another program, that process has ended.
Result<Fate> ServerLink::fate_of_silent(WorldRank rank, const Status& failure) {
  const NodeId node = nodes_.node_of(rank);
  if (const Link* const link = client_->made_link(node);
      link != nullptr && !link->is_lost() && link->is_connected()) {
    return Fate::unknown;  // possibly stopped
  }
  bool is_known = client_->contact(node).is_lost;
  {
    const std::lock_guard guard(losses_mutex_);
    const auto told = losses_.find(rank);
    if (told != losses_.end() && told->second) {
      return Fate::died;
    }
    is_known = is_known || told != losses_.end();
  }
  const Code code = failure.code();
  const bool is_silent = code == Code::unreachable || code == Code::timed_out;
  if (is_known) {
    return is_silent ? Result<Fate>(Status::error_at(rank, Code::peer_lost, failure.message()))
                     : Result<Fate>(Fate::died);
  }
  const auto patience = code == Code::unreachable
                            ? std::chrono::nanoseconds(longest_silence)
                            : std::chrono::nanoseconds(client_->options().connect_timeout);
  return is_silent && client_->silence_of(node) < patience ? Result<Fate>(Fate::unknown)
                                                           : Result<Fate>(failure);
}

void ServerLink::note_loss(WorldRank rank, bool has_died) noexcept {
  detail::within_memory([&]() -> Status {
    const std::lock_guard guard(losses_mutex_);
    bool& has = losses_[rank];
    has = has || has_died;
    return {};
  }).ignore("the loss is also found later without this record");
}

// The caller waits in a team's collective and must keep checking its own node.
Result<std::optional<std::uint32_t>> ServerLink::read_word(NodeId node, RegionId memory,
                                                           std::uint64_t offset) {
  const FrameHeader header{.kind = Kind::get,
                           .origin = client_->options().rank,
                           .target = first_rank_of(node),
                           .region = memory,
                           .offset = offset,
                           .words = {0, sizeof(std::uint32_t)}};
  TESSERA_ASSIGN_OR_RETURN(Link * link, client_->link_to(node));
  const auto word =
      ask_until(std::chrono::steady_clock::now() + patience_of_query(), *link, header);
  if (word.ok()) {
    return std::optional(static_cast<std::uint32_t>(*word));
  }
  // An agent that passes on requests to the node may be lost while the node itself is alive.
  const Code code = word.status().code();
  return (code == Code::timed_out || code == Code::peer_lost) && !link->is_lost()
             ? Result<std::optional<std::uint32_t>>(std::optional<std::uint32_t>())
             : word.status();
}

Status ServerLink::connect(NodeId node) {
  return client_->link_to(node).status();
}

namespace {

// `way` is a Link or a wrapper whose wait() receives the reply.
template <class Way>
Result<std::uint64_t> ask_for_word(Way& way, Link& link, const FrameHeader& header) {
  Completion done;
  done.begin();
  std::int64_t word = 0;
  Awaited awaited;
  awaited.done = &done;
  awaited.word = &word;
  awaited.is_lock = header.kind == Kind::lock;
  TESSERA_RETURN_IF_ERROR(link.ask(header, {}, std::move(awaited)));
  way.wait(done);
  TESSERA_RETURN_IF_ERROR(done.take_error());
  return static_cast<std::uint64_t>(word);
}

// Waits for a query, which has a time limit.
struct VisitingWay {
  Visit& visit;
  Visit::TimePoint deadline;
  void wait(Completion& done) const { visit.wait(done, deadline); }
};

// Waits and calls `look` in between.
struct LookingWay {
  Client& client;
  const std::function<void()>& look;
  void wait(Completion& done) const {
    detail::GrowingNap nap(longest_sleep, detail::longest_nap);
    while (!client.wait(done, nap.next())) {
      look();
    }
  }
};

}  // namespace

Result<LockOutcome> ServerLink::lock(NodeId node, RegionId memory, std::uint64_t offset,
                                     const std::function<void()>& look) {
  TESSERA_ASSIGN_OR_RETURN(Link * link, client_->link_to(node));
  const LookingWay way{*client_, look};
  TESSERA_ASSIGN_OR_RETURN(
      const std::uint64_t word,
      ask_for_word(way, *link, lock_request(Kind::lock, node, memory, offset)));
  return lock_outcome(word);
}

Result<std::uint64_t> ServerLink::ask_word(NodeId node, const FrameHeader& header) {
  TESSERA_ASSIGN_OR_RETURN(Link * link, client_->link_to(node));
  return ask_for_word(*link, *link, header);
}

std::chrono::milliseconds ServerLink::patience_of_query() const {
  constexpr std::chrono::milliseconds most{2'000};
  constexpr int parts = 5;  // of the time that an operation has to connect
  return std::min(most, client_->options().connect_timeout / parts);
}

// A rank that waits long checks every node now and then, and does not need a link to each. A link
// that is lost says nothing about the ranks there.
Result<std::uint64_t> ServerLink::ask_in_passing(NodeId node, const FrameHeader& header) {
  const auto patience = patience_of_query();
  const auto deadline = std::chrono::steady_clock::now() + patience;
  Link* const link = client_->made_link(node);
  if (link != nullptr && !link->is_lost() && link->is_connected()) {
    auto word = ask_until(deadline, *link, header);
    if (word.ok() || !link->is_lost()) {
      return word;
    }
  }
  // Failing to connect is evidence about the node; losing the new connection again is not.
  while (true) {
    TESSERA_ASSIGN_OR_RETURN(Visit visit, Visit::pay(*client_, node, patience));
    VisitingWay way{visit, deadline};
    auto word = ask_for_word(way, visit.link(), header);
    if (word.ok() || word.status().code() != Code::peer_lost) {
      return word;
    }
    if (std::chrono::steady_clock::now() > deadline) {
      return Status::error(Code::unreachable, word.status().message());
    }
  }
}

// The agent may be stopped. A late reply goes to memory that is kept until then.
Result<std::uint64_t> ServerLink::ask_until(Visit::TimePoint deadline, Link& link,
                                            const FrameHeader& header) {
  struct Question {
    Completion done;
    std::int64_t word = 0;
  };
  const auto question = std::make_shared<Question>();
  question->done.begin();
  Awaited awaited;
  awaited.done = &question->done;
  awaited.word = &question->word;
  awaited.held = question;
  TESSERA_RETURN_IF_ERROR(link.ask(header, {}, std::move(awaited)));
  detail::GrowingNap nap(longest_sleep, detail::longest_nap);
  while (!client_->wait(question->done, nap.next())) {
    if (std::chrono::steady_clock::now() > deadline) {
      return Status::error(Code::timed_out, "the agent does not answer at present");
    }
  }
  TESSERA_RETURN_IF_ERROR(question->done.take_error());
  return static_cast<std::uint64_t>(question->word);
}

}  // namespace tessera::rma::server
