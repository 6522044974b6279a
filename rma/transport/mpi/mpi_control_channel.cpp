// SPDX-License-Identifier: BSD-3-Clause
#include "rma/transport/mpi/mpi_control_channel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "rma/transport/mpi/byte_locks.hpp"

namespace tessera::rma::mpi {

using detail::DirectorySlice;
using detail::LockOutcome;
using detail::PeerState;
using detail::RemoteRankState;

namespace {

Status not_in_node_memory() {
  return Status::error(Code::internal, "locks of transport mpi lie in windows, not in node memory");
}

}  // namespace

MpiControlChannel::MpiControlChannel(std::shared_ptr<Progress> progress,
                                     std::shared_ptr<WindowPool> pool,
                                     std::shared_ptr<detail::Node> node,
                                     const detail::NodeMap& nodes, bool locks_by_bytes,
                                     std::shared_ptr<ExitLockReleaser> exit_releaser,
                                     std::function<Status(std::optional<WorldRank>)> fence)
    : progress_(std::move(progress)),
      pool_(std::move(pool)),
      node_(std::move(node)),
      nodes_(nodes),
      locks_by_bytes_(locks_by_bytes),
      exit_releaser_(std::move(exit_releaser)),
      fence_(std::move(fence)),
      directory_(node_->arena(), node_->lock_context()) {}

Status MpiControlChannel::publish(RegionId memory, const detail::PublishedMemory& piece) {
  const DirectorySlice slice{.owner = node_->ranks().front(),
                             .location = piece.offset,
                             .bytes = piece.bytes,
                             .use = DirectorySlice::Use::mailboxes};
  return directory_.insert(memory, std::span(&slice, 1));
}

void MpiControlChannel::withdraw(RegionId memory) noexcept {
  const DirectorySlice slice{.owner = node_->ranks().front()};
  directory_.remove(memory, std::span(&slice, 1));
}

Status MpiControlChannel::send(WorldRank to, const MessageHeader& header,
                               std::span<const std::byte> bytes) {
  if (has_left(to)) {
    return Status::error_at(to, Code::peer_lost, fmt::format("rank {} has left the job", to.value));
  }
  return progress_->send(to, header, bytes);
}

// Sends the data in pieces; the last one carries the flag.
Status MpiControlChannel::deliver(NodeId node, RegionId memory, std::uint64_t offset,
                                  std::span<const std::byte> bytes, std::uint64_t flag_offset,
                                  std::uint64_t flag) {
  const WorldRank to = nodes_.first_rank_of(node);
  while (true) {
    const std::size_t piece = std::min(bytes.size(), MessageChannel::max_bytes);
    const bool is_last = piece == bytes.size();
    const MessageHeader header{.kind = MessageKind::deliver,
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

Status MpiControlChannel::send_join(WorldRank rank, const detail::JoinMessage& message) {
  return send(nodes_.first_rank_of(nodes_.node_of(rank)), {.kind = MessageKind::join,
                                                           .target = rank.value,
                                                           .memory = message.memory,
                                                           .offset = message.offset,
                                                           .words = {message.key, 0, 0}});
}

Status MpiControlChannel::raise_flag(WorldRank, RegionId, std::uint64_t, std::int32_t) {
  return Status::error(Code::internal, "flags of transport mpi are raised through windows");
}

Status MpiControlChannel::ring(WorldRank rank) {
  return send(nodes_.first_rank_of(nodes_.node_of(rank)),
              {.kind = MessageKind::ring, .target = rank.value});
}

Status MpiControlChannel::wake(WorldRank rank) {
  const int local_rank = node_->local_rank_of(rank);
  if (local_rank < 0) {
    return ring(rank);
  }
  node_->ring(local_rank);
  return {};
}

// Sent to the waiting process, not to its node's first rank.
Status MpiControlChannel::hand_over(WorldRank rank, const LockName& lock) {
  return send(rank, {.kind = MessageKind::hand_over,
                     .target = rank.value,
                     .words = {lock.set, static_cast<std::uint64_t>(lock.owner),
                               static_cast<std::uint64_t>(lock.index)}});
}

Result<std::uint64_t> MpiControlChannel::notify(WorldRank rank) {
  TESSERA_RETURN_IF_ERROR(fence_(rank));
  const std::lock_guard guard(notified_mutex_);
  std::uint64_t& count = notified_[rank];
  TESSERA_RETURN_IF_ERROR(send(nodes_.first_rank_of(nodes_.node_of(rank)),
                               {.kind = MessageKind::notify, .target = rank.value}));
  return ++count;
}

Result<std::unique_ptr<detail::RemoteLocks>> MpiControlChannel::make_locks(
    Team& team, const std::vector<std::int64_t>& counts) {
  WindowLockContext context{
      .node = node_,
      .fence = [this] { return fence_(std::nullopt); },
      .wake = [this](WorldRank rank) { return wake(rank); },
      .poll = [this] { progress_->poll(); },
      .hand_over = [this](WorldRank rank, const LockName& lock) { return hand_over(rank, lock); },
      .granted_locks = &progress_->server().granted_locks(),
      .exit_releaser = exit_releaser_};
  return locks_by_bytes_ ? ByteLocks::create(std::move(context), *pool_, team, counts)
                         : WindowLocks::create(std::move(context), *pool_, team, counts);
}

Result<LockOutcome> MpiControlChannel::lock(NodeId, RegionId, std::uint64_t,
                                            const std::function<void()>&) {
  return not_in_node_memory();
}
Result<LockOutcome> MpiControlChannel::try_lock(NodeId, RegionId, std::uint64_t) {
  return not_in_node_memory();
}
Status MpiControlChannel::unlock(NodeId, RegionId, std::uint64_t) {
  return not_in_node_memory();
}

bool MpiControlChannel::has_left(WorldRank rank) const noexcept {
  return node_->local_rank_of(rank) < 0 &&
         node_->memory().remote_rank_state(rank).load() == RemoteRankState::left;
}

// MPI's launcher handles a rank that dies, and ends the job.
Result<PeerState> MpiControlChannel::peer_state_of(WorldRank rank) {
  return has_left(rank) ? PeerState::left : PeerState::alive;
}

Result<std::optional<std::uint32_t>> MpiControlChannel::read_word(NodeId node, RegionId memory,
                                                                  std::uint64_t offset) {
  constexpr std::chrono::seconds max_wait{2};
  const auto deadline = std::chrono::steady_clock::now() + max_wait;
  const WorldRank to = nodes_.first_rank_of(node);
  Completion done;
  std::uint64_t word = 0;
  done.begin();
  MessageServer& server = progress_->server();
  const std::uint64_t id = server.begin_read(done, word);
  const Status sent = send(
      to,
      {.kind = MessageKind::read, .memory = memory.value, .offset = offset, .words = {id, 0, 0}});
  if (!sent.ok()) {
    server.cancel_read(id);
  }
  bool is_late = false;
  while (!progress_->wait(done, detail::max_timed_wait)) {
    is_late = std::chrono::steady_clock::now() >= deadline;
    if (is_late || has_left(to)) {
      server.cancel_read(id);
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
