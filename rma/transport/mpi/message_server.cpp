// SPDX-License-Identifier: BSD-3-Clause
#include "rma/transport/mpi/message_server.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "rma/base/futex.hpp"

namespace tessera::rma::mpi {

using detail::DirectorySlice;
using detail::FutexWord;
using detail::JoinMessage;
using detail::RemoteRankState;

namespace {

constexpr std::size_t flag_bytes = sizeof(std::uint64_t);

bool fits(const DirectorySlice& slice, std::uint64_t offset, std::uint64_t bytes) noexcept {
  return slice.use == DirectorySlice::Use::mailboxes && bytes <= slice.bytes &&
         offset <= slice.bytes - bytes;
}

}  // namespace

MessageServer::MessageServer(std::shared_ptr<detail::Node> node, SendReply send_reply)
    : node_(std::move(node)),
      directory_(node_->arena(), node_->lock_context()),
      send_reply_(std::move(send_reply)) {}

void MessageServer::handle(const MessageHeader& header, std::span<const std::byte> bytes) {
  switch (header.kind) {
    case MessageKind::deliver:
      return deliver(header, bytes);
    case MessageKind::join:
      return receive_join(header);
    case MessageKind::notify:
      return notify(header);
    case MessageKind::ring:
      return node_->ring(local_rank_of(header));
    case MessageKind::read:
      return read(header);
    case MessageKind::reply:
      return end_read(header.words[0], header.words[2], header.words[1] != 0);
    case MessageKind::hand_over:
      return hand_over(header);
    case MessageKind::stay_awake:  // Progress handles it
      return;
    case MessageKind::left:
      return record_left(WorldRank{header.origin});
  }
}

// Words: whether a flag follows, its offset, and its new value.
void MessageServer::deliver(const MessageHeader& header, std::span<const std::byte> bytes) {
  const auto copy = [&](const DirectorySlice& slice) {
    const auto [has_flag, flag_at, flag] = header.words;
    if (!fits(slice, header.offset, bytes.size()) || !fits(slice, flag_at, flag_bytes)) {
      return;
    }
    std::byte* const memory = node_->arena().at(slice.location);
    std::memcpy(memory + header.offset, bytes.data(), bytes.size());
    if (has_flag != 0) {
      auto* const word = reinterpret_cast<std::atomic<std::uint64_t>*>(memory + flag_at);
      word->store(flag, std::memory_order_release);
      detail::futex_wake_all(*reinterpret_cast<FutexWord*>(memory + flag_at));
    }
  };
  // A message for memory that was freed is dropped.
  directory_.visit(RegionId{header.memory}, node_->ranks().front(), copy);
}

void MessageServer::receive_join(const MessageHeader& header) {
  const JoinMessage message{.key = header.words[0],
                            .offset = header.offset,
                            .sender = header.origin,
                            .memory = header.memory};
  {
    const std::lock_guard guard(mutex_);
    join_messages_.push_back({local_rank_of(header), message});
  }
  deliver_join_messages();
}

// Messages of one sender keep their order: inboxes are tried in order, and a full one stops all.
void MessageServer::deliver_join_messages() {
  const std::lock_guard guard(mutex_);
  while (!join_messages_.empty()) {
    const PendingJoin& next = join_messages_.front();
    const Result<bool> is_delivered = node_->try_send_join(next.local_rank, next.message);
    if (is_delivered.ok() && !*is_delivered) {
      return;
    }
    join_messages_.pop_front();
  }
}

void MessageServer::notify(const MessageHeader& header) {
  const int local_rank = local_rank_of(header);
  node_->memory().remote_notices(local_rank, WorldRank{header.origin}).fetch_add(1);
  node_->ring(local_rank);
}

// Words: the number of the read.
void MessageServer::read(const MessageHeader& header) {
  MessageHeader reply{.kind = MessageKind::reply, .words = {header.words[0], 0, 0}};
  directory_.visit(
      RegionId{header.memory}, node_->ranks().front(), [&](const DirectorySlice& slice) {
        if (fits(slice, header.offset, sizeof(std::uint32_t))) {
          const auto* const word =
              reinterpret_cast<const FutexWord*>(node_->arena().at(slice.location) + header.offset);
          reply.words[1] = 1;
          reply.words[2] = word->load();
        }
      });
  send_reply_(WorldRank{header.origin}, reply)
      .ignore("the rank that reads finds that no reply comes");
}

std::uint64_t MessageServer::begin_read(Completion& done, std::uint64_t& word) {
  const std::lock_guard guard(mutex_);
  pending_reads_.emplace(++last_read_id_, PendingRead{&done, &word});
  return last_read_id_;
}

void MessageServer::cancel_read(std::uint64_t id) {
  end_read(id, 0, false);
}

void MessageServer::end_read(std::uint64_t id, std::uint64_t word, bool has_reply) {
  decltype(pending_reads_)::node_type found;
  {
    const std::lock_guard guard(mutex_);
    found = pending_reads_.extract(id);
  }
  if (!found.empty()) {
    *found.mapped().word = word;
    found.mapped().done->end(has_reply ? Status() : Status::code_only(Code::closed));
  }
}

// Words: the set, the owner and the index of the lock.
void MessageServer::hand_over(const MessageHeader& header) {
  granted_locks_.add({header.words[0], static_cast<std::int32_t>(header.words[1]),
                      static_cast<std::int64_t>(header.words[2])});
  node_->ring(local_rank_of(header));
}

void MessageServer::record_left(WorldRank rank) {
  if (node_->local_rank_of(rank) < 0) {
    node_->memory().remote_rank_state(rank).store(RemoteRankState::left);
  }
  const std::lock_guard guard(mutex_);
  ++left_;
}

int MessageServer::left() const {
  const std::lock_guard guard(mutex_);
  return left_;
}

}  // namespace tessera::rma::mpi
