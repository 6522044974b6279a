// SPDX-License-Identifier: BSD-3-Clause
//
// Notifying a target that data have arrived: put with a flag, and notify / wait.
//
// Both are ordered after the caller's earlier puts and accumulates to the same rank. A rank that
// sees the flag, or that the notification wakes, sees these data ([ARMCIAPI]'s ordered copies;
// ARMCI's ARMCI_Put_flag and armci_notify).
//
// Threads: all functions may be called from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "rma/handle.hpp"
#include "rma/job.hpp"
#include "rma/label.hpp"
#include "rma/region.hpp"
#include "rma/shape.hpp"

namespace tessera::rma {

/// One-sided. Copies as put(), then stores `value` in the 32-bit word at `flag`, which is on the
/// same rank. Complete: locally at return.
/// Errors: as put(); invalid_argument (flag of another rank, or not aligned to 4 bytes).
Status put_with_flag(Job& job, RemoteAddress to, const void* from, const CopyShape& shape,
                     RemoteAddress flag, std::int32_t value);

/// Up to this size it pays to send data and flag as one message.
inline constexpr std::size_t max_bytes_with_flag = std::size_t{64} * 1024;

/// One-sided. Calls `start`, which starts puts of at most max_bytes_with_flag bytes to the flag's
/// rank, and sets the flag after them. All of them go to another node as one message. Complete:
/// locally at return.
/// Errors: those of the puts and of raise_flag(). The flag is not set if the puts were refused.
Status start_with_flag(Job& job, const std::function<Handle()>& start, RemoteAddress flag,
                       std::int32_t value);

/// One-sided. Stores `value` in the 32-bit word at `flag`, after the caller's earlier puts and
/// accumulates to that rank: as put_with_flag(), for data that other calls have put. Complete:
/// locally at return.
/// Errors: as put() of 4 bytes; invalid_argument (not aligned to 4 bytes).
Status raise_flag(Job& job, RemoteAddress flag, std::int32_t value);

/// Local. Sleeps until the 32-bit word at `flag`, in this rank's own slice, equals `value`.
/// Errors: out_of_range, invalid_argument (another rank's word), peer_lost (`writer` is lost and
/// the word does not equal `value`).
Status wait_for_flag(Job& job, RemoteAddress flag, std::int32_t value, WorldRank writer);

/// Local. The same until the word differs from `value`; returns the new value. Profiles name the
/// wait by `label`; null: by the flag's region.
Result<std::int32_t> wait_for_flag_change(Job& job, RemoteAddress flag, std::int32_t value,
                                          WorldRank writer, const Label* label = nullptr);

/// One-sided. Increments the number of notifications that this rank has sent to `rank`, and returns
/// it.
/// Errors: invalid_argument (no such rank), peer_lost, unreachable.
Result<std::uint64_t> notify(Job& job, WorldRank rank);

/// Local. Sleeps until `rank` has sent at least `count` notifications to this rank in all; returns
/// their number.
/// Errors: invalid_argument (no such rank), peer_lost.
Result<std::uint64_t> wait_for_notifications(Job& job, WorldRank rank, std::uint64_t count);

}  // namespace tessera::rma
