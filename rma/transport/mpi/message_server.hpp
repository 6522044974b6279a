// SPDX-License-Identifier: BSD-3-Clause
//
// MessageServer: executes other ranks' messages on this node's memory.
//
// Threads: handle() by one thread at a time, all else by any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>

#include "rma/base/result.hpp"
#include "rma/node/directory.hpp"
#include "rma/node/node.hpp"
#include "rma/transport/completion.hpp"
#include "rma/transport/mpi/granted_locks.hpp"
#include "rma/transport/mpi/message_channel.hpp"

namespace tessera::rma::mpi {

class MessageServer {
 public:
  /// `send_reply` sends a message to the rank that reads.
  using SendReply = std::function<Status(WorldRank, const MessageHeader&)>;
  MessageServer(std::shared_ptr<detail::Node> node, SendReply send_reply);

  void handle(const MessageHeader& header, std::span<const std::byte> bytes);
  /// Delivers join messages that had no room in their rank's inbox.
  void deliver_join_messages();

  /// Registers a read by this rank and returns its number. The reply is written to `word`, which
  /// must outlive the read.
  std::uint64_t begin_read(Completion& done, std::uint64_t& word);
  /// Ends it as closed, unless the reply has arrived.
  void cancel_read(std::uint64_t id);

  [[nodiscard]] GrantedLocks& granted_locks() noexcept { return granted_locks_; }

  /// How many ranks of the job have announced that they leave.
  [[nodiscard]] int left() const;

 private:
  struct PendingRead {
    Completion* done = nullptr;
    std::uint64_t* word = nullptr;
  };
  void deliver(const MessageHeader& header, std::span<const std::byte> bytes);
  void receive_join(const MessageHeader& header);
  void notify(const MessageHeader& header);
  void read(const MessageHeader& header);
  void end_read(std::uint64_t id, std::uint64_t word, bool has_reply);
  void hand_over(const MessageHeader& header);
  void record_left(WorldRank rank);
  [[nodiscard]] int local_rank_of(const MessageHeader& header) const noexcept {
    return node_->local_rank_of(WorldRank{header.target});
  }

  std::shared_ptr<detail::Node> node_;
  detail::Directory directory_;
  SendReply send_reply_;
  struct PendingJoin {
    int local_rank = 0;
    detail::JoinMessage message;
  };
  GrantedLocks granted_locks_;
  mutable std::mutex mutex_;
  std::deque<PendingJoin> join_messages_;
  std::map<std::uint64_t, PendingRead> pending_reads_;
  std::uint64_t last_read_id_ = 0;
  int left_ = 0;
};

}  // namespace tessera::rma::mpi
