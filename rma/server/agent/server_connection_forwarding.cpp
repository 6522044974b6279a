// SPDX-License-Identifier: BSD-3-Clause
//
// The part of ServerConnection that passes requests on to other agents, and that serves agents
// which do so.
#include <fmt/format.h>

#include <utility>

#include "rma/catch_bad_alloc.hpp"
#include "rma/server/agent/server_connection.hpp"

namespace tessera::rma::server {

// --- As the agent that passes requests on.

bool ServerConnection::is_for_other(const FrameHeader& header) const {
  return options_.forwarder != nullptr && !is_trunk() && is_forwardable(header.kind) &&
         options_.forwarder->is_elsewhere(header);
}

// A full window stops only this connection, until resume().
bool ServerConnection::takes(const FrameHeader& header) {
  waits_for_trunk_ = is_authenticated_ && is_for_other(header) &&
                     !options_.forwarder->may_take(header, channel_->descriptor());
  return !waits_for_trunk_;
}

Status ServerConnection::begin_passing_on(const FrameHeader& header,
                                          std::span<const std::byte> descriptor,
                                          std::vector<iovec>& into) {
  refusal_ = options_.forwarder->check(header);
  if (header.payload_bytes > max_direct_bytes) {
    return Status::error(Code::protocol, fmt::format("{} from {} carries {} bytes; the limit is {}",
                                                     to_string(header.kind), peer(),
                                                     header.payload_bytes, max_direct_bytes));
  }
  if (!refusal_.ok()) {
    return {};  // its payload is discarded
  }
  is_passed_on_ = true;
  descriptor_.assign(descriptor.begin(), descriptor.end());
  payload_.resize(header.payload_bytes);
  if (!payload_.empty()) {
    into.push_back({payload_.data(), payload_.size()});
  }
  return {};
}

// --- As the agent that executes forwarded requests.

// Another agent passes on requests of processes, and sends only `bye` and `path` for itself.
Status ServerConnection::check_forwarded(const FrameHeader& header) const {
  const bool is_its_own =
      (header.kind == Kind::bye || header.kind == Kind::path) && header.origin == origin_;
  if (!is_its_own && (header.forwarder != trunk_of_.value || !is_forwardable(header.kind) ||
                      options_.forwarder->is_elsewhere(header))) {
    return Status::error(
        Code::protocol,
        fmt::format("the agent of node {} passed on {} from rank {} to rank {} in the name of "
                    "node {}",
                    trunk_of_.value, to_string(header.kind), header.origin.value,
                    header.target.value, header.forwarder));
  }
  return {};
}

Status ServerConnection::execute_registration(const FrameHeader& header) {
  const auto what = static_cast<ConnectionUse>(header.words[0]);
  if (what == ConnectionUse::replies && options_.replies != nullptr) {
    options_.replies->add(origin_, *this);
    return {};
  }
  const NodeId node{header.forwarder};
  if (what == ConnectionUse::agent && options_.forwarder != nullptr &&
      options_.forwarder->is_member(node, origin_)) {
    trunk_of_ = node;
    return {};
  }
  return Status::error(Code::unsupported,
                       fmt::format("this agent cannot use a connection of kind {} from {}, "
                                   "as node {}: do all ranks have the same TESSERA_SERVER_CLUSTER?",
                                   header.words[0], peer(), header.forwarder));
}

// A process that sends a request by another agent gets the reply over its own connection, if it has
// one here.
FrameWriter& ServerConnection::writer_for(const FrameHeader& request) {
  if (request.forwarder < 0 || request.reply_to < 0 || options_.replies == nullptr) {
    return writer_;
  }
  ServerConnection* const other = options_.replies->write_to(request.origin);
  return other != nullptr ? other->writer_ : writer_;
}

// Replies to requests that came together are sent together, and so are acknowledgements.
Status ServerConnection::caught_up() {
  TESSERA_RETURN_IF_ERROR(sent(acknowledge()));
  if (options_.forwarder != nullptr) {
    options_.forwarder->flush();
  }
  return sent(flush());
}

Status ServerConnection::acknowledge() {
  if (executed_ == 0) {
    return {};
  }
  const FrameHeader acknowledgement{
      .kind = Kind::acknowledge, .origin = origin_, .words = {std::exchange(executed_, 0), 0}};
  return detail::catch_bad_alloc(
      [&] { return writer_.post(encode(acknowledgement), {}, nullptr, FrameWriter::When::soon); });
}

Status ServerConnection::pass_back(const FrameHeader& answer, std::vector<std::byte> payload) {
  return sent(detail::catch_bad_alloc(
      [&] { return writer_.post(encode(answer), std::move(payload), FrameWriter::When::soon); }));
}

}  // namespace tessera::rma::server
