// SPDX-License-Identifier: BSD-3-Clause
//
// StagedEndpoint: operations whose local buffer lies in one of this process's own windows by
// epochs, as in [ARMCIMPI12] §V.E. The buffer is copied with this rank's part locked, and unlocked
// before the target's part is locked. Otherwise one process would lock two MPI windows, which can
// deadlock, or one window twice, which is an error.
//
// Threads: as Endpoint.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "rma/transport/mpi/local_window_map.hpp"
#include "rma/transport/transport.hpp"

namespace tessera::rma::mpi {

class StagedEndpoint final : public Endpoint {
 public:
  /// `inner` must be complete when it returns, as in windows that are locked for each operation.
  StagedEndpoint(std::unique_ptr<Endpoint> inner,
                 std::shared_ptr<const LocalWindowMap> local_windows) noexcept
      : inner_(std::move(inner)), local_windows_(std::move(local_windows)) {}

  Status put(const Target& to, const void* from, const CopyShape& shape, Completion& done) override;
  Status get(void* to, const Target& from, const CopyShape& shape, Completion& done) override;
  Status accumulate(const Target& to, const void* from, const CopyShape& shape, const Scale& scale,
                    Completion& done) override;
  Status put_fragments(const Target& to, Fragments fragments, Completion& done) override;
  Status get_fragments(const Target& from, Fragments fragments, Completion& done) override;
  Status accumulate_fragments(const Target& to, Fragments fragments, const Scale& scale,
                              Completion& done) override;

  Result<bool> put_now(const Target& to, const void* from, std::size_t bytes) override;
  Result<bool> get_now(void* to, const Target& from, std::size_t bytes) override;
  Result<bool> accumulate_now(const Target& to, const void* from, std::size_t bytes,
                              const Scale& scale) override;
  Result<bool> atomic_now(const Target& at, const AtomicRequest& request) override {
    return inner_->atomic_now(at, request);
  }
  Status atomic(const Target& at, const AtomicRequest& request, Completion& done) override {
    return inner_->atomic(at, request, done);
  }
  Status fence() override { return inner_->fence(); }
  Status start_fence(Completion& done) override { return inner_->start_fence(done); }
  [[nodiscard]] bool is_fenced(RegionId region) const noexcept override {
    return inner_->is_fenced(region);
  }

 private:
  [[nodiscard]] bool is_staged(const void* local, const CopyShape& shape) const noexcept;
  [[nodiscard]] bool is_staged(Fragments fragments) const noexcept;

  std::unique_ptr<Endpoint> inner_;
  std::shared_ptr<const LocalWindowMap> local_windows_;
};

}  // namespace tessera::rma::mpi
