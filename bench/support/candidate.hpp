// SPDX-License-Identifier: BSD-3-Clause
//
// Candidate: one way to do a piece of work, to be measured against other ways.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace tessera::bench {

struct Candidate {
  std::string name;  ///< the backend: "shm", "memcpy", "armci-mpi"

  /// Does the work `repetitions` times. Only this is timed. Called on rank 0 alone, or on every
  /// rank if `cooperative`.
  std::function<void(std::int64_t repetitions)> run;

  /// Called once on every rank before anything else; may be collective; may be empty.
  std::function<void()> prepare = {};

  /// Does the work once and checks the data; called on every rank, outside the timed regions; may
  /// be empty. Returns an error message, or an empty string.
  std::function<std::string()> verify = {};

  /// Whether all ranks run it together (ping-pong, triad, collectives). A sample then starts at a
  /// barrier, and its time is that of the slowest rank.
  bool cooperative = false;

  /// Payload of one repetition over all ranks, for bandwidths; 0 if none is defined.
  std::size_t bytes = 0;

  /// Number of operations in one repetition over all ranks: messages, draws, updates. Empty if a
  /// rate would add nothing to the time.
  std::optional<double> operations = std::nullopt;
};

/// Calls `once` in each repetition.
template <class Once>
auto repeat(Once once) {
  return [once = std::move(once)](std::int64_t repetitions) mutable {
    for (std::int64_t i = 0; i < repetitions; ++i) {
      once();
    }
  };
}
/// Rank 0 alone calls `once` in each repetition, or all ranks together.
template <class Once>
Candidate by_one(std::string_view name, Once once, std::size_t bytes = 0) {
  return {.name = std::string(name), .run = repeat(std::move(once)), .bytes = bytes};
}
template <class Once>
Candidate by_all(std::string_view name, Once once, std::size_t bytes = 0) {
  return {.name = std::string(name),
          .run = repeat(std::move(once)),
          .cooperative = true,
          .bytes = bytes};
}

/// Appends a candidate, if it exists.
inline void add(std::vector<Candidate>& candidates, std::optional<Candidate> candidate) {
  if (candidate) {
    candidates.push_back(std::move(*candidate));
  }
}
/// The same candidate under another name.
inline Candidate renamed(Candidate candidate, std::string_view name) {
  candidate.name = name;
  return candidate;
}
inline void add(std::vector<Candidate>& candidates, std::vector<Candidate> more) {
  std::move(more.begin(), more.end(), std::back_inserter(candidates));
}

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

enum class Operation {
  put,
  get,
  accumulate,
  fetch_add,     ///< of one 64-bit integer
  swap,          ///< of one 64-bit integer
  compare_swap,  ///< of one 64-bit integer that has the expected value
  lock_unlock,   ///< of a free mutex
};
inline constexpr std::array copies = {Operation::put, Operation::get};

/// "fetch_add", as in records; and "Fetch-and-Add", as in titles.
const char* name_of(Operation operation);
const char* title_of(Operation operation);

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

// Makes a Candidate from "do it once, at these offsets": rotation through buffers, and the data
// check.
//
// Both are the same for every backend, so that two candidates differ only by their backends. A
// backend gives a Workspace and a callable once(local_offset, remote_offset), which does a Case
// with both buffers shifted by that many bytes:
//
//     transfer_candidate("memcpy", c, workspace, [=](std::size_t local, std::size_t remote) {
//       std::memcpy(there + remote, here + local, c.run_bytes);
//     });

/// The buffers that a backend measures with.
struct Workspace {
  std::span<std::byte> local;
  std::size_t remote_bytes = 0;
  /// Contiguous copies between a caller's buffer and the start of the remote buffer, complete at
  /// the remote end on return. They may be slow. Empty if nothing is checked.
  std::function<void(std::span<const std::byte>)> write_remote = {};
  std::function<void(std::span<std::byte>)> read_remote = {};
  /// Use another part of the buffers in each repetition, except for scattered runs. To keep data
  /// out of the caches, make the buffers cold_bytes() of the largest cache.
  bool rotate = false;
};

/// Four times `cache_bytes`, and at least 64 MiB: the size that --cold rotates through, and
/// STREAM's rule for an array. At most a thirty-second of the machine's memory, because a virtual
/// machine may report its host's whole cache. objections() says so if that is less than four times
/// the cache.
std::size_t cold_bytes(std::int64_t cache_bytes);

/// The offsets that successive repetitions use.
class Rotation {
 public:
  struct Place {
    std::size_t local = 0;
    std::size_t remote = 0;
  };

  /// Requires: the case fits into the buffers.
  Rotation(const Case& c, const Workspace& workspace)
      : local_step_(line_up(c.local_span())), remote_step_(line_up(c.remote_span())) {
    const std::size_t fitting =
        std::min(workspace.local.size() / local_step_, workspace.remote_bytes / remote_step_);
    slots_ = workspace.rotate && !c.is_scattered() ? std::max<std::size_t>(fitting, 1) : 1;
  }

  Place next() {
    const Place place = {slot_ * local_step_, slot_ * remote_step_};
    slot_ = slot_ + 1 < slots_ ? slot_ + 1 : 0;
    return place;
  }

  [[nodiscard]] std::size_t slots() const { return slots_; }

 private:
  /// An offset is a multiple of a cache line, so that no position is warm from its neighbour.
  static std::size_t line_up(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

  std::size_t local_step_;
  std::size_t remote_step_;
  std::size_t slots_ = 1;
  std::size_t slot_ = 0;
};

/// Whether the case fits into the workspace.
bool fits(const Case& c, const Workspace& workspace);

/// Fills both ends with known data, calls `once`, and compares both with the result of a plain
/// loop, gaps included. Returns an error message, or an empty string. Destroys the contents of
/// both.
std::string verify_transfer(const Case& c, const Workspace& workspace,
                            const std::function<void()>& once);

/// make() of the one of three functions that does the operation of a case.
template <class Make, class Get, class Accumulate, class Put>
auto by_operation(const Case& c, Make make, Get get, Accumulate accumulate, Put put) {
  switch (c.operation) {
    case Operation::get:
      return make(get);
    case Operation::accumulate:
      return make(accumulate);
    default:
      return make(put);
  }
}

/// A candidate for put, get or accumulate; `verifies` says whether this rank checks the data.
/// Requires: fits(c, workspace).
template <class Once>
Candidate transfer_candidate(std::string name, const Case& c, const Workspace& workspace,
                             bool verifies, Once once) {
  Candidate candidate;
  candidate.name = std::move(name);
  candidate.bytes = c.bytes();
  candidate.run = [rotation = Rotation(c, workspace), once](std::int64_t repetitions) mutable {
    Rotation here = rotation;  // in registers: an operation may take only a nanosecond
    for (std::int64_t i = 0; i < repetitions; ++i) {
      const Rotation::Place place = here.next();
      once(place.local, place.remote);
    }
    rotation = here;
  };
  if (verifies && workspace.write_remote && workspace.read_remote) {
    candidate.verify = [c, workspace, once] {
      return verify_transfer(c, workspace, [&once] { once(0, 0); });
    };
  }
  return candidate;
}

// Fetch-and-add as all candidates do it: each adds one to a word, again and again.

/// `add(increment)` returns the old value; `verifies` says whether this rank checks it.
template <class Add>
Candidate fetch_add_candidate(std::string name, bool verifies, Add add,
                              std::size_t bytes = sizeof(std::int64_t)) {
  Candidate candidate = by_one(
      std::move(name), [add] { static_cast<void>(add(1)); }, bytes);
  if (verifies) {
    candidate.verify = [add]() -> std::string {
      const std::int64_t before = add(2);
      const std::int64_t after = add(0);
      return after - before == 2 ? "" : fmt::format("adding 2 to {} gave {}", before, after);
    };
  }
  return candidate;
}

/// Swap as all candidates do it: `exchange(value)` returns the old value.
template <class Exchange>
Candidate swap_candidate(std::string_view name, bool verifies, Exchange exchange,
                         std::size_t bytes = sizeof(std::int64_t)) {
  Candidate candidate{.name = std::string(name),
                      .run =
                          [exchange](std::int64_t repetitions) {
                            for (std::int64_t i = 0; i < repetitions; ++i) {
                              static_cast<void>(exchange(i));
                            }
                          },
                      .bytes = bytes};
  if (verifies) {
    candidate.verify = [exchange]() -> std::string {
      static_cast<void>(exchange(5));
      const auto first = exchange(6);
      const auto second = exchange(0);
      return first == 5 && second == 6
                 ? ""
                 : fmt::format("swapping in 5 and 6 returned {} and {}", first, second);
    };
  }
  return candidate;
}

// Compare-and-swap as all candidates do it: each counts one word up. So all except the first of a
// batch find the expected value, and store.

/// `once(expected, desired)` returns the old value; `verifies` says whether this rank checks it.
template <class Once>
Candidate compare_swap_candidate(std::string name, bool verifies, Once once) {
  Candidate candidate;
  candidate.name = std::move(name);
  candidate.bytes = sizeof(std::int64_t);
  candidate.run = [once](std::int64_t repetitions) {
    std::int64_t expected = 0;
    for (std::int64_t i = 0; i < repetitions; ++i) {
      const std::int64_t before = once(expected, expected + 1);
      expected = before == expected ? expected + 1 : before;
    }
  };
  if (verifies) {
    candidate.verify = [once]() -> std::string {
      const std::int64_t start = once(0, 0);
      once(start + 1, start + 2);  // not the expected value, so nothing is stored
      once(start, start + 5);
      const std::int64_t end = once(start + 5, start);
      return end == start + 5 ? ""
                              : fmt::format("exchanging {} for {} gave {}", start, start + 5, end);
    };
  }
  return candidate;
}

// Collective: an operation among all ranks, and the contents of its buffers before and after, which
// are the same for all implementations.

/// A collective operation among all ranks. Reductions compute with doubles. `bytes` are each
/// rank's, a multiple of a double's size.
struct Collective {
  enum class Kind : std::uint8_t { barrier, broadcast, allreduce, reduce, allgather, alltoallv };
  Kind kind = Kind::barrier;
  std::size_t bytes = 0;  ///< of each rank; in an alltoallv, to each rank
};

/// One rank's buffers of a collective. Numbers are whole, so that sums are exact in any order.
class CollectiveBuffers {
 public:
  CollectiveBuffers(const Collective& collective, int rank, int ranks);

  /// What this rank contributes; also its result if the operation is done in place.
  [[nodiscard]] std::span<double> own() { return own_; }
  /// Room for the result of an allgather, an alltoallv or a reduction out of place; otherwise the
  /// same as own().
  [[nodiscard]] std::span<double> all() { return all_; }
  /// How many elements go to each rank in an alltoallv.
  [[nodiscard]] std::size_t block() const noexcept { return collective_.bytes / sizeof(double); }

  /// Local. Fills own() with this rank's contribution.
  void fill();
  /// Local. An error message for `result`, after the operation on buffers that all ranks had
  /// filled; empty if the result is right. A reduction's result is on rank 0; a barrier has none.
  [[nodiscard]] std::string problem(std::span<const double> result) const;

 private:
  [[nodiscard]] double expected(std::size_t index) const;

  Collective collective_;
  int rank_;
  int ranks_;
  std::vector<double> own_;
  std::vector<double> all_;
};

}  // namespace tessera::bench
