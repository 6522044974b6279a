// SPDX-License-Identifier: BSD-3-Clause
#include "rma/armci/mailbox.hpp"

#include <optional>
#include <utility>

#include "rma/armci/mailbox_state.hpp"

namespace tessera::rma::armci {

Mailbox::Mailbox() noexcept = default;
Mailbox::Mailbox(Mailbox&&) noexcept = default;
Mailbox::Mailbox(std::unique_ptr<detail::MailboxState> state) noexcept : state_(std::move(state)) {}

Mailbox& Mailbox::operator=(Mailbox&& other) noexcept {
  if (this != &other) {
    free().ignore("a mailbox that is overwritten is freed as by its destructor");
    state_ = std::move(other.state_);
  }
  return *this;
}

Mailbox::~Mailbox() {
  free().ignore("a destructor cannot report; free() does");
}

Result<Mailbox> Mailbox::create(Job& job) {
  TESSERA_ASSIGN_OR_RETURN(detail::MailboxRegion region, detail::MailboxRegion::create(job));
  return Mailbox(std::make_unique<detail::MailboxState>(std::move(region)));
}

Status Mailbox::free() {
  return state_ ? state_->free() : Status();
}

Status Mailbox::send(std::int32_t tag, std::span<const std::byte> message, WorldRank to) {
  return state_->send(tag, message, to);
}

Status Mailbox::send_async(std::int32_t tag, std::span<const std::byte> message, WorldRank to) {
  return state_->send_async(tag, message, to);
}

Status Mailbox::wait_sent(WorldRank to) {
  return state_->wait_sent(to);
}

Status Mailbox::wait_all_sent() {
  return state_->wait_sent(std::nullopt);
}

Result<std::optional<Received>> Mailbox::probe(std::int32_t tag, WorldRank from) {
  return state_->probe(tag, from);
}

Result<std::optional<Received>> Mailbox::probe_any(std::int32_t tag) {
  return state_->probe(tag, std::nullopt);
}

Result<Received> Mailbox::receive(std::int32_t tag, std::span<std::byte> buffer, WorldRank from) {
  return state_->receive(tag, buffer, from);
}

Result<Received> Mailbox::receive_any(std::int32_t tag, std::span<std::byte> buffer) {
  return state_->receive(tag, buffer, std::nullopt);
}

}  // namespace tessera::rma::armci
