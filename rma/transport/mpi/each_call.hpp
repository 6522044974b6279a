// SPDX-License-Identifier: BSD-3-Clause
//
// Makes an MPI call for each run of a shape or piece of a list, completed as the method requires.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "rma/base/result.hpp"
#include "rma/kernels/walk.hpp"
#include "rma/shape.hpp"
#include "rma/transport/mpi/calls.hpp"
#include "rma/transport/mpi/datatypes.hpp"
#include "rma/transport/mpi/runs.hpp"

namespace tessera::rma::mpi {

/// Calls issue(local offset, run) for each run of the shape, until one fails.
template <class Issue>
Status for_each_call(const CopyShape& shape, const Run& first, BatchCompleter completer,
                     Issue&& issue) {
  Status status;
  kernels::for_each_run(shape, [&](std::int64_t local, std::int64_t remote) {
    if (status.ok()) {
      const Run run{first.window, first.rank,
                    first.displacement + static_cast<std::uint64_t>(remote), shape.run_bytes};
      status = issue(local, run);
      status = status.ok() ? completer.after_call() : std::move(status);
    }
  });
  return status;
}

/// The same for a list: issue(fragment, run).
template <class Issue>
Status for_each_call(Fragments fragments, const Run& first, BatchCompleter completer,
                     Issue&& issue) {
  for (const Fragment& each : fragments) {
    const Run run{first.window, first.rank, first.displacement + each.remote_offset, each.bytes};
    TESSERA_RETURN_IF_ERROR(issue(each, run));
    TESSERA_RETURN_IF_ERROR(completer.after_call());
  }
  return {};
}

/// The side of a shape that a put or a get writes.
inline StridedSide::Which written_side(kernels::Direction direction) noexcept {
  return direction == kernels::Direction::to_remote ? StridedSide::Which::remote
                                                    : StridedSide::Which::local;
}

/// Whether nested strides show that no two runs of the shape overlap on that side; false: unknown.
inline bool runs_are_apart(const CopyShape& shape, StridedSide::Which which) noexcept {
  struct Step {
    std::int64_t stride;
    std::int64_t count;
  };
  std::array<Step, max_stride_levels> steps{};  // by stride
  for (int i = 0; i < shape.levels; ++i) {
    const CopyShape::Level& level = shape.level[static_cast<std::size_t>(i)];
    const bool is_local = which == StridedSide::Which::local;
    const Step step{std::abs(is_local ? level.local_stride : level.remote_stride), level.count};
    auto at = static_cast<std::size_t>(i);
    for (; at > 0 && steps[at - 1].stride > step.stride; --at) {
      steps[at] = steps[at - 1];
    }
    steps[at] = step;
  }
  auto extent = static_cast<std::int64_t>(shape.run_bytes);
  return std::all_of(steps.begin(), steps.begin() + shape.levels, [&](const Step& step) {
    const bool is_apart = step.count == 1 || step.stride >= extent;
    extent += step.stride * (step.count - 1);
    return is_apart;
  });
}

}  // namespace tessera::rma::mpi
