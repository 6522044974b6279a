// SPDX-License-Identifier: BSD-3-Clause
#include "rma/transport/verbs/context.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "rma/transport/verbs/connection.hpp"
#include "rma/transport/verbs/device_times.hpp"

namespace tessera::rma::verbs {
namespace {

// Entries of a completion queue for the last requests of closing connections.
constexpr std::int64_t last_entries = 64;

}  // namespace

Result<std::unique_ptr<VerbsContext>> VerbsContext::create(std::shared_ptr<const Adapter> adapter) {
  std::unique_ptr<VerbsContext> context(new VerbsContext(std::move(adapter)));
  TESSERA_RETURN_IF_ERROR(context->make());
  const Adapter& shared = context->adapter();
  const std::lock_guard guard(shared.contexts_mutex);
  shared.contexts.push_back(context.get());
  return context;
}

Status VerbsContext::make() {
  const Device& used = *device();
  const VerbsContextOptions& options = adapter_->options;
  TESSERA_ASSIGN_OR_RETURN(buffers_,
                           RegisteredBufferPool::create(*adapter_->registrar, options.send_buffers,
                                                        options.buffer_bytes));
  constexpr std::size_t page_bytes = 4096;
  TESSERA_ASSIGN_OR_RETURN(
      flush_target_buffer_,
      RegisteredBufferPool::create(*adapter_->registrar, 1, page_bytes, IBV_ACCESS_REMOTE_READ));
  channel_ = OwnedChannel(used.library(), used.library()->create_comp_channel(used.context()));
  if (!channel_) {
    return cannot_make(used, "a completion channel", 0, errno);
  }
  fcntl(channel_->fd, F_SETFL, fcntl(channel_->fd, F_GETFL) | O_NONBLOCK);
  const auto entries = std::min(options.completions, used.limits().max_completions);
  completions_ = OwnedCompletions(
      used.library(),
      used.library()->create_cq(used.context(), static_cast<int>(entries), channel_.get()));
  if (!completions_) {
    return cannot_make(used, "a completion queue", used.limits().completion_queues, errno);
  }
  // Devices round up; at least half of the requested size is for requests.
  TESSERA_ASSIGN_OR_RETURN(
      receive_queue_,
      SharedReceiveQueue::create(device(), *adapter_->registrar, options.buffer_bytes,
                                 std::min<std::size_t>(options.max_receive_buffers, entries / 2)));
  entries_ = static_cast<std::int64_t>(entries) - static_cast<std::int64_t>(receive_queue_->max()) -
             last_entries;
  if (entries_ < min_depth) {
    return Status::error(Code::limit_exceeded,
                         fmt::format("a completion queue of {} entries is too small for {} "
                                     "messages and {} requests",
                                     entries, receive_queue_->max(), min_depth));
  }
  return {};
}

Result<std::unique_ptr<detail::RdmaConnection>> VerbsContext::open_connection() {
  if (has_failed_) {
    return Status::error(Code::unsupported, fmt::format("{} failed before", device()->name()));
  }
  TESSERA_ASSIGN_OR_RETURN(auto connection, VerbsConnection::open(*this));
  return std::unique_ptr<detail::RdmaConnection>(std::move(connection));
}

void VerbsContext::add_connection(std::uint32_t queue_pair, VerbsConnection& connection) {
  const std::lock_guard guard(connections_mutex_);
  connections_.insert_or_assign(queue_pair, &connection);
}

void VerbsContext::remove_connection(std::uint32_t queue_pair) {
  const std::lock_guard guard(connections_mutex_);
  connections_.erase(queue_pair);
}

// Without a descriptor no thread would poll.
void VerbsContext::record_arrival(int descriptor) {
  if (descriptor < 0) {
    return;
  }
  const auto at = static_cast<std::size_t>(descriptor);
  const std::lock_guard guard(arrivals_mutex_);
  if (at >= is_arrival_.size()) {
    is_arrival_.resize(at + 1);
  }
  if (!is_arrival_[at]) {
    is_arrival_[at] = true;
    arrivals_.push_back(descriptor);
  }
  has_arrivals_ = true;
}

void VerbsContext::record_unposted(std::uint32_t queue_pair) {
  const std::lock_guard guard(arrivals_mutex_);
  unposted_.push_back(queue_pair);
  has_unposted_ = true;
}

// Posts what no other request has carried meanwhile.
void VerbsContext::post_unposted() {
  if (!has_unposted_.load()) {
    return;
  }
  std::vector<std::uint32_t> numbers;
  {
    const std::lock_guard guard(arrivals_mutex_);
    has_unposted_ = false;
    numbers = std::exchange(unposted_, {});
  }
  const std::lock_guard guard(connections_mutex_);
  for (const std::uint32_t number : numbers) {
    if (const auto found = connections_.find(number); found != connections_.end()) {
      found->second->post_unposted();
    }
  }
}

// Records the request first, then checks, as take_buffer().
bool VerbsContext::take_entries(std::uint32_t count, std::uint32_t queue_pair) {
  const auto try_to_take = [&] {
    const std::int64_t before = entries_used_.fetch_add(count);
    const bool is_room = before + count <= entries_;
    entries_used_.fetch_sub(is_room ? 0 : count);
    return is_room;
  };
  if (try_to_take()) {
    return true;
  }
  {
    const std::lock_guard guard(arrivals_mutex_);
    if (without_entries_.empty() || without_entries_.back() != queue_pair) {
      without_entries_.push_back(queue_pair);
    }
    is_short_of_entries_ = true;
  }
  return try_to_take();
}

void VerbsContext::give_back_entries(std::uint64_t count) {
  entries_used_.fetch_sub(static_cast<std::int64_t>(count));
  if (count == 0 || !is_short_of_entries_.load()) {
    return;
  }
  const std::lock_guard guard(arrivals_mutex_);
  is_short_of_entries_ = false;
  unposted_.insert(unposted_.end(), without_entries_.begin(), without_entries_.end());
  without_entries_.clear();
  has_unposted_ = has_unposted_ || !unposted_.empty();
}

// Records the request first, then checks: a thread that returns a buffer meanwhile sees the record,
// or this sees the buffer.
int VerbsContext::take_buffer(int descriptor) {
  if (const int buffer = buffers_->take(); buffer >= 0) {
    return buffer;
  }
  {
    const std::lock_guard guard(arrivals_mutex_);
    without_buffer_.push_back(descriptor);
    is_short_of_buffers_ = true;
  }
  return buffers_->take();
}

void VerbsContext::give_back_buffer(int buffer) {
  buffers_->give_back(buffer);
  if (!is_short_of_buffers_.load()) {
    return;
  }
  std::vector<int> waiting;
  {
    const std::lock_guard guard(arrivals_mutex_);
    is_short_of_buffers_ = false;
    waiting = std::exchange(without_buffer_, {});
  }
  for (const int descriptor : waiting) {
    record_arrival(descriptor);
  }
}

std::vector<int> VerbsContext::take_ready_descriptors() {
  if (!has_arrivals_.load()) {
    return {};
  }
  const std::lock_guard guard(arrivals_mutex_);
  has_arrivals_ = false;
  for (const int descriptor : arrivals_) {
    is_arrival_[static_cast<std::size_t>(descriptor)] = false;
  }
  return std::exchange(arrivals_, {});
}

int VerbsContext::progress() {
  post_unposted();
  const std::unique_lock guard(reading_, std::try_to_lock);
  return guard.owns_lock() ? read_completions() : 0;
}

// Enables first, then checks: what arrives meanwhile is in the queue or wakes the thread.
bool VerbsContext::arm() {
  post_unposted();
  const std::lock_guard guard(reading_);
  take_events();
  if (!is_armed_) {
    is_armed_ = device()->library()->req_notify_cq(completions_.get()) == 0;
  }
  return read_completions() == 0 && !has_arrivals_.load() && !has_unposted_.load();
}

// Requires: reading_ is locked. An event of the channel only reports that it was enabled.
void VerbsContext::take_events() {
  VerbsLibrary& library = *device()->library();
  ibv_cq* queue = nullptr;
  while (is_armed_ && library.get_cq_event(channel_.get(), queue) == 0) {
    library.ack_cq_events(queue, 1);
    is_armed_ = false;
  }
}

// Requires: reading_ is locked.
int VerbsContext::read_completions() {
  constexpr int rounds = 4;  // so that many connections don't keep a caller here forever
  std::array<ibv_wc, 32> completions;
  int count = 0;
  for (int i = 0; i < rounds; ++i) {
    const int received = device()->library()->poll_cq(completions_.get(), completions);
    for (int each = 0; each < received; ++each) {
      dispatch(completions[static_cast<std::size_t>(each)]);
    }
    if (received < 0) {
      fail_all(fmt::format("the completion queue of {} cannot be read: {}", device()->name(),
                           std::strerror(-received)));
      break;
    }
    count += received;
    if (received < static_cast<int>(completions.size())) {
      break;
    }
  }
  return count;
}

// No further completions will be reported.
void VerbsContext::fail_all(const std::string& why) {
  has_failed_ = true;
  const Status reason = Status::error(Code::peer_lost, why);
  const std::lock_guard guard(connections_mutex_);
  for (const auto& [number, connection] : connections_) {
    connection->abandon(reason);
  }
}

void VerbsContext::dispatch(const ibv_wc& completion) {
  if ((completion.wr_id & is_receive) != 0) {
    receive_queue_->record_received();
  }
  const std::lock_guard guard(connections_mutex_);
  const auto found = connections_.find(completion.qp_num);
  if (found != connections_.end()) {
    found->second->take_completion(completion);
  } else if ((completion.wr_id & is_receive) != 0) {
    receive_queue_->return_buffer(static_cast<std::uint32_t>(completion.wr_id));
  }
}

void VerbsContext::maintain() {
  adapter_->dispatch_events();
  adapter_->registrar->tidy();
  receive_queue_->maintain();
  const std::lock_guard guard(connections_mutex_);
  for (const auto& [number, connection] : connections_) {
    connection->recall_unused();
  }
}

// A lost device may never report what becomes of its requests.
void VerbsContext::handle_event(const DeviceEvent& event) {
  const bool is_own =
      event.completions == completions_.get() || event.receives == receive_queue_->get();
  if (event.kind == EventKind::device_lost ||
      (is_own && (event.kind == EventKind::completion_queue_error ||
                  event.kind == EventKind::receive_queue_error))) {
    fail_all(event.text);
  } else if (is_own && event.kind == EventKind::low_on_receives) {
    receive_queue_->refill();
  }
}

const CostModel& Adapter::costs() const {
  std::call_once(is_measured, [this] {
    const auto times = measure_times(device, *registrar);
    // A device that cannot reach itself gets the default times.
    cost_model = CostModel(times.ok() ? *times : DeviceTimes(), options.buffer_bytes);
  });
  return cost_model;
}

void Adapter::dispatch_events() const {
  const std::lock_guard guard(contexts_mutex);
  for (const DeviceEvent& event : device->poll_events()) {
    for (VerbsContext* const each : contexts) {
      each->handle_event(event);
    }
  }
}

VerbsContext::~VerbsContext() {
  const std::lock_guard guard(adapter_->contexts_mutex);
  std::erase(adapter_->contexts, this);
}

Result<detail::RemoteSpan> VerbsContext::expose(std::byte* from, std::uint64_t bytes) {
  if (bytes == 0) {
    return Status::error(Code::out_of_range, "0 bytes cannot be made accessible");
  }
  TESSERA_ASSIGN_OR_RETURN(const RegisteredSpan known, adapter_->arena->find(from, bytes));
  return detail::RemoteSpan{reinterpret_cast<std::uintptr_t>(known.from), known.bytes,
                            known.remote_key};
}

}  // namespace tessera::rma::verbs
