// SPDX-License-Identifier: BSD-3-Clause
//
// Case: the operation that all candidates of one measurement do, byte for byte.
//
// A transfer moves `runs` runs of `run_bytes` between a local and a remote buffer. Contiguous is
// one run. Strided runs lie `local_stride` and `remote_stride` bytes apart. Vector runs lie at the
// same places as strided ones, but are visited at the remote end in a scattered order:
//
//     contiguous  |##############|
//     strided     |####----|####----|####----|        remote order 0 1 2
//     vector      |####----|####----|####----|        remote order 0 2 1, say
//
// Separate runs are those of a vector, each moved by a non-blocking call of its own; then all are
// waited for. In an aggregate each is added by a call of its own, and all are sent together. A
// window is OSU's: runs side by side at both ends, each moved by a non-blocking call of its own.
//
// Accumulate works on doubles: remote += scale * local.
//
// Where a put or an accumulate is complete belongs to the case: one that is under way to its target
// and one that has arrived there are two things to measure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace tessera::bench {

enum class Operation {
  put,
  get,
  accumulate,
  fetch_add,     ///< of one 64-bit integer
  swap,          ///< of one 64-bit integer
  compare_swap,  ///< of one 64-bit integer, which is as expected
  lock_unlock,   ///< of a free mutex
};

/// Where a put or an accumulate is complete before the next repetition begins.
enum class Completes {
  here,       ///< the source may be reused: what the call promises
  at_target,  ///< after a fence: what MPI_Win_flush and an answer over TCP promise
};

enum class Layout { contiguous, strided, vector, separate, aggregate, window };

/// Whether it works on one word or lock, and moves no runs.
constexpr bool is_atomic(Operation operation) {
  return operation == Operation::fetch_add || operation == Operation::swap ||
         operation == Operation::compare_swap || operation == Operation::lock_unlock;
}

/// Where puts and accumulates of a layout are complete, unless somebody asks for another place. On
/// one node what is complete here has arrived. Between nodes it is on its way, and so would those
/// be compared that wait for it and those that don't.
constexpr Completes usual_completion(Layout layout, int nodes) {
  return layout == Layout::window || nodes > 1 ? Completes::at_target : Completes::here;
}

struct Case {
  Operation operation = Operation::put;
  Layout layout = Layout::contiguous;
  std::size_t run_bytes = 8;
  std::int64_t runs = 1;
  std::size_t local_stride = 8;   ///< bytes
  std::size_t remote_stride = 8;  ///< bytes
  double scale = 1.0;             ///< of accumulate
  Completes completes = Completes::at_target;

  static Case contiguous(Operation operation, std::size_t bytes);
  /// Rows packed in the local buffer, and two row lengths apart in the remote one.
  static Case strided(Operation operation, std::size_t row_bytes, std::int64_t rows);
  /// Packed in the local buffer, scattered in the remote one.
  /// Requires: `runs` is no multiple of 7919, with which the order is made.
  static Case vector(Operation operation, std::size_t run_bytes, std::int64_t runs);
  /// `n` rows of `n` doubles, packed in the local buffer, out of a remote matrix of `leading`
  /// columns.
  static Case patch(Operation operation, std::int64_t n, std::int64_t leading);
  /// `n` rows of `n` doubles out of a local matrix of `local_leading` columns, packed in the remote
  /// buffer.
  static Case local_patch(Operation operation, std::int64_t n, std::int64_t local_leading);
  /// As vector(), in `runs` non-blocking calls.
  static Case separate(Operation operation, std::size_t run_bytes, std::int64_t runs);
  /// As vector(), in `runs` calls that gather what is then sent.
  static Case aggregate(Operation operation, std::size_t run_bytes, std::int64_t runs);
  /// `messages` runs side by side, all outstanding at once.
  static Case window(Operation operation, std::size_t run_bytes, std::int64_t messages);
  /// The same, complete there.
  [[nodiscard]] Case completing(Completes where) const;

  /// Whether a fence belongs to it. A get is complete where it arrives.
  [[nodiscard]] bool needs_fence() const {
    return completes == Completes::at_target && operation != Operation::get;
  }

  /// Payload.
  [[nodiscard]] std::size_t bytes() const { return run_bytes * static_cast<std::size_t>(runs); }
  /// Bytes from the first to the last touched, at either end.
  [[nodiscard]] std::size_t local_span() const { return span(local_stride); }
  [[nodiscard]] std::size_t remote_span() const { return span(remote_stride); }
  /// Where run `index` begins, at either end.
  [[nodiscard]] std::size_t local_offset(std::int64_t index) const {
    return static_cast<std::size_t>(index) * local_stride;
  }
  [[nodiscard]] std::size_t remote_offset(std::int64_t index) const;

  /// Whether the runs are out of order. Repetitions keep to one place then, for lists of addresses
  /// are made once, and what takes no list is measured beside them.
  [[nodiscard]] bool is_scattered() const {
    return layout == Layout::vector || layout == Layout::separate || layout == Layout::aggregate;
  }

  /// "put", "get_strided", "accumulate_vector"
  [[nodiscard]] std::string name() const;
  /// "64 x 16 B", or empty when contiguous.
  [[nodiscard]] std::string shape() const;

 private:
  [[nodiscard]] std::size_t span(std::size_t stride) const {
    return static_cast<std::size_t>(runs - 1) * stride + run_bytes;
  }
};

}  // namespace tessera::bench
