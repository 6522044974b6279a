// SPDX-License-Identifier: BSD-3-Clause
//
// put, get and accumulate for programs that name remote memory by (rank, pointer), as ARMCI's do.
//
// As rma/transfer.hpp says, and with its errors; an address is what Region::raw_pointer gave, or
// lies behind it in the same slice. A rank may name its own memory of any other kind, too. Errors:
// also out_of_range for an address in no region, or in another rank's slice. A transfer of no bytes
// touches nothing, whatever its address.
//
// Cost: finding the region takes a load from a table with an entry for every 64 KiB of address
// space, however many regions there are; then it is as for a RemoteAddress.
// Threads: all functions may be called from any thread.
#pragma once

#include <cstddef>
#include <span>

#include "rma/aggregate.hpp"
#include "rma/element.hpp"
#include "rma/handle.hpp"
#include "rma/job.hpp"
#include "rma/region.hpp"
#include "rma/shape.hpp"

namespace tessera::rma {

Status put(Job& job, RawAddress to, const void* from, std::size_t bytes);
Status put(Job& job, RawAddress to, const void* from, const CopyShape& shape);
Handle put_async(Job& job, RawAddress to, const void* from, std::size_t bytes);
Handle put_async(Job& job, RawAddress to, const void* from, const CopyShape& shape);

Status get(Job& job, RawAddress from, void* to, std::size_t bytes);
Status get(Job& job, RawAddress from, void* to, const CopyShape& shape);
Handle get_async(Job& job, RawAddress from, void* to, std::size_t bytes);
Handle get_async(Job& job, RawAddress from, void* to, const CopyShape& shape);

Status accumulate(Job& job, RawAddress to, const void* from, std::size_t bytes, const Scale& scale);
Status accumulate(Job& job, RawAddress to, const void* from, const CopyShape& shape,
                  const Scale& scale);
Handle accumulate_async(Job& job, RawAddress to, const void* from, std::size_t bytes,
                        const Scale& scale);
Handle accumulate_async(Job& job, RawAddress to, const void* from, const CopyShape& shape,
                        const Scale& scale);

/// Runs of equally many bytes, each at addresses of its own (ARMCI's I/O vector, [ARMCI06] §3.2.1).
/// They may lie in several regions. Borrowed from the caller for the call that takes it.
struct RunList {
  std::span<void* const> remote;
  std::span<void* const> local;  ///< as many
  std::size_t bytes = 0;         ///< of each run
};
using RunLists = std::span<const RunList>;

/// One-sided. All runs of all lists, at one rank. If some overlap where they are written, those of
/// that region are moved one after another, so that the last one's bytes stay ([ARMCIMPI12] §VI.B).
/// The call waits for them then, and an error leaves those before it moved.
/// Cost: as of a fragment list; on one node, for runs in ascending order, a nanosecond a run more
/// than their copies.
Status put(Job& job, WorldRank to, RunLists lists);
Status get(Job& job, WorldRank from, RunLists lists);
/// Runs may overlap: each is added.
Status accumulate(Job& job, WorldRank to, RunLists lists, const Scale& scale);
Handle put_async(Job& job, WorldRank to, RunLists lists);
Handle get_async(Job& job, WorldRank from, RunLists lists);
Handle accumulate_async(Job& job, WorldRank to, RunLists lists, const Scale& scale);

/// Local. The same, gathered: each adds to `kept` what is of one region as Aggregate::put and its
/// kin do. Errors: theirs, and out_of_range for runs that lie in no region; nothing is added then.
Status put(Aggregate& kept, Job& job, WorldRank to, RunLists lists);
Status get(Aggregate& kept, Job& job, WorldRank from, RunLists lists);
Status accumulate(Aggregate& kept, Job& job, WorldRank to, RunLists lists, const Scale& scale);

}  // namespace tessera::rma
