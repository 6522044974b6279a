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

#include "rma/completion.hpp"
#include "rma/mpi/granted_locks.hpp"
#include "rma/mpi/message_channel.hpp"
#include "rma/node/directory.hpp"
#include "rma/node/node.hpp"
#include "rma/result.hpp"

namespace tessera::rma::mpi {

class MessageServer {
 public:
  /// `answer` sends a reply.
  using Answer = std::function<Status(WorldRank, const MessageHeader&)>;
  MessageServer(std::shared_ptr<detail::Node> node, Answer answer);

  void handle(const MessageHeader& header, std::span<const std::byte> bytes);
  /// Delivers join messages that had no room in their rank's inbox.
  void deliver_join_messages();

  /// Registers a question of this rank; its reply is written to `word`, which must outlive the
  /// question.
  std::uint64_t ask(Completion& done, std::uint64_t& word);
  /// Ends it as closed, unless the reply has arrived.
  void give_up(std::uint64_t question);

  [[nodiscard]] GrantedLocks& handed_over() noexcept { return granted_locks_; }

  /// How many ranks of the job have announced that they leave.
  [[nodiscard]] int left() const;

 private:
  struct Question {
    Completion* done = nullptr;
    std::uint64_t* word = nullptr;
  };
  void deliver(const MessageHeader& header, std::span<const std::byte> bytes);
  void invite(const MessageHeader& header);
  void notify(const MessageHeader& header);
  void read(const MessageHeader& header);
  void end(std::uint64_t question, std::uint64_t word, bool is_answered);
  void hand_over(const MessageHeader& header);
  void note_left(WorldRank rank);
  [[nodiscard]] int local_rank_of(const MessageHeader& header) const noexcept {
    return node_->local_rank_of(WorldRank{header.target});
  }

  std::shared_ptr<detail::Node> node_;
  detail::Directory directory_;
  Answer answer_;
  struct Waiting {
    int place = 0;
    detail::JoinMessage invitation;
  };
  GrantedLocks granted_locks_;
  mutable std::mutex mutex_;
  std::deque<Waiting> join_messages_;
  std::map<std::uint64_t, Question> pending_reads_;
  std::uint64_t last_read_id_ = 0;
  int left_ = 0;
};

}  // namespace tessera::rma::mpi
