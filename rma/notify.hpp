// SPDX-License-Identifier: BSD-3-Clause
//
// Telling a target that data has come: put with a flag, and notify / wait.
//
// Both order after the caller's earlier puts and accumulates to the same rank: whoever sees the
// flag, or is woken by the notification, sees the data ([ARMCIAPI]'s ordered copies; ARMCI's
// ARMCI_Put_flag and armci_notify).
//
// Threads: all functions may be called from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "rma/handle.hpp"
#include "rma/job.hpp"
#include "rma/region.hpp"
#include "rma/shape.hpp"

namespace tessera::rma {

/// One-sided. Copies as put() and then stores `value` in the 32-bit word at `flag`, which is of the
/// same rank. Complete: locally at return. Errors: as put(); invalid_argument (flag of another rank
/// or not aligned to 4 bytes).
Status put_with_flag(Job& job, RemoteAddress to, const void* from, const CopyShape& shape,
                     RemoteAddress flag, std::int32_t value);

/// Up to so many bytes are worth being one message with their flag.
inline constexpr std::size_t most_bytes_with_flag = std::size_t{64} * 1024;

/// One-sided. Lets `start` start puts to the flag's rank, of most_bytes_with_flag at most, and
/// raises the flag behind them: all go to another node as one message. Complete: locally at return.
/// Errors: as of both; the flag isn't raised where the puts were refused.
Status start_with_flag(Job& job, const std::function<Handle()>& start, RemoteAddress flag,
                       std::int32_t value);

/// One-sided. Stores `value` in the 32-bit word at `flag`, behind the caller's earlier puts and
/// accumulates to that rank: put_with_flag() for data that other calls have put. Complete: locally
/// at return. Errors: as put() of 4 bytes; invalid_argument (not aligned to 4 bytes).
Status raise_flag(Job& job, RemoteAddress flag, std::int32_t value);

/// Local. Sleeps until the 32-bit word at `flag`, in this rank's own slice, is `value`.
/// Errors: out_of_range, invalid_argument (another rank's word), peer_lost (`writer` is gone and
/// the word is not `value`).
Status wait_for_flag(Job& job, RemoteAddress flag, std::int32_t value, WorldRank writer);

/// Local. The same until the word is something else than `value`; returns what it is then.
Result<std::int32_t> wait_for_flag_change(Job& job, RemoteAddress flag, std::int32_t value,
                                          WorldRank writer);

/// One-sided. Raises the number of notifications that this rank sent to `rank`, and returns it.
/// Errors: invalid_argument (no such rank), peer_lost, unreachable.
Result<std::uint64_t> notify(Job& job, WorldRank rank);

/// Local. Sleeps until `rank` has sent at least `count` notifications in all; returns how many it
/// sent. Errors: invalid_argument (no such rank), peer_lost.
Result<std::uint64_t> wait_for_notifications(Job& job, WorldRank rank, std::uint64_t count);

}  // namespace tessera::rma
