// SPDX-License-Identifier: BSD-3-Clause
#include "tests/support/fake_verbs_wire.hpp"

#include <algorithm>
#include <utility>

#include "tests/support/fake_verbs_memory.hpp"
#include "tests/support/fake_verbs_network.hpp"
#include "tests/support/fake_verbs_pieces.hpp"

namespace tessera::rma::test::fake {
namespace {

/// About how many parts of relaxed writes land before another thread may run.
constexpr std::uint64_t steps_per_yield = 8;
/// The most parts of relaxed writes that may be pending.
constexpr std::size_t max_pending_parts = 64;
/// As rnr_retry.
constexpr int rnr_forever = 7;

}  // namespace

Wire::Wire(Network& network, std::uint64_t seed)
    : network_(network), random_(seed), thread_([this] { run(); }) {}

Wire::~Wire() {
  {
    const std::lock_guard guard(network_.mutex);
    is_stopping_ = true;
    wake();
  }
  thread_.join();
}

void Wire::wake() {
  is_awake_ = true;
  work_available_.notify_one();
}

void Wire::hold(bool is_held) {
  is_held_ = is_held;
  wake();
}

void Wire::slow_down(Clock::duration each_message) {
  delay_ = each_message;
  wake();
}

void Wire::remember(QueuePair& queue) {
  if (std::find(busy_.begin(), busy_.end(), &queue) == busy_.end()) {
    busy_.push_back(&queue);
  }
}

void Wire::forget(QueuePair& queue) {
  std::erase(busy_, &queue);
}

void Wire::run() {
  std::unique_lock lock(network_.mutex);
  while (!is_stopping_) {
    is_awake_ = false;
    has_landed_ = false;
    next_due_.reset();
    const bool has_moved = !is_held_ && step() == Step::moved;
    const bool shows_it = has_landed_ && random_below(steps_per_yield) == 0;
    lock.unlock();
    if (shows_it) {
      std::this_thread::yield();  // to a thread that may see one write and not yet an earlier one
    }
    lock.lock();
    if (!has_moved) {
      sleep(lock);
    }
  }
}

void Wire::sleep(std::unique_lock<std::mutex>& lock) {
  const auto is_awake = [&] { return is_awake_; };
  if (next_due_) {
    work_available_.wait_until(lock, *next_due_, is_awake);
  } else {
    work_available_.wait(lock, is_awake);
  }
}

Wire::Step Wire::step() {
  if (busy_.empty()) {
    return Step::idle;
  }
  const std::size_t first = random_below(busy_.size());
  for (std::size_t i = 0; i < busy_.size(); ++i) {
    QueuePair& queue = *busy_[(first + i) % busy_.size()];
    if (advance(queue) == Step::moved) {
      network_.fail_overflowed();
      if (queue.requests.empty() && queue.unordered.empty()) {
        forget(queue);
      }
      return Step::moved;
    }
  }
  return Step::idle;
}

Wire::Step Wire::advance(QueuePair& queue) {
  if (queue.unordered.size() > max_pending_parts) {
    return land(queue);
  }
  // Tries the possible orders at random.
  const std::uint64_t first = random_below(3);
  for (std::uint64_t i = 0; i < 3; ++i) {
    const std::uint64_t which = (first + i) % 3;
    const Step done = which == 0 ? land(queue) : which == 1 ? answer(queue) : start(queue);
    if (done == Step::moved) {
      return done;
    }
  }
  return Step::idle;
}

Wire::Step Wire::land(QueuePair& queue) {
  if (queue.unordered.empty()) {
    return Step::idle;
  }
  std::swap(queue.unordered[random_below(queue.unordered.size())], queue.unordered.back());
  const PendingPart& piece = queue.unordered.back();
  write_memory(piece.to, piece.bytes.data(), piece.bytes.size(), WireOrder::none);
  queue.unordered.pop_back();
  has_landed_ = true;
  if (queue.unordered.empty()) {
    retire(queue);
  }
  return Step::moved;
}

void Wire::land_pending_parts(QueuePair& queue) {
  while (land(queue) == Step::moved) {
  }
}

Wire::Step Wire::answer(QueuePair& queue) {
  const auto end = queue.requests.begin() + static_cast<std::ptrdiff_t>(queue.started);
  const auto found = std::find_if(queue.requests.begin(), end,
                                  [](const Request& request) { return !request.is_done; });
  if (found == end) {
    return Step::idle;
  }
  Request& request = *found;
  if (const auto status = local_error(queue, request)) {
    network_.complete(queue, request, *status);
    queue.requests.pop_front();
    network_.set_error(queue);
    return Step::moved;
  }
  const std::size_t bytes = std::min(step_bytes, request.bytes - request.moved);
  scatter(request.pieces, request.moved, std::span(request.payload).subspan(request.moved, bytes));
  request.moved += bytes;
  if (request.moved == request.bytes) {
    request.is_done = true;
    retire(queue);
  }
  return Step::moved;
}

Wire::Step Wire::start(QueuePair& queue) {
  if (queue.now != IBV_QPS_RTS || queue.started == queue.requests.size()) {
    return Step::idle;
  }
  Request& request = queue.requests[queue.started];
  if (!may_start(queue, request)) {
    return Step::idle;
  }
  if (request.moved == 0) {
    if (const auto status = network_.faults.take(request.kind())) {
      return fail(queue, *status);
    }
  }
  if (const auto status = local_error(queue, request)) {
    return fail(queue, *status);
  }
  QueuePair* const peer = network_.peer_of(queue);
  if (peer == nullptr) {
    return wait_for_peer(queue, request);
  }
  request.given_up.reset();
  return execute(queue, *peer, request);
}

bool Wire::may_start(const QueuePair& queue, Request& request) {
  const std::size_t pending = queue.outstanding_replies();
  if ((request.wr.send_flags & IBV_SEND_FENCE) != 0 && pending > 0) {
    return false;
  }
  if (request.waits_for_reply() && pending > 0 && pending >= queue.attributes.max_rd_atomic) {
    return false;
  }
  const auto now = Clock::now();
  if (!request.begun) {
    request.begun = now;
  }
  const auto due = std::max(*request.begun + delay_, request.due.value_or(now));
  if (due > now) {
    wake_at(due);
    return false;
  }
  return true;
}

std::optional<ibv_wc_status> Wire::local_error(const QueuePair& queue, const Request& request) {
  const Hardware& here = *queue.device().hardware;
  if (request.bytes > here.model.port.max_msg_sz) {
    return IBV_WC_LOC_LEN_ERR;
  }
  if (request.waits_for_reply()) {
    if (request.wr.opcode != IBV_WR_RDMA_READ && request.bytes != sizeof(std::uint64_t)) {
      return IBV_WC_LOC_LEN_ERR;
    }
    if (queue.attributes.max_rd_atomic == 0) {
      return IBV_WC_LOC_QP_OP_ERR;
    }
  }
  if ((request.wr.send_flags & IBV_SEND_INLINE) != 0) {
    return std::nullopt;
  }
  const int access = request.waits_for_reply() ? IBV_ACCESS_LOCAL_WRITE : 0;
  for (const ibv_sge& piece : request.pieces) {
    if (piece.length > 0 && network_.find_local(queue.pd, piece, access) == nullptr) {
      return IBV_WC_LOC_PROT_ERR;
    }
  }
  return std::nullopt;
}

Wire::Step Wire::wait_for_peer(QueuePair& queue, Request& request) {
  const auto now = Clock::now();
  if (queue.attributes.timeout != 0) {
    if (!request.given_up) {
      request.given_up = now + (queue.attributes.retry_cnt + 1) * FakeVerbs::retry_interval;
    }
    if (*request.given_up <= now) {
      return fail(queue, IBV_WC_RETRY_EXC_ERR);
    }
  }
  request.due = now + FakeVerbs::retry_interval;
  wake_at(*request.due);
  return Step::idle;
}

Wire::Step Wire::wait_for_receive(QueuePair& queue, Request& request) {
  ++network_.not_ready_count;
  if (queue.attributes.rnr_retry != rnr_forever &&
      request.rnr_retries++ == queue.attributes.rnr_retry) {
    return fail(queue, IBV_WC_RNR_RETRY_EXC_ERR);
  }
  request.due = Clock::now() + FakeVerbs::rnr_interval;
  wake_at(*request.due);
  return Step::idle;
}

Wire::Step Wire::fail(QueuePair& queue, ibv_wc_status status) {
  // Requests complete in order: the replies to earlier ones come first.
  while (queue.started > 0) {
    land_pending_parts(queue);
    answer(queue);
  }
  if (queue.now == IBV_QPS_ERR) {  // one of them also failed
    return Step::moved;
  }
  network_.complete(queue, queue.requests.front(), status);
  queue.requests.pop_front();
  network_.set_error(queue);
  return Step::moved;
}

Wire::Step Wire::refuse(QueuePair& queue, QueuePair& peer, ibv_wc_status status) {
  if (status != IBV_WC_REM_OP_ERR) {
    network_.notify(
        peer, status == IBV_WC_REM_ACCESS_ERR ? IBV_EVENT_QP_ACCESS_ERR : IBV_EVENT_QP_REQ_ERR);
  }
  fail(queue, status);
  network_.set_error(peer);
  return Step::moved;
}

void Wire::finish(QueuePair& queue) {
  queue.requests[queue.started].is_done = true;
  ++queue.started;
  retire(queue);
}

void Wire::retire(QueuePair& queue) {
  while (queue.started > 0 && queue.requests.front().is_done) {
    const Request& request = queue.requests.front();
    if (is_signalled(queue, request) && !queue.unordered.empty()) {
      return;  // the completion means that all data have landed, so it must wait for them
    }
    network_.complete(queue, request, IBV_WC_SUCCESS);
    queue.requests.pop_front();
    --queue.started;
  }
}

void Wire::wake_at(Clock::time_point when) {
  if (!next_due_ || when < *next_due_) {
    next_due_ = when;
  }
}

std::uint64_t Wire::random_below(std::uint64_t limit) {
  return random_() % limit;
}

}  // namespace tessera::rma::test::fake
