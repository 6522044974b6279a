// SPDX-License-Identifier: BSD-3-Clause
//
// From "do it once, at these places" to a Candidate: rotation through buffers, and the data check.
//
// Both are the same for every backend, so that a difference between two candidates is one between
// the backends. A backend gives a Workspace and a callable once(local_offset, remote_offset) that
// does a Case with both buffers shifted by that many bytes:
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
  /// the remote end on return. Slow is fine. Empty where there is nothing to check.
  std::function<void(std::span<const std::byte>)> write_remote = {};
  std::function<void(std::span<std::byte>)> read_remote = {};
  /// Use another part of the buffers in each repetition, but for scattered runs. For data that
  /// shall not be in the caches the buffers should have cold_bytes() of the largest cache.
  bool rotate = false;
};

/// Four times `cache_bytes`, and at least 64 MiB: what --cold rotates through, and STREAM's rule
/// for an array. At most a thirty-second of the machine's memory: a virtual machine may be told of
/// its host's whole cache. objections() says so where that makes it less than four times.
std::size_t cold_bytes(std::int64_t cache_bytes);

/// The places that successive repetitions use.
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
  /// A place takes whole cache lines, so that none is warm from its neighbour.
  static std::size_t line_up(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

  std::size_t local_step_;
  std::size_t remote_step_;
  std::size_t slots_ = 1;
  std::size_t slot_ = 0;
};

/// Whether the case fits into the workspace.
bool fits(const Case& c, const Workspace& workspace);

/// Fills both ends with known data, calls `once`, and compares both with what a plain loop gives,
/// gaps included. Returns what is wrong, or an empty string. Destroys the contents of both.
std::string verify_transfer(const Case& c, const Workspace& workspace,
                            const std::function<void()>& once);

/// A candidate for put, get or accumulate; `verifies` says whether this rank is the one to check.
/// Requires: fits(c, workspace).
template <class Once>
Candidate transfer_candidate(std::string name, const Case& c, const Workspace& workspace,
                             bool verifies, Once once) {
  Candidate candidate;
  candidate.name = std::move(name);
  candidate.bytes = c.bytes();
  candidate.run = [rotation = Rotation(c, workspace), once](std::int64_t repetitions) mutable {
    Rotation here = rotation;  // in registers: an operation may take no more than a nanosecond
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
