// SPDX-License-Identifier: BSD-3-Clause
//
// put, get and accumulate for programs that name remote memory by (rank, pointer), as ARMCI's do.
//
// As rma/transfer.hpp, with its errors. An address is a pointer from Region::raw_pointer, or a
// later one in the same slice. A rank may also name any other memory of its own. A transfer of no
// bytes accesses nothing, whatever its address.
// Errors: also out_of_range for an address in no region, or in another rank's slice.
//
// Cost: finding the region is one load from a table with an entry for every 64 KiB of address
// space, for any number of regions; then as for a RemoteAddress.
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

/// One-sided. As put() and put_async() of rma/transfer.hpp.
Status put(Job& job, RawAddress to, const void* from, std::size_t bytes);
Status put(Job& job, RawAddress to, const void* from, const CopyShape& shape);
Handle put_async(Job& job, RawAddress to, const void* from, std::size_t bytes);
Handle put_async(Job& job, RawAddress to, const void* from, const CopyShape& shape);

/// One-sided. As get() and get_async() of rma/transfer.hpp.
Status get(Job& job, RawAddress from, void* to, std::size_t bytes);
Status get(Job& job, RawAddress from, void* to, const CopyShape& shape);
Handle get_async(Job& job, RawAddress from, void* to, std::size_t bytes);
Handle get_async(Job& job, RawAddress from, void* to, const CopyShape& shape);

/// One-sided. As accumulate() and accumulate_async() of rma/transfer.hpp.
Status accumulate(Job& job, RawAddress to, const void* from, std::size_t bytes, const Scale& scale);
Status accumulate(Job& job, RawAddress to, const void* from, const CopyShape& shape,
                  const Scale& scale);
Handle accumulate_async(Job& job, RawAddress to, const void* from, std::size_t bytes,
                        const Scale& scale);
Handle accumulate_async(Job& job, RawAddress to, const void* from, const CopyShape& shape,
                        const Scale& scale);

/// Runs of equal length, each at addresses of its own (ARMCI's I/O vector, [ARMCI06] §3.2.1). They
/// may lie in several regions. Borrowed from the caller during the call that takes it.
struct RunList {
  std::span<void* const> remote;
  std::span<void* const> local;  ///< the same number
  std::size_t bytes = 0;         ///< of each run
};
using RunLists = std::span<const RunList>;

/// One-sided. Moves all runs of all lists; all are at one rank. If some overlap where they are
/// written, those of that region are moved one after another, so that the last one's bytes remain
/// ([ARMCIMPI12] §VI.B). The call then waits for them, and after an error the earlier ones stay
/// moved.
/// Cost: as of a fragment list. On one node, for runs in ascending order, a nanosecond per run more
/// than the copies.
Status put(Job& job, WorldRank to, RunLists lists);
Status get(Job& job, WorldRank from, RunLists lists);
/// Runs may overlap; each is added.
Status accumulate(Job& job, WorldRank to, RunLists lists, const Scale& scale);
Handle put_async(Job& job, WorldRank to, RunLists lists);
Handle get_async(Job& job, WorldRank from, RunLists lists);
Handle accumulate_async(Job& job, WorldRank to, RunLists lists, const Scale& scale);

/// Local. The same, aggregated: each call adds its runs, region by region, to `kept`, as
/// Aggregate::put and the others do.
/// Errors: theirs, and out_of_range for runs in no region; nothing is added then.
Status put(Aggregate& kept, Job& job, WorldRank to, RunLists lists);
Status get(Aggregate& kept, Job& job, WorldRank from, RunLists lists);
Status accumulate(Aggregate& kept, Job& job, WorldRank to, RunLists lists, const Scale& scale);

}  // namespace tessera::rma
