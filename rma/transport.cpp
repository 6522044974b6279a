// SPDX-License-Identifier: BSD-3-Clause
#include "rma/transport.hpp"

#include "rma/engine/node_link.hpp"

namespace tessera::rma {

Status Endpoint::accumulate(const Target&, const void*, const CopyShape&, const Scale&,
                            Completion&) {
  return Status::error(Code::unsupported, "this transport has no accumulate of its own");
}

Status Endpoint::atomic(const Target&, const AtomicRequest&, Completion&) {
  return Status::error(Code::unsupported, "this transport has no atomic operations of its own");
}

Result<std::unique_ptr<Segment>> Transport::attach(Team&, void*, std::size_t,
                                                   const RegionOptions&) {
  return Status::error(Code::unsupported,
                       "this transport cannot make existing memory remotely accessible")
      .hint("allocate the region instead, and copy");
}

std::unique_ptr<detail::NodeLink> Transport::node_link() {
  return nullptr;
}

}  // namespace tessera::rma
