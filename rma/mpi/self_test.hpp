// SPDX-License-Identifier: BSD-3-Clause
//
// What MPI's windows can do is tried before a job relies on it.
#pragma once

#include <cstddef>
#include <memory>

#include "rma/mpi/window.hpp"
#include "rma/mpi/world.hpp"
#include "rma/result.hpp"

namespace tessera::rma::mpi {

struct TestWindow {
  std::unique_ptr<std::byte[]> memory;  ///< null: the window has its own
  std::unique_ptr<Window> window;
};

/// Collective over the job's ranks. A small window, as regions have them.
/// Errors: unsupported, on any of the ranks; names MPI's call, its text, and a remedy.
Result<TestWindow> make_test_window(const std::shared_ptr<World>& world);

/// Collective over the window's ranks, after all have it. Whether accumulates, fetch-and-adds and
/// compare-and-swaps of several ranks on one word are atomic among each other; MPI promises it for
/// each kind alone. False where they fail, or must not be tried, as Window::has_atomics() tells.
/// Cost: 96 operations by each rank.
bool mix_atomics(const Window& window);

}  // namespace tessera::rma::mpi
