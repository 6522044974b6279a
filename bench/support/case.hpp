// SPDX-License-Identifier: BSD-3-Clause
//
// Case: the operation that all candidates of one measurement do, byte for byte.
//
// A transfer moves `runs` runs of `run_bytes` between a local and a remote buffer. Contiguous is
// one run. Strided runs lie `local_stride` and `remote_stride` bytes apart. Vector runs have the
// same positions as strided ones, but the order at the remote end is scattered:
//
//     contiguous  |##############|
//     strided     |####----|####----|####----|        remote order 0 1 2
//     vector      |####----|####----|####----|        remote order 0 2 1, say
//
// Separate runs are those of a vector, each moved by a non-blocking call of its own; then the
// caller waits for all. In an aggregate, a call adds each run, and all are sent together. A window
// is OSU's: adjacent runs at both ends, each moved by a non-blocking call of its own.
//
// Accumulate works on doubles: remote += scale * local.
//
// A case also says when a put or an accumulate is complete: after local completion, or after the
// data have arrived. These are two different measurements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

namespace tessera::bench {

enum class Operation {
  put,
  get,
  accumulate,
  fetch_add,     ///< of one 64-bit integer
  swap,          ///< of one 64-bit integer
  compare_swap,  ///< of one 64-bit integer that has the expected value
  lock_unlock,   ///< of a free mutex
};

/// When a put or an accumulate is complete, before the next repetition begins.
enum class Completes {
  here,       ///< the source may be reused: what the call guarantees
  at_target,  ///< after a fence: what MPI_Win_flush and a reply over TCP guarantee
};

enum class Layout { contiguous, strided, vector, separate, aggregate, window };

/// Whether it works on one word or lock and moves no runs.
constexpr bool is_atomic(Operation operation) {
  return operation == Operation::fetch_add || operation == Operation::swap ||
         operation == Operation::compare_swap || operation == Operation::lock_unlock;
}

/// When puts and accumulates of a layout are complete by default. On one node, locally complete
/// data have arrived. Between nodes they are still on the way, so that a comparison would mix
/// operations that wait for the arrival with operations that don't.
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
  /// Packed in the local buffer, scattered in the remote one. Requires: `runs` is not a multiple of
  /// 7919, the step that makes the order.
  static Case vector(Operation operation, std::size_t run_bytes, std::int64_t runs);
  /// `n` rows of `n` doubles, packed in the local buffer, out of a remote matrix of `leading`
  /// columns.
  static Case patch(Operation operation, std::int64_t n, std::int64_t leading);
  /// `n` rows of `n` doubles out of a local matrix of `local_leading` columns, packed in the remote
  /// buffer.
  static Case local_patch(Operation operation, std::int64_t n, std::int64_t local_leading);
  /// As vector(), in `runs` non-blocking calls.
  static Case separate(Operation operation, std::size_t run_bytes, std::int64_t runs);
  /// As vector(), in `runs` calls that collect the runs; one message sends them.
  static Case aggregate(Operation operation, std::size_t run_bytes, std::int64_t runs);
  /// `messages` adjacent runs, all outstanding at once.
  static Case window(Operation operation, std::size_t run_bytes, std::int64_t messages);
  /// The same case with completion `where`.
  [[nodiscard]] Case completing(Completes where) const;

  /// Whether the case includes a fence. A get is complete when its data arrive.
  [[nodiscard]] bool needs_fence() const {
    return completes == Completes::at_target && operation != Operation::get;
  }

  /// Whether all numbers that MPI and ARMCI need fit into an int.
  [[nodiscard]] bool fits_int() const {
    constexpr auto limit = static_cast<std::size_t>(std::numeric_limits<int>::max());
    return remote_span() + remote_stride < limit && local_span() + local_stride < limit;
  }

  /// Payload.
  [[nodiscard]] std::size_t bytes() const { return run_bytes * static_cast<std::size_t>(runs); }
  /// Bytes from the first to the last one touched, at either end.
  [[nodiscard]] std::size_t local_span() const { return span(local_stride); }
  [[nodiscard]] std::size_t remote_span() const { return span(remote_stride); }
  /// Where run `index` begins, at either end.
  [[nodiscard]] std::size_t local_offset(std::int64_t index) const {
    return static_cast<std::size_t>(index) * local_stride;
  }
  [[nodiscard]] std::size_t remote_offset(std::int64_t index) const;

  /// Whether the runs are out of order. Then all repetitions use the same offsets: lists of
  /// addresses are made once, and operations without lists must be comparable.
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
