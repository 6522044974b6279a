// SPDX-License-Identifier: BSD-3-Clause
//
// Coalescing: a scope in which small operations of a thread go to another node as one message.
//
//     {
//       const Coalescing one_message(job);
//       handle = put_async(job, …);
//       raise_flag(job, …);
//     }                                 // both are sent here, with one call of the system
//     handle.wait();
#pragma once

#include "rma/job.hpp"

namespace tessera::rma {

namespace detail {
class NodeLink;
}

/// Local. While it lives, puts, accumulates and flags that this thread starts towards other nodes
/// may be kept, in their order, and are sent together, a message for each node: when it ends, which
/// waits for nobody; or before, when this thread waits for a handle, a fence, a flag or
/// notifications, or asks another node for anything. Within the node nothing is kept. For a few
/// operations that a receiver needs together: it is woken once. They may be nested.
/// Complete: as without it; handles are not done before it ends. Errors: as without it.
/// Requires: the thread does not wait inside for ranks of its own node in other ways (barriers or
/// collectives of a team, locks): they might need what is kept. The job outlives it.
class Coalescing {
 public:
  explicit Coalescing(Job& job) noexcept;
  ~Coalescing();
  Coalescing(const Coalescing&) = delete;
  Coalescing& operator=(const Coalescing&) = delete;

 private:
  detail::JobState* job_;  // null: the job has one node
};

}  // namespace tessera::rma
