// SPDX-License-Identifier: BSD-3-Clause
#include "rma/server/client/path_requests.hpp"

#include <array>
#include <utility>
#include <vector>

#include "rma/server/client/client.hpp"
#include "rma/server/client/client_connection.hpp"

namespace tessera::rma::server {

Result<detail::RemoteSpan> PathRequests::locate(WorldRank rank, RegionId region,
                                                std::uint64_t offset,
                                                const std::function<void()>& meanwhile) {
  std::array<std::byte, remote_span_bytes> bytes;
  Completion done;
  done.begin();
  PendingReply pending;
  pending.done = &done;
  pending.bytes = bytes.data();
  pending.size = bytes.size();
  TESSERA_RETURN_IF_ERROR(link_.ask({.kind = Kind::locate,
                                     .origin = link_.client().options().rank,
                                     .target = rank,
                                     .region = region,
                                     .offset = offset},
                                    {}, std::move(pending)));
  meanwhile();
  link_.wait(done);
  TESSERA_RETURN_IF_ERROR(done.take_error());
  return decode_span(bytes);
}

Status PathRequests::request_assisted_get(const detail::AssistedGetRequest& request,
                                          Completion& done, std::shared_ptr<const void> held) {
  std::vector<std::byte> sides;
  encode_sides(request.shape, sides);
  PendingReply pending;
  pending.done = &done;
  pending.held = std::move(held);
  done.begin();
  Status asked = link_.ask({.kind = Kind::push,
                            .descriptor_bytes = static_cast<std::uint32_t>(sides.size()),
                            .origin = link_.client().options().rank,
                            .target = request.rank,
                            .region = request.region,
                            .offset = request.offset,
                            .words = {request.address, request.key}},
                           sides, std::move(pending));
  if (!asked.ok()) {
    done.end(asked);
  }
  return asked;
}

bool PathRequests::is_fenced(WorldRank rank, RegionId region) const noexcept {
  return link_.changes().is_fenced(rank, region);
}

void PathRequests::wait(Completion& done) {
  link_.wait(done);
}

void PathRequests::wait_briefly() {
  link_.client().progress().wait_briefly(detail::reply_waits.first);
}

Status PathRequests::loss() const {
  return link_.loss();
}

Status PathRequests::loss_of(const Status& reason) const {
  return link_.client().links().loss_of(link_.node(), reason);
}

}  // namespace tessera::rma::server
