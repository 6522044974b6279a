// SPDX-License-Identifier: BSD-3-Clause
//
// DatagramEndpoint: puts and gets by writes and reads of a DatagramConnection, if rows are not
// short and the target's memory can be reached; everything else goes as requests.
//
// A put ends when its writes are in effect, so operations that have ended need no order. After
// requests that changed memory and are not fenced, small transfers are requests, too, and long ones
// fence first.
//
// Threads: all functions may be called from any thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "rma/kernels/copy.hpp"
#include "rma/transport/rdma.hpp"
#include "tests/support/datagram_context.hpp"

namespace tessera::rma::test {

class DatagramEndpoint final : public Endpoint {
 public:
  DatagramEndpoint(DatagramConnection& connection, WorldRank peer,
                   std::unique_ptr<Endpoint> by_requests, detail::Requests& requests) noexcept
      : connection_(connection),
        peer_(peer),
        by_requests_(std::move(by_requests)),
        requests_(requests) {}

  Status put(const Target& to, const void* from, const CopyShape& shape, Completion& done) override;
  Status get(void* to, const Target& from, const CopyShape& shape, Completion& done) override;
  Status accumulate(const Target& to, const void* from, const CopyShape& shape, const Scale& scale,
                    Completion& done) override;
  Status atomic(const Target& at, const AtomicRequest& request, Completion& done) override;
  Status atomic_list(const Target& at, const AtomicList& list, Completion& done) override;
  Status put_fragments(const Target& to, Fragments fragments, Completion& done) override;
  Status get_fragments(const Target& from, Fragments fragments, Completion& done) override;
  Status accumulate_fragments(const Target& to, Fragments fragments, const Scale& scale,
                              Completion& done) override;
  Status fence() override { return by_requests_->fence(); }
  Status start_fence(Completion& done) override { return by_requests_->start_fence(done); }
  [[nodiscard]] bool is_fenced(RegionId region) const noexcept override {
    return by_requests_->is_fenced(region);
  }

 private:
  using Direction = kernels::Direction;
  struct Piece {
    std::uint64_t offset = 0;  // in the slice
    detail::RemoteSpan span;   // no bytes: reachable by requests only
  };
  Result<bool> move(Direction direction, const Target& target, std::byte* local,
                    const CopyShape& shape, Completion& done);
  Status move_run(Direction direction, std::uint64_t address, std::byte* local, std::size_t bytes,
                  Completion& done);
  Result<std::optional<std::uint64_t>> find(RegionId region, std::uint64_t offset,
                                            std::uint64_t bytes);

  DatagramConnection& connection_;
  const WorldRank peer_;
  std::unique_ptr<Endpoint> by_requests_;
  detail::Requests& requests_;
  std::mutex mutex_;
  std::map<std::uint32_t, std::vector<Piece>> pieces_;  // by region
};

}  // namespace tessera::rma::test
