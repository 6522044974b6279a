// SPDX-License-Identifier: BSD-3-Clause
//
// Non-blocking atomics, more operations than rma/atomic.hpp has, and lists of atomics on many words
// of one or several ranks.
//
//     std::vector<std::int64_t> old(at.size());
//     Handle handle = atomics_async<std::int64_t>(
//         job, {.op = AtomicOp::min, .at = at, .operands = parents, .previous = old});
//     … other work …
//     handle.wait();
//
// Each word is changed as by rma/atomic.hpp, atomically against the functions there and here. A
// list as a whole is not atomic. Between nodes it takes one message and one reply for each target
// rank, each region, and each 4096 words. Words in this node's memory are changed before the call
// returns, and so are words that network devices or the library's composed atomics change.
//
// Complete, here and at the target, after wait(): the old values are stored then, not before.
// Errors: as rma/atomic.hpp. A list with an error in its arguments changes nothing on the ranks
// whose words are wrong; words of other ranks may have changed.
// Threads: all functions may be called from any thread.
#pragma once

#include <cstdint>
#include <span>

#include "rma/atomic.hpp"
#include "rma/handle.hpp"

namespace tessera::rma {

/// How an atomic changes a word. Minimum and maximum are of signed numbers.
enum class AtomicOp : std::uint8_t {
  add,           ///< word + operand, wrapping
  swap,          ///< operand
  compare_swap,  ///< operand, if the word is the expected value
  min,
  max,
  bit_or,
  bit_and,
  bit_xor
};
inline constexpr int atomic_op_count = 8;

/// Atomics of one kind. The spans have equal lengths; all but `previous` may be destroyed when the
/// call returns.
template <AtomicWord T>
struct AtomicWords {
  AtomicOp op = AtomicOp::add;
  std::span<const RemoteAddress> at = {};
  std::span<const T> operands = {};
  std::span<T> previous = {};        ///< receive the words from before
  std::span<const T> expected = {};  ///< of compare_swap; else empty
};

/// One-sided. Starts the atomics of a list. `previous` stays allocated until wait().
/// Errors, from wait(): also invalid_argument if the lengths of the spans differ.
/// Cost: O(n), or O(n log n) if the words of a rank are not listed one after another.
template <AtomicWord T>
Handle atomics_async(Job& job, const AtomicWords<T>& words);

/// One-sided. The same, complete at return.
template <AtomicWord T>
Status atomics(Job& job, const AtomicWords<T>& words) {
  return atomics_async(job, words).wait();
}

/// One-sided. Starts one atomic; the word from before is in `previous` after wait().
template <AtomicWord T>
Handle fetch_and_op_async(Job& job, RemoteAddress at, AtomicOp op, T operand, T* previous) {
  return atomics_async<T>(job, {.op = op,
                                .at = {&at, 1},
                                .operands = {&operand, 1},
                                .previous = {previous, previous == nullptr ? 0U : 1U}});
}
template <AtomicWord T>
Handle fetch_add_async(Job& job, RemoteAddress at, T increment, T* previous) {
  return fetch_and_op_async(job, at, AtomicOp::add, increment, previous);
}
template <AtomicWord T>
Handle swap_async(Job& job, RemoteAddress at, T desired, T* previous) {
  return fetch_and_op_async(job, at, AtomicOp::swap, desired, previous);
}
template <AtomicWord T>
Handle compare_swap_async(Job& job, RemoteAddress at, T expected, T desired, T* previous) {
  return atomics_async<T>(job, {.op = AtomicOp::compare_swap,
                                .at = {&at, 1},
                                .operands = {&desired, 1},
                                .previous = {previous, previous == nullptr ? 0U : 1U},
                                .expected = {&expected, 1}});
}

/// One-sided. Changes a word by any operation but compare_swap, and returns the word from before.
template <AtomicWord T>
Result<T> fetch_and_op(Job& job, RemoteAddress at, AtomicOp op, T operand) {
  T previous = 0;
  if (Status status = fetch_and_op_async(job, at, op, operand, &previous).wait(); !status.ok()) {
    return status;
  }
  return previous;
}

extern template Handle atomics_async(Job&, const AtomicWords<std::int32_t>&);
extern template Handle atomics_async(Job&, const AtomicWords<std::int64_t>&);

}  // namespace tessera::rma
