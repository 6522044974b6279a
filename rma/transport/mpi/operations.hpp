// SPDX-License-Identifier: BSD-3-Clause
//
// Operations: operations under way, until a poll finds that they are complete.
//
// Threads: all functions may be called from any thread.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>

#include "rma/base/result.hpp"
#include "rma/transport/completion.hpp"
#include "rma/transport/mpi/window_access.hpp"
#include "rma/transport/mpi/world.hpp"

namespace tessera::rma::mpi {

class WindowEndpoint;

struct MpiOperation {
  MPI_Request request = MPI_REQUEST_NULL;  ///< none: it completes with the window's flush_local
  WindowAccess access = {};  ///< if it changes the target's memory, a fence waits for it
  WindowEndpoint* endpoint = nullptr;
  Completion* done = nullptr;
  std::unique_ptr<std::byte[]> source;  ///< the data to send, if it is not the caller's memory
};

class Operations {
 public:
  explicit Operations(std::shared_ptr<World> world) : world_(std::move(world)) {}

  /// `operation` holds one element.
  void add(std::list<MpiOperation>& operation) noexcept;
  /// Ends the complete operations; returns how many.
  int progress();
  [[nodiscard]] bool is_empty() const noexcept;

 private:
  static Status finish(MpiOperation& operation, bool& has_ended);

  std::shared_ptr<World> world_;
  mutable std::mutex mutex_;
  std::list<MpiOperation> under_way_;
};

}  // namespace tessera::rma::mpi
