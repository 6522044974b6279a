// SPDX-License-Identifier: BSD-3-Clause
#include "rma/transport/mpi/operations.hpp"

#include <optional>
#include <utility>

#include "rma/transport/mpi/endpoint.hpp"
#include "rma/transport/mpi/error.hpp"

namespace tessera::rma::mpi {

void Operations::add(std::list<MpiOperation>& operation) noexcept {
  const std::lock_guard guard(mutex_);
  under_way_.splice(under_way_.end(), operation);
}

bool Operations::is_empty() const noexcept {
  const std::lock_guard guard(mutex_);
  return under_way_.empty();
}

Status Operations::finish(MpiOperation& operation, bool& has_ended) {
  if (operation.request == MPI_REQUEST_NULL) {
    std::optional<Status> flushed =
        operation.endpoint->try_flush_local(*operation.access.window, operation.access.rank);
    has_ended = flushed.has_value();
    return has_ended ? *std::move(flushed) : Status();
  }
  int is_done = 0;
  const int code = MPI_Test(&operation.request, &is_done, MPI_STATUS_IGNORE);
  has_ended = is_done != 0 || code != MPI_SUCCESS;
  return check("MPI_Test", code);
}

// The notified code may use the endpoint at once, so it runs outside of the lock.
int Operations::progress() {
  struct Ended {
    std::list<MpiOperation> operation;
    Status status;
  };
  int count = 0;
  while (true) {
    Ended ended;
    {
      const std::unique_lock guard(mutex_, std::try_to_lock);
      if (!guard.owns_lock()) {
        return count;
      }
      const auto mpi_guard = world_->lock_calls();
      for (auto each = under_way_.begin(); each != under_way_.end(); ++each) {
        bool has_ended = false;
        ended.status = finish(*each, has_ended);
        if (has_ended) {
          ended.operation.splice(ended.operation.begin(), under_way_, each);
          break;
        }
      }
    }
    if (ended.operation.empty()) {
      return count;
    }
    const MpiOperation& operation = ended.operation.front();
    if (operation.access.effect.changes()) {
      operation.endpoint->record_change(operation.access);
    }
    operation.done->end(std::move(ended.status));
    ++count;
  }
}

}  // namespace tessera::rma::mpi
