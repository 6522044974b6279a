// SPDX-License-Identifier: BSD-3-Clause
#include "rma/transport/verbs/connection.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <utility>

#include "rma/kernels/copy.hpp"
#include "rma/kernels/walk.hpp"
#include "rma/progress/waiter.hpp"
#include "rma/transport/verbs/endpoint.hpp"
#include "rma/transport/verbs/work_request_batch.hpp"

namespace tessera::rma::verbs {
namespace {

// Entries of the send queue that are reserved for credit updates: those must always go.
constexpr std::uint32_t reserved_for_credits = 4;
// At least one in this many requests is signaled.
constexpr std::uint64_t max_unsignaled = 16;
// Polls before a connection closes, for its last completions; other connections may keep completing
// forever.
constexpr int max_final_polls = 64;

// Where the data after the queue pair's address lies.
constexpr std::size_t window_at = ConnectionAddress::encoded_bytes;
constexpr std::size_t count_bytes = 2;
constexpr std::size_t credits_at = window_at + count_bytes;
constexpr std::size_t buffer_at = credits_at + count_bytes;
constexpr std::size_t buffer_size_bytes = 4;
constexpr std::size_t flush_target_at = buffer_at + buffer_size_bytes;

// The device's status of a failed request, in words.
const char* explain(ibv_wc_status status) noexcept {
  switch (status) {
    case IBV_WC_RETRY_EXC_ERR:
      return "the other end does not answer";
    case IBV_WC_RNR_RETRY_EXC_ERR:
      return "the other end was not ready to receive";
    case IBV_WC_REM_ACCESS_ERR:
      return "the other end refused access to its memory";
    case IBV_WC_REM_INV_REQ_ERR:
      return "the other end did not accept the request";
    case IBV_WC_REM_OP_ERR:
      return "the other end could not execute the request";
    case IBV_WC_LOC_PROT_ERR:
      return "the local memory is not registered for the request";
    case IBV_WC_LOC_LEN_ERR:
      return "a message was longer than its buffer";
    case IBV_WC_WR_FLUSH_ERR:
      return "the connection had failed before";
    case IBV_WC_FATAL_ERR:
      return "the device failed";
    default:
      return "the request failed";
  }
}

std::size_t total(std::span<const iovec> pieces) noexcept {
  std::size_t bytes = 0;
  for (const iovec& piece : pieces) {
    bytes += piece.iov_len;
  }
  return bytes;
}

// Calls `copy` with each part of `bytes` bytes of `pieces` that begin at `offset`.
template <class Copy>
void for_each_part(std::span<const iovec> pieces, std::size_t offset, std::size_t bytes,
                   Copy&& copy) {
  for (const iovec& piece : pieces) {
    if (offset >= piece.iov_len) {
      offset -= piece.iov_len;
      continue;
    }
    const std::size_t here = std::min(bytes, piece.iov_len - offset);
    copy(static_cast<std::byte*>(piece.iov_base) + offset, here);
    bytes -= here;
    offset = 0;
    if (bytes == 0) {
      return;
    }
  }
}

void gather(std::span<const iovec> pieces, std::size_t offset, std::span<std::byte> to) {
  std::byte* at = to.data();
  for_each_part(pieces, offset, to.size(), [&](const std::byte* from, std::size_t bytes) {
    std::memcpy(at, from, bytes);
    at += bytes;
  });
}

// Other threads may read the memory meanwhile: aligned words never tear.
void scatter(std::span<const std::byte> from, std::span<const iovec> pieces, std::size_t offset) {
  const std::byte* at = from.data();
  for_each_part(pieces, offset, from.size(), [&](std::byte* to, std::size_t bytes) {
    kernels::copy_small(to, at, bytes);
    at += bytes;
  });
}

}  // namespace

Result<std::unique_ptr<VerbsConnection>> VerbsConnection::open(VerbsContext& context) {
  const VerbsContextOptions& options = context.adapter().options;
  const DeviceLimits& limits = context.device()->limits();
  TESSERA_ASSIGN_OR_RETURN(
      QueuePair queue,
      QueuePair::create(context.device(),
                        {.send_completions = context.completions(),
                         .receive_completions = context.completions(),
                         .receives = context.receive_queue().get(),
                         .depth = std::min(options.depth, limits.max_queue_depth),
                         .send_sge = max_pieces(limits),
                         .inline_bytes = std::min(options.inline_bytes, limits.max_inline)}));
  TESSERA_RETURN_IF_ERROR(context.receive_queue().start());
  std::unique_ptr<VerbsConnection> connection(new VerbsConnection(context, std::move(queue)));
  TESSERA_RETURN_IF_ERROR(connection->reserve_window());
  context.add_connection(connection->queue_.number(), *connection);
  return connection;
}

// For comparison: separate buffers for each client, as earlier servers had them ([CLUSTERS02]).
Status VerbsConnection::reserve_window() {
  const VerbsContextOptions& options = context_.adapter().options;
  if (options.reserves_for_clients) {
    TESSERA_RETURN_IF_ERROR(
        context_.receive_queue().reserve_for_client(options.window + credit_messages));
    reserved_ = options.window + credit_messages;
    credits_.reserve(options.window);
  }
  return {};
}

VerbsConnection::VerbsConnection(VerbsContext& context, QueuePair queue)
    : context_(context),
      queue_(std::move(queue)),
      inline_bytes_(
          std::min(queue_.capacities().max_inline_data, context.adapter().options.inline_bytes)),
      credits_(context.adapter().options.window) {}

VerbsConnection::~VerbsConnection() {
  drain();
  queue_.to_error().ignore("it is destroyed in any case");
  // Destroying the queue pair drops its completions that were not read, such as those of message
  // buffers.
  for (int polls = 0; polls < max_final_polls && context_.progress() > 0; ++polls) {
  }
  context_.remove_connection(queue_.number());
  lose(Status::error(Code::closed, "the connection was closed"));
  complete_until(posted_, loss());
  for (; !messages_.empty(); messages_.pop_front()) {
    release_message(messages_.front());
  }
  context_.receive_queue().release_credits(reserved_ > 0 ? reserved_ : credits_.granted());
}

// Waits until the other end has received everything, or is gone. Otherwise it could take the end of
// the TCP stream for a loss.
void VerbsConnection::drain() noexcept {
  constexpr std::chrono::milliseconds max_wait{1000};
  constexpr detail::TimedWaits waits{.first = std::chrono::microseconds(50),
                                     .longest = std::chrono::microseconds(50)};
  {
    const std::lock_guard guard(sending_);
    if (tcp_channel_ == nullptr || is_lost_ || posted_ == ended_) {
      return;
    }
    // This request is signaled, and so completes all before it.
    context_.take_last_entry();
    post_message({}, {}, {.is_last = true}).ignore("a failed connection needs no draining");
  }
  const auto is_done = [this] {
    const std::lock_guard guard(sending_);
    return is_lost_ || posted_ == ended_;
  };
  detail::poll_until(waits, std::chrono::steady_clock::now() + max_wait, [&] {
    context_.progress();
    return is_done();
  });
}

// --- connecting

// The queue pair's address, the window, the initial credits, the size of a buffer, and the address
// and key of the flush target, little-endian.
detail::RdmaAddressBytes VerbsConnection::address() const {
  detail::RdmaAddressBytes bytes{};
  const auto encoded = queue_.address().encode();
  std::copy(encoded.begin(), encoded.end(), bytes.begin());
  const detail::RemoteSpan flush_target = context_.flush_target();
  const VerbsContextOptions& options = context_.adapter().options;
  store_low(options.window, count_bytes, &bytes[window_at]);
  store_low(reserved_ > 0 ? options.window : 0, count_bytes, &bytes[credits_at]);
  store_low(context_.receive_queue().bytes(), buffer_size_bytes, &bytes[buffer_at]);
  store_low(flush_target.address, sizeof(std::uint64_t), &bytes[flush_target_at]);
  store_low(flush_target.key, sizeof(std::uint32_t),
            &bytes[flush_target_at + sizeof(std::uint64_t)]);
  return bytes;
}

Status VerbsConnection::connect(const detail::RdmaAddressBytes& other) {
  TESSERA_ASSIGN_OR_RETURN(
      const ConnectionAddress peer_address,
      ConnectionAddress::decode(std::span(other).first(ConnectionAddress::encoded_bytes)));
  const auto window = static_cast<std::uint32_t>(load_low(&other[window_at], count_bytes));
  const auto credits = static_cast<std::uint32_t>(load_low(&other[credits_at], count_bytes));
  const std::size_t bytes = load_low(&other[buffer_at], buffer_size_bytes);
  if (window == 0) {
    return Status::error(Code::protocol, "the other end has no buffers for messages");
  }
  if (window > max_window || credits > window || bytes < max_uncredited_bytes) {
    return Status::error(
        Code::protocol,
        fmt::format("the other end grants {} of {} credits for messages of {} bytes", credits,
                    window, bytes));
  }
  flush_target_ = {
      load_low(&other[flush_target_at], sizeof(std::uint64_t)), 1,
      load_low(&other[flush_target_at + sizeof(std::uint64_t)], sizeof(std::uint32_t))};
  TESSERA_RETURN_IF_ERROR(queue_.connect(peer_address));
  const std::lock_guard guard(sending_);
  credits_.begin(credits, window, std::min(bytes, context_.buffers().bytes()));
  return {};
}

void VerbsConnection::watch(std::unique_ptr<detail::Channel> tcp_channel) {
  tcp_channel_ = std::move(tcp_channel);
  descriptor_ = tcp_channel_->descriptor();
  context_.record_arrival(descriptor_);  // messages may have arrived before
}

int VerbsConnection::descriptor() const noexcept {
  return descriptor_;
}

std::string VerbsConnection::peer() const {
  return tcp_channel_ == nullptr ? "a connection that is being opened" : tcp_channel_->peer();
}

Status VerbsConnection::check() const {
  return is_lost_ ? loss() : tcp_channel_->check();
}

// No data comes over the TCP stream: only its end can arrive.
Status VerbsConnection::on_readable() {
  if (is_lost_) {
    return loss();
  }
  std::byte byte{};
  const iovec room{&byte, 1};
  const auto received = tcp_channel_->receive(std::span(&room, 1));
  if (received.ok() && *received == 0) {
    return {};
  }
  Status reason =
      received.ok()
          ? Status::error(Code::protocol,
                          peer() + " sent data over the TCP connection, which RDMA has replaced")
          : received.status();
  lose(reason);
  return reason;
}

Status VerbsConnection::loss() const {
  const std::lock_guard guard(reason_mutex_);
  return reason_;
}

// Requests under way end when the device reports it, or when the connection is destroyed: until
// then the device may access their memory.
void VerbsConnection::lose(const Status& reason) {
  {
    const std::lock_guard guard(reason_mutex_);
    if (is_lost_) {
      return;
    }
    reason_ = reason;
    is_lost_ = true;
  }
  queue_.to_error().ignore("it has failed in any case");
  if (descriptor_ >= 0) {
    // The other end's device may never notice by itself.
    shutdown(descriptor_, SHUT_RDWR);
    context_.record_arrival(descriptor_);
  }
}

// --- requests

// Requires: sending_ is locked. Takes room for that many requests, which must then be posted.
bool VerbsConnection::take_room(std::uint32_t count) {
  return posted_ - ended_ + count + reserved_for_credits <= queue_.capacities().max_send_wr &&
         context_.take_entries(count, queue_.number());
}

std::uint32_t VerbsConnection::max_batch() const noexcept {
  return std::max(queue_.capacities().max_send_wr / 2, reserved_for_credits + 1) -
         reserved_for_credits;
}

Result<std::uint64_t> VerbsConnection::post(ibv_send_wr* first, std::uint32_t count,
                                            OnCompletion on_completion) {
  const std::lock_guard guard(sending_);
  if (is_lost_) {
    return loss();
  }
  return take_room(count) ? post_locked(first, count, std::move(on_completion))
                          : Result<std::uint64_t>(std::uint64_t{0});
}

// Requires: sending_ is locked, and room was taken.
Result<std::uint64_t> VerbsConnection::post_locked(ibv_send_wr* first, std::uint32_t count,
                                                   OnCompletion on_completion) {
  std::uint64_t number = posted_;
  ibv_send_wr* last = first;
  for (ibv_send_wr* each = first; each != nullptr; each = each->next) {
    each->wr_id = ++number;
    last = each;
  }
  const bool is_signaled = !on_completion.may_be_unsignaled() ||
                           number - last_signaled_ >= max_unsignaled ||
                           context_.are_entries_scarce() ||
                           (on_completion.buffer >= 0 && context_.buffers().is_scarce());
  if (is_signaled) {
    last->send_flags |= IBV_SEND_SIGNALED;
  }
  ibv_send_wr* bad = nullptr;
  if (const int error = context_.device()->library()->post_send(queue_.get(), first, bad);
      error != 0) {
    lose(Status::error(Code::peer_lost,
                       fmt::format("the device accepts no further requests for {}: {}", peer(),
                                   std::strerror(error))));
    // Requests before the bad one are under way, and end with the connection, as does everything
    // that waits for them.
    const auto taken = bad == nullptr ? 0 : static_cast<std::uint32_t>(bad->wr_id - posted_ - 1);
    context_.give_back_entries(count - taken);
    count = taken;
    if (count == 0) {
      return loss();
    }
  }
  posted_ += count;
  last_signaled_ = is_signaled ? posted_ : last_signaled_;
  if (on_completion.done != nullptr) {
    context_.count_begun();
  }
  if (!on_completion.may_be_unsignaled() || on_completion.buffer >= 0) {
    pending_.push_back({posted_, std::move(on_completion)});
  }
  return posted_;
}

void VerbsConnection::take_completion(const ibv_wc& completion) {
  const bool is_message = (completion.wr_id & is_receive) != 0;
  Status status;
  if (completion.status != IBV_WC_SUCCESS) {
    // A flushed request failed because of an earlier one.
    lose(Status::error(Code::peer_lost, fmt::format("{}: {}", peer(), explain(completion.status))));
    status = loss();
  }
  if (!is_message) {
    complete_until(completion.wr_id, status);
  } else if (status.ok()) {
    take_message(completion);
  } else {
    context_.receive_queue().return_buffer(static_cast<std::uint32_t>(completion.wr_id));
  }
}

void VerbsConnection::abandon(const Status& reason) {
  lose(reason);
  std::uint64_t last = 0;
  {
    const std::lock_guard guard(sending_);
    last = posted_;
    if (ended_ == last) {
      return;
    }
  }
  complete_until(last, loss());
}

// All requests up to that number have completed.
void VerbsConnection::complete_until(std::uint64_t number, const Status& status) {
  PendingCompletion completed;
  while (record_completed(number, completed)) {
    finish(completed.on_completion, completed.number, status);
  }
  bool was_short = false;
  {
    const std::lock_guard guard(sending_);
    was_short = std::exchange(is_short_of_room_, false);
    post_deferred();
    post_update_soon();
  }
  if (was_short) {
    context_.record_arrival(descriptor_);
  }
}

void VerbsConnection::post_unposted() {
  bool was_short = false;
  {
    const std::lock_guard guard(sending_);
    was_short = std::exchange(is_short_of_room_, false);
    post_deferred();
    post_credit_update();
  }
  if (was_short) {
    context_.record_arrival(descriptor_);
  }
}

// Records the completion, and returns the first entry that waits for it.
bool VerbsConnection::record_completed(std::uint64_t number, PendingCompletion& completed) {
  const std::lock_guard guard(sending_);
  context_.give_back_entries(std::max(ended_, number) - ended_);
  ended_ = std::max(ended_, number);
  if (pending_.empty() || pending_.front().number > number) {
    return false;
  }
  completed = std::move(pending_.front());
  pending_.pop_front();
  return true;
}

void VerbsConnection::finish(OnCompletion& on_completion, std::uint64_t number,
                             const Status& status) {
  if (on_completion.is_flush && status.ok()) {
    std::uint64_t before = flushed_.load();
    while (before < number && !flushed_.compare_exchange_weak(before, number)) {
    }
  }
  if (on_completion.buffer >= 0) {
    if (on_completion.copy_to != nullptr && status.ok()) {
      kernels::copy_small(on_completion.copy_to, context_.buffers().at(on_completion.buffer),
                          on_completion.copy_bytes);
    }
    context_.give_back_buffer(on_completion.buffer);
  }
  on_completion.held.reset();
  if (on_completion.done != nullptr) {
    context_.count_ended(1);
    const detail::Requests* const requests = requests_.load(std::memory_order_acquire);
    on_completion.done->end(status.ok() || requests == nullptr ? status
                                                               : requests->loss_of(status));
  }
}

// --- assisted gets

Status VerbsConnection::push(const std::byte* from, const CopyShape& shape,
                             const detail::RemoteSpan& to) {
  const DeviceLimits& limits = context_.device()->limits();
  WorkRequestBatch requests(
      {.opcode = IBV_WR_RDMA_WRITE,
       .remote = to,
       .max_pieces = max_pieces(limits),
       .max_bytes = limits.max_message},
      [this](ibv_send_wr* first, std::uint32_t count) { return post_or_defer(first, count); });
  Status status;
  kernels::for_each_run(shape, [&](std::int64_t there, std::int64_t here) {
    for (std::size_t done = 0; done < shape.run_bytes && status.ok();) {
      // Each slab of the arena has its own keys.
      auto* const at = const_cast<std::byte*>(from) + here + done;
      const auto known = context_.adapter().arena->find(at, shape.run_bytes - done);
      status = known.status();
      if (status.ok()) {
        status = requests.add(at, known->local_key, there + static_cast<std::int64_t>(done),
                              known->bytes);
        done += known->bytes;
      }
    }
  });
  TESSERA_RETURN_IF_ERROR(std::move(status));
  return requests.finish();
}

Status VerbsConnection::post_or_defer(ibv_send_wr* first, std::uint32_t count) {
  const std::lock_guard guard(sending_);
  if (is_lost_) {
    return loss();
  }
  if (deferred_.empty() && take_room(count)) {
    return post_locked(first, count, {}).status();
  }
  DeferredRequests& batch = deferred_.push_back({});
  for (const ibv_send_wr* each = first; each != nullptr; each = each->next) {
    batch.requests.push_back(*each);
    batch.pieces.insert(batch.pieces.end(), each->sg_list, each->sg_list + each->num_sge);
  }
  return {};
}

// Requires: sending_ is locked.
void VerbsConnection::post_deferred() {
  while (!deferred_.empty() && !is_lost_ &&
         take_room(static_cast<std::uint32_t>(deferred_.front().requests.size()))) {
    DeferredRequests& batch = deferred_.front();
    ibv_sge* piece = batch.pieces.data();
    for (std::size_t i = 0; i < batch.requests.size(); ++i) {
      ibv_send_wr& each = batch.requests[i];
      each.sg_list = piece;
      piece += each.num_sge;
      each.next = i + 1 < batch.requests.size() ? &batch.requests[i + 1] : nullptr;
    }
    post_locked(batch.requests.data(), static_cast<std::uint32_t>(batch.requests.size()), {})
        .status()
        .ignore("a lost connection reports it at the next use");
    deferred_.pop_front();
  }
}

// --- messages

bool VerbsConnection::are_buffers_scarce() const {
  return reserved_ == 0 && context_.receive_queue().is_scarce();
}

// Requires: sending_ is locked, and room was taken. The bytes are in the buffer of
// `on_completion`, or are few.
Status VerbsConnection::post_message(std::span<const std::byte> bytes, CreditUpdate update,
                                     OnCompletion on_completion) {
  credits_.fill_update(update, are_buffers_scarce());
  ibv_sge piece{reinterpret_cast<std::uintptr_t>(bytes.data()),
                static_cast<std::uint32_t>(bytes.size()), context_.buffers().key()};
  ibv_send_wr request{};
  request.sg_list = &piece;
  request.num_sge = bytes.empty() ? 0 : 1;
  request.opcode = IBV_WR_SEND_WITH_IMM;
  request.send_flags =
      on_completion.buffer < 0 && !bytes.empty() ? static_cast<unsigned>(IBV_SEND_INLINE) : 0U;
  request.imm_data = htonl(update.encode());
  return post_locked(&request, 1, std::move(on_completion)).status();
}

Result<std::size_t> VerbsConnection::send(std::span<const iovec> pieces) {
  const std::lock_guard guard(sending_);
  const std::size_t bytes = total(pieces);
  std::size_t taken = 0;
  std::array<std::byte, 512> small;
  while (taken < bytes && credits_.may_send()) {
    if (is_lost_) {
      return loss();
    }
    if (!deferred_.empty() || !take_room(1)) {
      is_short_of_room_ = true;
      break;
    }
    const std::size_t here = credits_.next_bytes(bytes - taken);
    const bool is_small = here <= std::min<std::size_t>(inline_bytes_, small.size());
    const int buffer = is_small ? -1 : context_.take_buffer(descriptor_);
    if (!is_small && buffer < 0) {
      context_.give_back_entries(1);
      break;
    }
    const std::span<std::byte> to(is_small ? small.data() : context_.buffers().at(buffer), here);
    gather(pieces, taken, to);
    const CreditUpdate update = credits_.spend(bytes - taken);
    if (Status posted = post_message(to, update, {.buffer = buffer}); !posted.ok()) {
      if (buffer >= 0) {
        context_.give_back_buffer(buffer);
      }
      return posted;
    }
    taken += here;
  }
  return is_lost_ ? Result<std::size_t>(loss()) : taken;
}

void VerbsConnection::take_message(const ibv_wc& completion) {
  const auto buffer = static_cast<std::uint32_t>(completion.wr_id);
  const CreditUpdate update = CreditUpdate::decode(ntohl(completion.imm_data));
  if (completion.byte_len == 0) {
    context_.receive_queue().return_buffer(buffer);
  } else {
    store_message(buffer, completion.byte_len, update.backing);
  }
  {
    const std::lock_guard guard(sending_);
    credits_.process_update(update);
    context_.receive_queue().release_credits(credits_.take_released());
    if (const std::uint32_t wanted = credits_.credits_to_request(are_buffers_scarce());
        wanted > 0) {
      credits_.grant(static_cast<std::uint32_t>(context_.receive_queue().grant_credits(wanted)));
    }
    post_update_soon();
  }
  context_.record_arrival(descriptor_);
}

// No credit reserves the buffer of an uncredited message, so it is copied out if buffers are
// scarce.
void VerbsConnection::store_message(std::uint32_t buffer, std::uint32_t bytes, CreditUse backing) {
  Message message{.buffer = buffer, .bytes = bytes, .backing = backing};
  if (backing == CreditUse::uncredited && !context_.receive_queue().try_to_hold_uncredited()) {
    message.copy = std::make_unique_for_overwrite<std::byte[]>(bytes);
    std::memcpy(message.copy.get(), context_.receive_queue().at(buffer), bytes);
    context_.receive_queue().return_buffer(buffer);
  }
  const std::lock_guard guard(receiving_);
  messages_.push_back(std::move(message));
}

// The message was read.
void VerbsConnection::release_message(Message& message) {
  if (message.copy != nullptr) {
    return;
  }
  context_.receive_queue().return_buffer(message.buffer);
  if (message.backing == CreditUse::uncredited) {
    context_.receive_queue().record_uncredited_read();
  }
}

Result<std::size_t> VerbsConnection::receive(std::span<const iovec> into) {
  const std::size_t room = total(into);
  std::size_t taken = 0;
  Credits::Read read;
  {
    const std::lock_guard guard(receiving_);
    while (taken < room && !messages_.empty()) {
      Message& first = messages_.front();
      const std::size_t here = std::min<std::size_t>(room - taken, first.bytes - first.read);
      const std::byte* const from =
          first.copy != nullptr ? first.copy.get() : context_.receive_queue().at(first.buffer);
      scatter(std::span(from + first.read, here), into, taken);
      first.read += static_cast<std::uint32_t>(here);
      taken += here;
      if (first.read == first.bytes) {
        release_message(first);
        read.count(first.backing);
        messages_.pop_front();
      }
    }
  }
  if (read.is_any()) {
    const std::lock_guard guard(sending_);
    credits_.record_read(read);
    context_.receive_queue().release_credits(credits_.take_released());
    post_update_soon();
  }
  return taken == 0 && is_lost_ && room > 0 ? Result<std::size_t>(loss()) : taken;
}

// Requires: sending_ is locked. An agent's next reply probably carries the update; a process may
// have nothing to send.
void VerbsConnection::post_update_soon() {
  if (!credits_.needs_update()) {
    return;
  }
  if (requests_.load(std::memory_order_relaxed) == nullptr) {
    context_.record_unposted(queue_.number());
  } else {
    post_credit_update();
  }
}

// Requires: sending_ is locked. Uses reserved_for_credits; without room it is tried again when
// there is some.
void VerbsConnection::post_credit_update() {
  if (credits_.needs_update() && !is_lost_ && posted_ - ended_ < queue_.capacities().max_send_wr &&
      context_.take_entries(1, queue_.number())) {
    post_message({}, {}, {}).ignore("a lost connection has no updates to send");
  }
}

void VerbsConnection::recall_unused() {
  const std::lock_guard guard(sending_);
  if (reserved_ == 0) {
    credits_.recall_unused();
    post_credit_update();
  }
}

std::unique_ptr<Endpoint> VerbsConnection::endpoint(WorldRank peer,
                                                    std::unique_ptr<Endpoint> by_requests,
                                                    detail::Requests& requests) {
  requests_.store(&requests, std::memory_order_release);
  return std::make_unique<VerbsEndpoint>(*this, peer, std::move(by_requests), requests);
}

}  // namespace tessera::rma::verbs
