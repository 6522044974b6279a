// SPDX-License-Identifier: BSD-3-Clause
#include "rma/server/client/transient_connection.hpp"

#include <utility>

#include "rma/server/client/client.hpp"
#include "rma/server/connection/poller.hpp"

namespace tessera::rma::server {

Result<TransientConnection> TransientConnection::open(Client& client, NodeId node,
                                                      std::chrono::milliseconds timeout) {
  TESSERA_ASSIGN_OR_RETURN(auto link, client.open_transient(node, timeout));
  return TransientConnection(std::move(link), client.options().rank);
}

TransientConnection::~TransientConnection() {
  if (link_ == nullptr) {
    return;
  }
  Completion sent;
  sent.begin();
  if (link_
          ->post({.header = {.kind = Kind::bye, .origin = self_}, .sent = &sent},
                 ClientConnection::When::now)
          .ok()) {
    wait(sent);
    sent.take_error().ignore("the connection ends in any case");
  }
}

void TransientConnection::wait(Completion& done, TimePoint deadline) {
  constexpr std::chrono::milliseconds poll_period{100};
  constexpr std::chrono::seconds check_period{1};
  auto checked = std::chrono::steady_clock::now();
  while (!done.done()) {
    if (link_->progress() > 0 || done.done()) {
      continue;
    }
    Poller::wait_for(link_->descriptor(),
                     link_->queue().has_unsent() ? EPOLLIN | EPOLLOUT : EPOLLIN, poll_period);
    const auto now = std::chrono::steady_clock::now();
    if (now - checked > check_period) {
      checked = now;
      link_->check_host();
    }
    if (now > deadline) {
      link_->give_up(Status::error(Code::timed_out, "the agent did not answer in time"));
    }
  }
}

}  // namespace tessera::rma::server
