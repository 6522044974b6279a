// SPDX-License-Identifier: BSD-3-Clause
#include "rma/mpi/node_link.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "rma/mpi/byte_locks.hpp"
#include "rma/mpi/window_locks.hpp"
#include "rma/node/growing_nap.hpp"
#include "rma/within_memory.hpp"

namespace tessera::rma::mpi {

using detail::DirectorySlice;
using detail::Fate;
using detail::GuestFate;
using detail::LockOutcome;

namespace {

Status not_by_node() {
  return Status::error(Code::internal, "locks of transport mpi lie in windows, not in node memory");
}

}  // namespace

MpiLink::MpiLink(std::shared_ptr<Progress> progress, std::shared_ptr<WindowPool> pool,
                 std::shared_ptr<detail::Node> node, const detail::NodeMap& nodes,
                 bool locks_by_bytes, std::shared_ptr<LeavingLocks> leaving,
                 std::function<Status(std::optional<WorldRank>)> fence)
    : progress_(std::move(progress)),
      pool_(std::move(pool)),
      node_(std::move(node)),
      nodes_(nodes),
      locks_by_bytes_(locks_by_bytes),
      leaving_(std::move(leaving)),
      fence_(std::move(fence)),
      directory_(node_->arena(), node_->lock_context()) {}

Status MpiLink::publish(RegionId memory, const detail::PublishedMemory& piece) {
  const DirectorySlice slice{.owner = node_->ranks().front(),
                             .place = piece.offset,
                             .bytes = piece.bytes,
                             .use = DirectorySlice::Use::mailboxes};
  return directory_.insert(memory, std::span(&slice, 1));
}

void MpiLink::withdraw(RegionId memory) noexcept {
  const DirectorySlice slice{.owner = node_->ranks().front()};
  directory_.remove(memory, std::span(&slice, 1));
}

Status MpiLink::send(WorldRank to, const ControlHeader& header, std::span<const std::byte> bytes) {
  if (has_left(to)) {
    return Status::error_at(to, Code::peer_lost, fmt::format("rank {} has left the job", to.value));
  }
  return progress_->send(to, header, bytes);
}

// In pieces; the last one brings the flag.
Status MpiLink::deliver(NodeId node, RegionId memory, std::uint64_t offset,
                        std::span<const std::byte> bytes, std::uint64_t flag_offset,
                        std::uint64_t flag) {
  const WorldRank to = nodes_.first_rank_of(node);
  while (true) {
    const std::size_t piece = std::min(bytes.size(), ControlChannel::most_bytes);
    const bool is_last = piece == bytes.size();
    const ControlHeader header{.kind = ControlKind::deliver,
                               .target = to.value,
                               .memory = memory.value,
                               .offset = offset,
                               .words = {is_last ? 1U : 0U, flag_offset, flag}};
    TESSERA_RETURN_IF_ERROR(send(to, header, bytes.first(piece)));
    if (is_last) {
      return {};
    }
    bytes = bytes.subspan(piece);
    offset += piece;
  }
}

Status MpiLink::invite(WorldRank rank, const detail::Invitation& invitation) {
  return send(nodes_.first_rank_of(nodes_.node_of(rank)), {.kind = ControlKind::invite,
                                                           .target = rank.value,
                                                           .memory = invitation.memory,
                                                           .offset = invitation.offset,
                                                           .words = {invitation.key, 0, 0}});
}

Status MpiLink::raise_flag(WorldRank, RegionId, std::uint64_t, std::int32_t) {
  return Status::error(Code::internal, "flags of transport mpi are raised through windows");
}

Status MpiLink::ring(WorldRank rank) {
  return send(nodes_.first_rank_of(nodes_.node_of(rank)),
              {.kind = ControlKind::ring, .target = rank.value});
}

Status MpiLink::wake(WorldRank rank) {
  const int place = node_->place_of(rank);
  if (place < 0) {
    return ring(rank);
  }
  node_->ring(place);
  return {};
}

// Sent to the waiting process, not to its node's first rank.
Status MpiLink::hand_over(WorldRank rank, const LockName& lock) {
  return send(rank, {.kind = ControlKind::hand_over,
                     .target = rank.value,
                     .words = {lock.set, static_cast<std::uint64_t>(lock.owner),
                               static_cast<std::uint64_t>(lock.index)}});
}

Result<std::uint64_t> MpiLink::notify(WorldRank rank) {
  TESSERA_RETURN_IF_ERROR(fence_(rank));
  const std::lock_guard guard(notified_mutex_);
  std::uint64_t& count = notified_[rank];
  TESSERA_RETURN_IF_ERROR(send(nodes_.first_rank_of(nodes_.node_of(rank)),
                               {.kind = ControlKind::notify, .target = rank.value}));
  return ++count;
}

Result<std::unique_ptr<detail::RemoteLocks>> MpiLink::make_locks(
    Team& team, const std::vector<std::int64_t>& counts) {
  LockSurroundings surroundings{
      .node = node_,
      .fence = [this] { return fence_(std::nullopt); },
      .wake = [this](WorldRank rank) { return wake(rank); },
      .poll = [this] { progress_->poll(); },
      .hand_over = [this](WorldRank rank, const LockName& lock) { return hand_over(rank, lock); },
      .handed_over = &progress_->server().handed_over(),
      .leaving = leaving_};
  return locks_by_bytes_ ? ByteLocks::create(std::move(surroundings), *pool_, team, counts)
                         : WindowLocks::create(std::move(surroundings), *pool_, team, counts);
}

Result<LockOutcome> MpiLink::lock(NodeId, RegionId, std::uint64_t, const std::function<void()>&) {
  return not_by_node();
}
Result<LockOutcome> MpiLink::try_lock(NodeId, RegionId, std::uint64_t) {
  return not_by_node();
}
Status MpiLink::unlock(NodeId, RegionId, std::uint64_t) {
  return not_by_node();
}

bool MpiLink::has_left(WorldRank rank) const noexcept {
  return node_->place_of(rank) < 0 && node_->memory().guest_fate(rank).load() == GuestFate::left;
}

// MPI's launcher handles a rank that dies, and ends the job.
Result<Fate> MpiLink::fate_of(WorldRank rank) {
  return has_left(rank) ? Fate::left : Fate::here;
}

Result<std::optional<std::uint32_t>> MpiLink::read_word(NodeId node, RegionId memory,
                                                        std::uint64_t offset) {
  constexpr std::chrono::seconds longest_wait{2};
  const auto deadline = std::chrono::steady_clock::now() + longest_wait;
  const WorldRank to = nodes_.first_rank_of(node);
  Completion done;
  std::uint64_t word = 0;
  done.begin();
  ControlServer& server = progress_->server();
  const std::uint64_t question = server.ask(done, word);
  const Status sent = send(to, {.kind = ControlKind::read,
                                .memory = memory.value,
                                .offset = offset,
                                .words = {question, 0, 0}});
  if (!sent.ok()) {
    server.give_up(question);
  }
  bool is_late = false;
  while (!progress_->wait(done, detail::longest_nap)) {
    is_late = std::chrono::steady_clock::now() >= deadline;
    if (is_late || has_left(to)) {
      server.give_up(question);
    }
  }
  TESSERA_RETURN_IF_ERROR(sent);
  const Status answered = done.take_error();
  if (is_late && !answered.ok()) {
    return std::optional<std::uint32_t>();
  }
  TESSERA_RETURN_IF_ERROR(answered);
  return std::optional(static_cast<std::uint32_t>(word));
}

}  // namespace tessera::rma::mpi
