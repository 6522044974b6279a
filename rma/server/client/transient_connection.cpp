// SPDX-License-Identifier: BSD-3-Clause
#include "rma/server/client/transient_connection.hpp"

#include <utility>

#include "rma/progress/waiter.hpp"
#include "rma/server/client/client.hpp"

namespace tessera::rma::server {

Result<TransientConnection> TransientConnection::open(Client& client, NodeId node,
                                                      std::chrono::milliseconds timeout) {
  TESSERA_ASSIGN_OR_RETURN(auto link, client.links().open_transient(node, timeout));
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
  constexpr std::chrono::seconds check_period{1};
  detail::OnDescriptor socket(link_->channel().descriptor(), POLLIN);
  const auto is_over = [&] {
    while (!done.done() && link_->progress() > 0) {
    }
    socket.set_events(link_->queue().has_unsent() ? POLLIN | POLLOUT : POLLIN);
    return done.done();
  };
  auto checked = std::chrono::steady_clock::now();
  const auto check_host = [&] {
    if (const auto now = std::chrono::steady_clock::now(); now - checked > check_period) {
      checked = now;
      link_->maintain(false);
    }
    return false;
  };
  detail::Waiter waiter(link_->client().progress().wait_policy());
  if (!waiter.until(deadline).sleep(socket, is_over, check_host)) {
    link_->give_up(Status::error(Code::timed_out, "the agent did not answer in time"));
  }
}

}  // namespace tessera::rma::server
