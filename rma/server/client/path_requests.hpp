// SPDX-License-Identifier: BSD-3-Clause
//
// PathRequests: what a path to another node (rma/transport/rdma.hpp) needs from the link that uses
// it.
//
// Threads: all functions may be called from any thread.
#pragma once

#include <functional>
#include <memory>

#include "rma/transport/rdma.hpp"

namespace tessera::rma::server {

class ClientConnection;

class PathRequests final : public detail::Requests {
 public:
  explicit PathRequests(ClientConnection& link) noexcept : link_(link) {}

  Result<detail::RemoteSpan> locate(WorldRank rank, RegionId region, std::uint64_t offset,
                                    const std::function<void()>& meanwhile) override;
  Status request_assisted_get(const detail::AssistedGetRequest& request, Completion& done,
                              std::shared_ptr<const void> held) override;
  [[nodiscard]] bool is_fenced(WorldRank rank, RegionId region) const noexcept override;
  void wait(Completion& done) override;
  void wait_briefly() override;
  [[nodiscard]] Status loss() const override;
  [[nodiscard]] Status loss_of(const Status& reason) const override;

 private:
  ClientConnection& link_;
};

}  // namespace tessera::rma::server
