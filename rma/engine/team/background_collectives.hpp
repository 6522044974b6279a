// SPDX-License-Identifier: BSD-3-Clause
//
// BackgroundCollectives: the non-blocking collectives of a team. A thread performs them one after
// the other, in the order in which they were started, on a *companion*: a second team of the same
// ranks. So they make progress whatever the program does, need no room for intermediate data beside
// a team's, and may have any size.
//
// The thread forms the companion before its first collective. Until then no other member needs to
// take part. Companions of several teams of the same ranks may form at the same time; join messages
// name the team by its number in the job's TeamRegistry.
//
// Each collective carries its *place*: how many steps the team had made when it was started.
// Members compare places, as part of the label. So they notice if one of them started it before a
// blocking collective of the team, and another one after it.
//
// Ownership: TeamState owns it. The thread owns what it works with, too: in a child made by fork()
// that is never destroyed. Threads: any.
#pragma once

#include <cstdint>
#include <memory>
#include <thread>

#include "rma/element.hpp"
#include "rma/engine/operation.hpp"
#include "rma/engine/team/collective_call.hpp"
#include "rma/team.hpp"

namespace tessera::rma::detail {

class TeamState;

/// A collective to be performed in the background.
struct BackgroundCall {
  CollectiveCall::Kind kind = CollectiveCall::Kind::barrier;  ///< or allreduce
  void* elements = nullptr;
  std::int64_t count = 0;
  ElementType type = ElementType::i32;
  Reduction reduction = Reduction::sum;
  std::uint64_t place = 0;
  std::shared_ptr<Operation> operation = {};  ///< ends with the collective
};

class BackgroundCollectives {
 public:
  /// Local. `number`: of the team, among those of the same ranks. If the system or the transport
  /// refuses a thread, add() performs collectives at once. Throws std::bad_alloc.
  static std::shared_ptr<BackgroundCollectives> start(const TeamState& team, std::uint32_t number);
  BackgroundCollectives(const BackgroundCollectives&) = delete;
  BackgroundCollectives& operator=(const BackgroundCollectives&) = delete;
  ~BackgroundCollectives();

  /// Starts a collective, whose operation has begun. If there is no memory to note it, performs it
  /// at once, after the earlier ones.
  void add(const BackgroundCall& call) noexcept;

  /// Performs what was started, then ends the thread. If the job has stopped, what was started ends
  /// with an error. Idempotent.
  void stop() noexcept;

 private:
  class Worker;
  explicit BackgroundCollectives(std::shared_ptr<Worker> worker) noexcept;

  std::shared_ptr<Worker> worker_;
  std::thread thread_;
};

}  // namespace tessera::rma::detail
