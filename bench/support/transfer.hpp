// SPDX-License-Identifier: BSD-3-Clause
//
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
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>

#include "bench/support/candidate.hpp"
#include "bench/support/case.hpp"

namespace tessera::bench {

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

}  // namespace tessera::bench
