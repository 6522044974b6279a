// SPDX-License-Identifier: BSD-3-Clause
#include "rma/server/client/client.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <utility>

namespace tessera::rma::server {

Client::Client(ClientOptions options) : options_(std::move(options)) {}

// If memory runs out, only the reason.
void Client::report_long_wait(detail::LongWait& wait, std::string_view what,
                              NodeId node) const noexcept {
  if (options_.log == nullptr) {
    return;
  }
  report_if_long(wait, *options_.log, [&] {
    const auto at = static_cast<std::size_t>(node.value);
    return at < options_.agent_hosts.size()
               ? fmt::format("for {} the agent of node {}, in the process of rank {}", what,
                             node.value, options_.agent_hosts[at].value)
               : fmt::format("for {} the agent of node {}", what, node.value);
  });
}

void Client::close() noexcept {
  for (ClientConnection* const link : links_.all()) {
    if (!link->is_lost()) {
      link->send_bye();
    }
  }
}

}  // namespace tessera::rma::server
