// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/ga/tcgmsg/messages.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "rma/armci/communicator.hpp"

namespace tessera::ga::tcgmsg {

using rma::Code;
using rma::Result;
using rma::Status;
using rma::TeamRank;
using rma::WorldRank;
using rma::armci::Holder;
using rma::armci::Received;
using rma::armci::Session;

namespace {

constexpr std::int32_t tag_bit = 1 << 30;

Result<std::int32_t> tag_of(std::int64_t type) {
  if (type < 0 || type >= tag_bit) {
    return wrong(fmt::format("{} is not a type of messages", type)).hint("use 0 to 1073741823");
  }
  return static_cast<std::int32_t>(type) | tag_bit;
}

WorldRank world(std::int64_t node) {
  return WorldRank{static_cast<std::int32_t>(node)};
}

Status check_length(std::span<const std::byte> buffer) {
  // A negative length has become a large one.
  if (static_cast<std::int64_t>(buffer.size()) < 0) {
    return wrong(fmt::format("a buffer of {} bytes", static_cast<std::int64_t>(buffer.size())));
  }
  return {};
}

}  // namespace

// Not destroyed if a program ends without pend: that would wait for the other processes.
constinit Messages* Messages::running = nullptr;

Status Messages::begin(int* argc, char*** argv) {
  if (is_begun()) {
    return wrong("TCGMSG runs already").hint("call pbeginf once");
  }
  TESSERA_RETURN_IF_ERROR(rma::armci::start_mpi_if_launched(argc, argv));
  TESSERA_RETURN_IF_ERROR(Session::begin(Holder::messages));
  TESSERA_ASSIGN_OR_RETURN(Messages* const messages, find());
  return messages->make_counter();
}

bool Messages::is_begun() noexcept {
  return Session::is_begun_by(Holder::messages);
}

Result<Messages*> Messages::find() {
  Session* const session = Session::current();
  if (session == nullptr) [[unlikely]] {
    return Status::error(Code::closed, "TCGMSG is not running")
        .hint("call its functions only between pbeginf and pend");
  }
  if (running == nullptr || &running->session_ != session) [[unlikely]] {
    delete running;  // of a session that has ended
    running = new Messages(*session);
  }
  return running;
}

Result<Messages*> Messages::find_or_begin() {
  if (Session::current() == nullptr) {
    int count = 0;
    char** none = nullptr;
    TESSERA_RETURN_IF_ERROR(begin(&count, &none));
  }
  return find();
}

Status Messages::end() {
  Status all;
  if (Session::current() != nullptr) {
    TESSERA_ASSIGN_OR_RETURN(Messages* const messages, find());
    const std::unique_ptr<Messages> last(std::exchange(running, nullptr));
    all = messages->free();
  }
  Status ended = Session::end(Holder::messages);
  rma::armci::end_mpi();
  return all.ok() ? std::move(ended) : std::move(all);
}

Status Messages::free() {
  Status waited = wait(-1);
  TESSERA_RETURN_IF_ERROR(session_.job.barrier());
  if (counter_) {
    TESSERA_RETURN_IF_ERROR(counter_->free());
  }
  return waited;
}

// ---- Messages -----------------------------------------------------------------------------------

Status Messages::check_node(std::int64_t node) const {
  if (node < 0 || node >= size()) {
    return wrong(fmt::format("there is no node {}: nodes are 0 to {}", node, size() - 1));
  }
  return {};
}

Status Messages::send(std::int64_t type, std::span<const std::byte> message, std::int64_t to,
                      bool waits) {
  TESSERA_RETURN_IF_ERROR(check_node(to));
  TESSERA_RETURN_IF_ERROR(check_length(message));
  TESSERA_ASSIGN_OR_RETURN(const std::int32_t tag, tag_of(type));
  if (is_debug_) {
    std::printf("%ld: snd type %ld, %ld bytes, to node %ld\n", static_cast<long>(rank()),
                static_cast<long>(type), static_cast<long>(message.size()), static_cast<long>(to));
    std::fflush(stdout);
  }
  ++sent_;
  sent_bytes_ += static_cast<std::int64_t>(message.size());
  return waits ? session_.mailbox.send(tag, message, world(to))
               : session_.mailbox.send_async(tag, message, world(to));
}

Result<Received> Messages::take(std::int32_t tag, std::span<std::byte> buffer, std::int64_t from) {
  Result<Received> received = from < 0 ? session_.mailbox.receive_any(tag, buffer)
                                       : session_.mailbox.receive(tag, buffer, world(from));
  if (received.ok()) {
    ++received_;
    received_bytes_ += static_cast<std::int64_t>(received->bytes);
  }
  return received;
}

// Receives what was posted before and could take the same messages.
Status Messages::serve_posted(std::int32_t tag, std::int64_t from) {
  for (auto each = posted_.begin(); each != posted_.end();) {
    const bool may_match = each->tag == tag && (each->from < 0 || from < 0 || each->from == from);
    if (may_match) {
      TESSERA_RETURN_IF_ERROR(take(tag, each->buffer, each->from).status());
    }
    each = may_match ? posted_.erase(each) : std::next(each);
  }
  return {};
}

Result<Messages::Came> Messages::receive(std::int64_t type, std::span<std::byte> buffer,
                                         std::int64_t from, bool waits) {
  if (from != -1) {
    TESSERA_RETURN_IF_ERROR(check_node(from));
  }
  TESSERA_RETURN_IF_ERROR(check_length(buffer));
  TESSERA_ASSIGN_OR_RETURN(const std::int32_t tag, tag_of(type));
  if (is_debug_) {
    std::printf("%ld: rcv type %ld, up to %ld bytes, from node %ld\n", static_cast<long>(rank()),
                static_cast<long>(type), static_cast<long>(buffer.size()), static_cast<long>(from));
    std::fflush(stdout);
  }
  if (!waits) {
    posted_.push_back({tag, buffer, from});
    return Came{-1, from};
  }
  TESSERA_RETURN_IF_ERROR(serve_posted(tag, from));
  TESSERA_ASSIGN_OR_RETURN(const Received received, take(tag, buffer, from));
  return Came{static_cast<std::int64_t>(received.bytes), received.from.value};
}

Result<std::optional<Received>> Messages::look(std::int32_t tag, std::int64_t from) {
  return from < 0 ? session_.mailbox.probe_any(tag) : session_.mailbox.probe(tag, world(from));
}

Result<bool> Messages::probe(std::int64_t type, std::int64_t from) {
  if (from >= 0) {
    TESSERA_RETURN_IF_ERROR(check_node(from));
  }
  TESSERA_ASSIGN_OR_RETURN(const std::int32_t tag, tag_of(type));
  // A message that a posted receive will take is not there for another one.
  for (auto each = posted_.begin(); each != posted_.end();) {
    const bool may_match = each->tag == tag && (each->from < 0 || from < 0 || each->from == from);
    if (!may_match) {
      ++each;
      continue;
    }
    TESSERA_ASSIGN_OR_RETURN(const std::optional<Received> for_posted, look(tag, each->from));
    if (!for_posted) {
      return false;
    }
    TESSERA_RETURN_IF_ERROR(take(tag, each->buffer, each->from).status());
    each = posted_.erase(each);
  }
  TESSERA_ASSIGN_OR_RETURN(const std::optional<Received> found, look(tag, from));
  return found.has_value();
}

// Receives before sends: the other side may be doing the same.
Status Messages::wait(std::int64_t node) {
  if (node != -1) {
    TESSERA_RETURN_IF_ERROR(check_node(node));
  }
  for (auto each = posted_.begin(); each != posted_.end();) {
    const bool is_meant = node < 0 || each->from < 0 || each->from == node;
    if (is_meant) {
      TESSERA_RETURN_IF_ERROR(take(each->tag, each->buffer, each->from).status());
    }
    each = is_meant ? posted_.erase(each) : std::next(each);
  }
  return node < 0 ? session_.mailbox.wait_all_sent() : session_.mailbox.wait_sent(world(node));
}

void Messages::print_counts() const {
  std::printf("%ld: TCGMSG sent %ld messages of %ld bytes, received %ld of %ld bytes\n",
              static_cast<long>(rank()), static_cast<long>(sent_), static_cast<long>(sent_bytes_),
              static_cast<long>(received_), static_cast<long>(received_bytes_));
  std::fflush(stdout);
}

}  // namespace tessera::ga::tcgmsg
