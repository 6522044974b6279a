// SPDX-License-Identifier: BSD-3-Clause
//
// Visit: a conversation with a node's agent for one question, which ends behind the answer. For who
// has something to ask or to say now and then, of nodes that this rank has nothing else to do with:
// a link that is kept would take a descriptor at both ends for as long as the job lives.
//
// Threads: the one that pays the visit; nobody else looks after it.
#pragma once

#include <chrono>
#include <memory>

#include "rma/completion.hpp"
#include "rma/rank.hpp"
#include "rma/result.hpp"
#include "rma/server/link.hpp"

namespace tessera::rma::server {

class Client;

class Visit {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  /// Connects. Errors: as Client::link_to().
  static Result<Visit> pay(Client& client, NodeId node, std::chrono::milliseconds timeout);
  /// Says good-bye, as a rank that has a conversation no more else counts as lost.
  ~Visit();
  Visit(Visit&&) noexcept = default;
  Visit& operator=(Visit&&) = delete;

  [[nodiscard]] Link& link() noexcept { return *link_; }
  /// Until what was asked or sent has ended, with the answer or with the connection; or until
  /// `deadline`, at which the visit ends as timed_out.
  void wait(Completion& done, TimePoint deadline = TimePoint::max());

 private:
  Visit(std::unique_ptr<Link> link, WorldRank self) noexcept
      : link_(std::move(link)), self_(self) {}

  std::unique_ptr<Link> link_;
  WorldRank self_;
};

}  // namespace tessera::rma::server
