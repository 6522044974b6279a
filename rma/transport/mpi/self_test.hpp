// SPDX-License-Identifier: BSD-3-Clause
//
// Tests MPI's windows before a job relies on them.
#pragma once

#include <cstddef>
#include <memory>

#include "rma/base/result.hpp"
#include "rma/transport/mpi/window.hpp"
#include "rma/transport/mpi/world.hpp"

namespace tessera::rma::mpi {

struct TestWindow {
  std::unique_ptr<std::byte[]> memory;  ///< null: the window has its own
  std::unique_ptr<Window> window;
};

/// Collective over the job's ranks. A small window like those of regions. Errors: unsupported, on
/// any of the ranks; names MPI's call, its text, and a remedy.
Result<TestWindow> make_test_window(const std::shared_ptr<World>& world);

/// Collective over the window's ranks, after all have it. Whether accumulates, fetch-and-adds and
/// compare-and-swaps of several ranks on one word are atomic with each other; MPI guarantees it for
/// each kind alone. False if the test fails, or if Window::has_atomics() forbids it. Cost: 96
/// operations by each rank.
bool test_mixed_atomics(const Window& window);

}  // namespace tessera::rma::mpi
