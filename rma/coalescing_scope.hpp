// SPDX-License-Identifier: BSD-3-Clause
//
// CoalescingScope: a scope in which small operations of a thread go to another node as one message.
//
//     {
//       const CoalescingScope one_message(job);
//       handle = put_async(job, …);
//       raise_flag(job, …);
//     }                                 // both are sent here, with one call of the system
//     handle.wait();
#pragma once

#include "rma/job.hpp"

namespace tessera::rma {

namespace detail {
class NodeControlChannel;
}

/// Local. While it exists, puts, accumulates and flags of this thread to other nodes may be held
/// back, in their order. They are sent together, one message for each node, when the scope ends;
/// this does not wait for any rank. They are sent earlier if this thread waits for a handle, a
/// fence, a flag or notifications, or sends any other request to another node. Operations within
/// the node are not held back. Use it for a few operations that a receiver needs together: it is
/// woken once. Scopes may nest.
/// Complete: as without it; handles are not done before the scope ends. Errors: as without it.
/// Requires: inside the scope the thread does not wait for ranks of its own node in other ways
/// (barriers or collectives of a team, locks): they might need what is held back. The job outlives
/// it.
class CoalescingScope {
 public:
  explicit CoalescingScope(Job& job) noexcept;
  ~CoalescingScope();
  CoalescingScope(const CoalescingScope&) = delete;
  CoalescingScope& operator=(const CoalescingScope&) = delete;

 private:
  detail::JobState* job_;  // null: the job has one node
};

}  // namespace tessera::rma
