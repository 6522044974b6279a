// SPDX-License-Identifier: BSD-3-Clause
//
// Atomic read-modify-write of one 32- or 64-bit word of a region: fetch_add, swap, compare_swap.
//
// Atomic against each other, on whichever rank or device they run. Atomic against accumulate only
// in regions allocated with Atomics::strict. In regions with Atomics::device the network's devices
// do them, and words have 8 bytes. Complete, here and at the target, at return.
//
// Errors: out_of_range, closed, peer_lost as in rma/transfer.hpp; invalid_argument if the address
// is not aligned to the word; unsupported for 4 bytes if devices do them, or if no device reaches
// the target although the region has Atomics::device.
// Threads: all functions may be called from any thread.
#pragma once

#include <concepts>
#include <cstdint>

#include "rma/base/result.hpp"
#include "rma/job.hpp"
#include "rma/region.hpp"

namespace tessera::rma {

template <class T>
concept AtomicWord = std::same_as<T, std::int32_t> || std::same_as<T, std::int64_t>;

/// One-sided. Adds `increment` (wrapping) and returns the previous value.
template <AtomicWord T>
Result<T> fetch_add(Job& job, RemoteAddress at, T increment);

/// One-sided. Stores `desired` and returns the previous value.
template <AtomicWord T>
Result<T> swap(Job& job, RemoteAddress at, T desired);

/// One-sided. Stores `desired` if the word equals `expected`. Returns the previous value, which
/// equals `expected` exactly if `desired` was stored.
template <AtomicWord T>
Result<T> compare_swap(Job& job, RemoteAddress at, T expected, T desired);

/// The same by (rank, pointer); see rma/raw_transfer.hpp. With this rank's own number, a pointer
/// into no region addresses a word of this process.
/// Errors: also out_of_range for such a pointer of another rank.
template <AtomicWord T>
Result<T> fetch_add(Job& job, RawAddress at, T increment);
template <AtomicWord T>
Result<T> swap(Job& job, RawAddress at, T desired);

extern template Result<std::int32_t> fetch_add(Job&, RawAddress, std::int32_t);
extern template Result<std::int64_t> fetch_add(Job&, RawAddress, std::int64_t);
extern template Result<std::int32_t> swap(Job&, RawAddress, std::int32_t);
extern template Result<std::int64_t> swap(Job&, RawAddress, std::int64_t);
extern template Result<std::int32_t> fetch_add(Job&, RemoteAddress, std::int32_t);
extern template Result<std::int64_t> fetch_add(Job&, RemoteAddress, std::int64_t);
extern template Result<std::int32_t> swap(Job&, RemoteAddress, std::int32_t);
extern template Result<std::int64_t> swap(Job&, RemoteAddress, std::int64_t);
extern template Result<std::int32_t> compare_swap(Job&, RemoteAddress, std::int32_t, std::int32_t);
extern template Result<std::int64_t> compare_swap(Job&, RemoteAddress, std::int64_t, std::int64_t);

}  // namespace tessera::rma
