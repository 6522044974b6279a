// SPDX-License-Identifier: BSD-3-Clause
//
// Protocol "remote": operations through a transport's endpoint. It passes to the transport what
// that supports natively. It composes the rest from contiguous gets and puts, under the node's
// stripe locks if the operation must be atomic.
//
// Each function starts parts on `done` and returns; composed accumulates and atomics are complete
// at return. Errors are reported through `done`.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rma/element.hpp"
#include "rma/engine/job_state.hpp"
#include "rma/shape.hpp"
#include "rma/transport/transport.hpp"

namespace tessera::rma::detail {

/// An endpoint, with the capabilities of its transport and the stripe locks of the target slice.
struct RemotePath {
  JobState& job;
  Endpoint& endpoint;
  const Capabilities& can;
  StripeLocks::Slice stripes;
  /// The region has Atomics::strict. If the transport's own accumulates and atomics don't provide
  /// that (Capabilities::strict), the library composes both under one lock.
  bool strict = false;
  WorldRank peer{-1};  ///< the target
};

void put_remote(const RemotePath& path, const Target& to, const void* from, const CopyShape& shape,
                Completion& done);
void get_remote(const RemotePath& path, void* to, const Target& from, const CopyShape& shape,
                Completion& done);
/// Requires: shape has whole elements.
void accumulate_remote(const RemotePath& path, const Target& to, const void* from,
                       const CopyShape& shape, const Scale& scale, Completion& done);
/// The same for lists. Requires: no fragment is empty.
void put_remote(const RemotePath& path, const Target& to, Fragments fragments, Completion& done);
void get_remote(const RemotePath& path, const Target& from, Fragments fragments, Completion& done);
void accumulate_remote(const RemotePath& path, const Target& to, Fragments fragments,
                       const Scale& scale, Completion& done);
/// Blocks until the word from before is stored.
Status atomic_remote(const RemotePath& path, const Target& at, const AtomicRequest& request);
/// Starts all atomics of the list, which may be destroyed at return. Composed ones are complete at
/// return.
void atomics_remote(const RemotePath& path, const Target& at, const AtomicList& list,
                    Completion& done);
/// Blocks. The device at the owner's node does it: its atomics are not atomic against processors.
/// Errors: unsupported for words of 4 bytes.
Status atomic_by_device(JobState& job, const Target& at, WorldRank owner,
                        const AtomicRequest& request);

}  // namespace tessera::rma::detail
