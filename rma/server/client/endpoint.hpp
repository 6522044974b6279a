// SPDX-License-Identifier: BSD-3-Clause
//
// ServerEndpoint: operations on one rank of another node, sent as requests to that node's agent.
//
// Large operations are sent in parts, so that the agent receives one part while it performs the
// previous one (pipelining, [CLUSTERS02] §3). This also bounds what either side has to keep. Long
// rows are sent from their memory and received into it; short rows are packed.
//
// Completion: a put or accumulate ends when its bytes are with the kernel or packed; a get ends
// when its reply has come. Cost: one request a part; none for an operation of zero bytes.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "rma/server/client/client.hpp"
#include "rma/transport/transport.hpp"

namespace tessera::rma::server {

class ServerEndpoint final : public Endpoint {
 public:
  ServerEndpoint(ClientConnection& link, WorldRank self, WorldRank peer) noexcept
      : link_(link), self_(self), peer_(peer) {}

  Status put(const Target& to, const void* from, const CopyShape& shape, Completion& done) override;
  Result<bool> put_now(const Target& to, const void* from, std::size_t bytes) override;
  Status get(void* to, const Target& from, const CopyShape& shape, Completion& done) override;
  Status accumulate(const Target& to, const void* from, const CopyShape& shape, const Scale& scale,
                    Completion& done) override;
  Status put_fragments(const Target& to, Fragments fragments, Completion& done) override;
  Status get_fragments(const Target& from, Fragments fragments, Completion& done) override;
  Status accumulate_fragments(const Target& to, Fragments fragments, const Scale& scale,
                              Completion& done) override;
  Status atomic(const Target& at, const AtomicRequest& request, Completion& done) override;
  Status atomic_list(const Target& at, const AtomicList& list, Completion& done) override;
  /// Sends one more request after the others; none if nothing has changed since the last fence.
  Status fence() override;
  Status start_fence(Completion& done) override;
  [[nodiscard]] bool is_fenced(RegionId region) const noexcept override;

 private:
  [[nodiscard]] FrameHeader request(Kind kind, const Target& target) noexcept;
  /// If the bytes are few, takes them at once and returns true; see put_now().
  Result<bool> put_small(const Target& to, const std::byte* from, std::size_t bytes,
                         RequestQueue::When when);
  /// Whether a contiguous operation of that size may be sent together with others.
  [[nodiscard]] bool joins_batch(const Target& target, std::size_t bytes) const noexcept;
  Status post_packed(PostedRequest& request, std::vector<std::byte> packed, Completion& done,
                     RequestQueue::When when);
  /// Whether the rows of the transfer are too short to be sent separately.
  [[nodiscard]] bool is_packed(const CopyShape& shape) const noexcept;
  Status put_part(const Target& to, const std::byte* from, const CopyShape& shape, Completion& done,
                  RequestQueue::When when);
  Status get_part(std::byte* to, const Target& from, const CopyShape& shape, Completion& done);
  Status put_batch(const Target& to, Fragments batch, Completion& done);
  Status get_batch(const Target& from, Fragments batch, Completion& done);
  Status accumulate_batch(const Target& to, Fragments batch, const Scale& scale, Completion& done);
  Status atomic_batch(const Target& at, const AtomicList& batch, Completion& done);
  Status accumulate_part(const Target& to, const std::byte* from, const CopyShape& shape,
                         const Scale& scale, Completion& done, RequestQueue::When when);

  ClientConnection& link_;
  WorldRank self_;
  WorldRank peer_;
};

}  // namespace tessera::rma::server
