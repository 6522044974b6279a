// SPDX-License-Identifier: BSD-3-Clause
#include "rma/server/client/client.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <pthread.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "rma/base/backoff.hpp"
#include "rma/base/catch_bad_alloc.hpp"
#include "rma/server/connection/thread_without_signals.hpp"

namespace tessera::rma::server {
namespace {

using Clock = std::chrono::steady_clock;

// How long the progress thread lets small requests and replies accumulate.
constexpr std::chrono::microseconds batching_delay{50};

}  // namespace

Client::Client(ClientOptions options)
    : options_(std::move(options)),
      by_node_(options_.agents.size()),
      active_(options_.agents.size()) {
  if (options_.nodes != nullptr) {
    own_node_ = options_.nodes->node_of(options_.rank);
  }
  Result<std::thread> thread = start_thread_with_signals_blocked([this] { communicate(); });
  if (thread.ok()) {
    thread_ = std::move(thread).take();
  } else {
    started_ = std::move(thread).status();
  }
}

Client::~Client() {
  is_ending_ = true;
  {
    const std::lock_guard guard(sleep_mutex_);
    is_wake_requested_ = true;
  }
  work_.notify_all();
  if (thread_.joinable()) {
    thread_.join();
  }
}

Result<ClientConnection*> Client::link_to(NodeId node) {
  return link_to(node, options_.connect_timeout);
}

Result<ClientConnection*> Client::link_to(NodeId node, std::chrono::milliseconds timeout) {
  if (ClientConnection* const link = existing_link(node)) {
    return link;
  }
  return detail::catch_bad_alloc([&] { return make_link(node, timeout); });
}

Result<ClientConnection*> Client::make_link(NodeId node, std::chrono::milliseconds timeout) {
  Peer& peer = peer_at(node);
  // Not under links_mutex_: only threads that need this node should wait for it.
  const std::lock_guard guard(peer.connecting);
  if (peer.link == nullptr) {
    // A device is used without the agent, and so always needs a connection of its own.
    const bool needs_connection = !is_clustered(node) || options_.rdma_provider != nullptr;
    std::unique_ptr<ClientConnection> link;
    Status refusal;
    if (needs_connection) {
      TESSERA_ASSIGN_OR_RETURN(link, open_link(node, peer, timeout, refusal));
    } else {
      link = std::make_unique<ClientConnection>(*this, node, nullptr);
    }
    if (is_clustered(node)) {
      TESSERA_RETURN_IF_ERROR(link->route().share());
    }
    // A link that was refused is kept, unused, for the same reason.
    keep_link(peer, std::move(link), refusal.ok());
    if (needs_connection) {
      peer.contact.of_links.failure = std::move(refusal);
    }
  }
  return peer.contact.of_links.failure.ok() ? Result<ClientConnection*>(peer.link.get())
                                            : peer.contact.of_links.failure;
}

Result<std::unique_ptr<ClientConnection>> Client::open_link(NodeId node, Peer& peer,
                                                            std::chrono::milliseconds timeout,
                                                            Status& refusal) {
  TESSERA_ASSIGN_OR_RETURN(auto channel,
                           connector_.open(node, peer.contact, Connector::Purpose::link, timeout));
  auto link = std::make_unique<ClientConnection>(*this, node, std::move(channel));
  refusal = move_to_fabric(*link, node, timeout);
  if (link->is_lost() && link->loss().code() != Code::protocol) {
    // The new connection begins before the old one ends: the agent treats a rank without a
    // connection as lost.
    TESSERA_ASSIGN_OR_RETURN(
        channel, connector_.open(node, peer.contact, Connector::Purpose::link, timeout));
    link = std::make_unique<ClientConnection>(*this, node, std::move(channel));
  }
  return link;
}

Result<std::unique_ptr<Channel>> Client::open_again(NodeId node) {
  Peer& peer = peer_at(node);
  const std::lock_guard guard(peer.connecting);
  auto opened =
      connector_.open(node, peer.contact, Connector::Purpose::link, options_.connect_timeout);
  const Code code = opened.status().code();
  if (ClientConnection* const link = existing_link(node);
      link != nullptr && (code == Code::peer_lost || code == Code::closed)) {
    link->give_up(opened.status());  // permanently: nothing listens there any longer
  }
  return opened;
}

ClientConnection* Client::clustered_link_of(WorldRank rank) noexcept {
  if (!options_.clusters.are_on() || rank.value < 0 || rank.value >= options_.ranks) {
    return nullptr;
  }
  const NodeId node = options_.nodes->node_of(rank);
  return is_clustered(node) ? existing_link(node) : nullptr;
}

void Client::note_lost_way(const ClientConnection& way, const Status& reason) {
  if (options_.clusters.are_on()) {
    for (ClientConnection* const link : links()) {
      if (link != &way) {
        link->route().note_lost(way, reason);
      }
    }
  }
}

Result<std::unique_ptr<ClientConnection>> Client::open_transient(
    NodeId node, std::chrono::milliseconds timeout) {
  constexpr std::chrono::milliseconds pause{1};
  Peer& peer = peer_at(node);
  const auto deadline = Clock::now() + timeout;
  std::unique_lock guard(peer.connecting, std::try_to_lock);
  while (!guard.owns_lock()) {
    if (Clock::now() > deadline) {
      return Status::error(
          Code::timed_out,
          fmt::format("another thread is still connecting to node {}", node.value));
    }
    std::this_thread::sleep_for(pause);
    guard.try_lock();
  }
  TESSERA_ASSIGN_OR_RETURN(
      auto channel, connector_.open(node, peer.contact, Connector::Purpose::transient, timeout));
  return std::make_unique<ClientConnection>(*this, node, std::move(channel));
}

detail::ConnectionLoss Client::contact(NodeId node) noexcept {
  const ClientConnection* const link = existing_link(node);
  const bool is_lost = link != nullptr && link->is_lost();
  return {.is_lost = is_lost,
          .error = is_lost ? link->channel().error() : peer_at(node).contact.error.load()};
}

std::chrono::nanoseconds Client::silence_of(NodeId node) noexcept {
  const std::int64_t since = peer_at(node).contact.silent_since.load();
  return std::chrono::nanoseconds(since == 0 ? 0 : Clock::now().time_since_epoch().count() - since);
}

// Moves the link to the fabric, if there is one and both ends can use it. Errors: only if the
// fabric is required.
Status Client::move_to_fabric(ClientConnection& link, NodeId node,
                              std::chrono::milliseconds timeout) {
  if (options_.rdma_provider == nullptr) {
    return {};
  }
  Status moved = make_fabric();
  if (moved.ok()) {
    auto path = fabric_.load()->open_connection();
    moved =
        path.ok() ? link.move_to(std::move(path).take(), Clock::now() + timeout) : path.status();
  }
  return moved.ok() ? moved : check_tcp_allowed(node, moved);
}

// The same reason may concern thousands of nodes; it is logged once.
Status Client::check_tcp_allowed(NodeId node, const Status& reason) {
  if (!options_.required.empty()) {
    return Status::error(reason.code(),
                         fmt::format("node {} cannot be reached by TESSERA_TRANSPORT={}: {}",
                                     node.value, options_.required, reason.message()))
        .hint("add tcp to TESSERA_TRANSPORT: nodes that RDMA cannot reach then use TCP");
  }
  const std::lock_guard guard(links_mutex_);
  if (std::exchange(last_reason_, reason.message()) != reason.message()) {
    options_.warn(fmt::format("node {} is reached over TCP: {}", node.value, reason.message()));
  }
  return {};
}

Status Client::make_fabric() {
  Status made;
  std::call_once(fabric_made_, [&] {
    auto fabric = options_.rdma_provider->create();
    made = fabric.status();
    if (fabric.ok()) {
      own_fabric_ = std::move(fabric).take();
      fabric_ = own_fabric_.get();
    }
  });
  return made.ok() && fabric_.load() == nullptr
             ? Status::error(Code::unsupported, "the network could not be used earlier")
             : made;
}

void Client::keep_link(Peer& peer, std::unique_ptr<ClientConnection> link, bool is_usable) {
  peer.link = std::move(link);
  {
    const std::lock_guard guard(links_mutex_);
    const std::size_t count = active_count_.load(std::memory_order_relaxed);
    active_[count] = peer.link.get();
    active_count_.store(count + 1, std::memory_order_release);
  }
  if (is_usable) {
    peer.ready.store(peer.link.get(), std::memory_order_release);
  }
}

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
  for (ClientConnection* const link : links()) {
    if (!link->is_lost()) {
      link->say_bye();
    }
  }
}

int Client::progress() {
  detail::RdmaContext* const fabric = fabric_.load(std::memory_order_acquire);
  int answers = 0;
  if (fabric != nullptr) {
    answers += fabric->progress();
    note_arrivals(*fabric);
  }
  for (ClientConnection* const link : links()) {
    if (link->path() == nullptr || link->needs_progress()) {
      answers += link->progress();
    }
  }
  return answers;
}

void Client::flush() {
  for (ClientConnection* const link : links()) {
    link->queue().flush();
  }
}

// A path announces arrivals, so the other links need not be polled.
void Client::note_arrivals(detail::RdmaContext& fabric) const {
  for (const int descriptor : fabric.take_ready_descriptors()) {
    for (ClientConnection* const link : links()) {
      if (link->descriptor() == descriptor) {
        link->note_arrival();
      }
    }
  }
}

bool Client::is_busy() const {
  const auto all = links();
  const detail::RdmaContext* const fabric = fabric_.load(std::memory_order_acquire);
  return (fabric != nullptr && fabric->is_busy()) ||
         std::any_of(all.begin(), all.end(), [](const ClientConnection* link) {
           return !link->is_lost() && link->is_polled();
         });
}

bool Client::is_streaming() const {
  const auto all = links();
  return std::any_of(all.begin(), all.end(), [](ClientConnection* link) {
    return link->replies().is_streaming() || link->queue().is_held_up();
  });
}

// Called now and then by one of the waiting threads.
void Client::check_hosts() {
  constexpr std::chrono::seconds every{1};
  constexpr std::uint32_t checks_a_release = 5;
  const auto now = Clock::now().time_since_epoch();
  auto last = checked_.load();
  if (now - last >= every && checked_.compare_exchange_strong(last, now)) {
    const bool gives_back = ++checks_ % checks_a_release == 0;
    for (ClientConnection* const link : links()) {
      link->maintain(gives_back);
    }
    if (detail::RdmaContext* const fabric = fabric_.load(std::memory_order_acquire);
        fabric != nullptr && gives_back) {
      fabric->maintain();
    }
  }
}

// If there is no memory for the list of sockets, the thread polls again soon.
void Client::sleep_on_sockets(std::chrono::nanoseconds period) noexcept {
  constexpr std::chrono::nanoseconds soon = std::chrono::milliseconds(1);
  const Status polled = detail::catch_bad_alloc([&] {
    check_hosts();
    poll_sockets(period);
    return Status();
  });
  if (!polled.ok()) {
    std::this_thread::sleep_for(std::min(period, soon));
  }
}

void Client::poll_sockets(std::chrono::nanoseconds period) {
  std::vector<pollfd> sockets;
  std::vector<ClientConnection*> of_sockets;
  for (ClientConnection* const link : links()) {
    if (!link->is_lost()) {
      sockets.push_back(
          {.fd = link->descriptor(),
           .events = static_cast<short>(link->waits_for_room() ? POLLIN | POLLOUT : POLLIN),
           .revents = 0});
      of_sockets.push_back(link);
    }
  }
  detail::RdmaContext* const fabric = fabric_.load(std::memory_order_acquire);
  if (fabric != nullptr) {
    if (!fabric->arm()) {
      return;
    }
    sockets.push_back({.fd = fabric->descriptor(), .events = POLLIN, .revents = 0});
  }
  const timespec timeout{.tv_sec = 0, .tv_nsec = std::min(period, detail::max_timed_wait).count()};
  if (ppoll(sockets.data(), sockets.size(), &timeout, nullptr) > 0) {
    last_event_.store(Clock::now().time_since_epoch().count(), std::memory_order_relaxed);
  }
  for (std::size_t i = 0; i < of_sockets.size(); ++i) {
    if ((sockets[i].revents & ~POLLOUT) != 0) {
      if (fabric != nullptr) {
        fabric->progress();  // the last data of a path, which came before its end
      }
      of_sockets[i]->on_readable();
    }
  }
}

// Returns after something came, or when it is time to sleep.
void Client::spin(const Completion& done) {
  detail::Helper* const helper = options_.helper();
  const auto budget =
      helper == nullptr ? options_.spin : std::max(options_.spin, options_.min_progress_spin);
  const detail::ProgressScope helping(helper);
  // Polling a device is cheap compared with an iteration of the agent's work.
  const unsigned polls_a_help = fabric_.load(std::memory_order_relaxed) == nullptr ? 1 : 8;
  unsigned polls = 0;
  const auto poll_once = [&] {
    const bool has_come = done.done() || progress() > 0;
    if (!has_come && ++polls % polls_a_help == 0) {
      helping.help();
    }
    return has_come;
  };
  // Polling a socket is a system call, so no pauses are needed in between.
  const auto start = Clock::now();
  while (!poll_once()) {
    if (Clock::now() - start >= budget) {
      detail::yield_until(options_.linger, poll_once);
      return;
    }
  }
}

// Called before this thread sleeps, since it does not serve the agent's peers then.
void Client::release_progress() const {
  if (detail::Helper* const helper = options_.helper()) {
    helper->yield_progress();
  }
}

// Nothing has woken a thread or completed its wait for a time above the spin limit.
bool Client::is_quiet() const noexcept {
  return Clock::now().time_since_epoch().count() - last_event_.load(std::memory_order_relaxed) >
         max_sleep.count();
}

bool Client::wait(Completion& done, std::chrono::nanoseconds period) {
  waiting_.fetch_add(1);
  if (period <= max_sleep || !is_quiet()) {
    spin(done);
  }
  if (!done.done()) {
    flush();
  }
  if (!done.done()) {
    release_progress();
    sleep_on_sockets(period);
    progress();
  }
  const bool is_done = done.done();
  const std::int64_t now = Clock::now().time_since_epoch().count();
  last_waited_ = now;
  if (is_done) {
    last_event_.store(now, std::memory_order_relaxed);
  }
  waiting_.fetch_sub(1);
  // Other threads left their work to this one, possibly after its last poll. What this thread
  // itself holds back does not matter to them.
  if (is_away() && waiting_.load() == 0 && is_busy()) {
    wake();
  }
  return is_done || done.done();
}

void Client::wait_briefly(std::chrono::nanoseconds period) {
  Completion never;
  never.begin();
  wait(never, period);
  never.end({});
}

// Waiting threads poll their operation repeatedly; between two polls they still count as waiting.
bool Client::is_waited_for() const {
  constexpr std::chrono::nanoseconds between_polls = std::chrono::microseconds(200);
  return waiting_.load() > 0 ||
         Clock::now().time_since_epoch().count() - last_waited_.load() < between_polls.count();
}

// A thread sends what it holds back itself.
void Client::wake_progress() {
  if (CoalescedMessages::is_any_kept()) {
    return;
  }
  if (is_away() && waiting_.load() == 0) {
    wake();
  }
}

void Client::wake_now() {
  if ((is_asleep_.load() || is_waiting_.load()) && waiting_.load() == 0) {
    wake();
  }
}

void Client::wake() {
  {
    const std::lock_guard guard(sleep_mutex_);
    is_wake_requested_ = true;
  }
  work_.notify_all();
}

// The wait is long if nothing arrives for the waiting threads. Returns whether wake_now() ended it.
bool Client::wait_for_request() {
  const bool is_long = is_quiet();
  std::unique_lock guard(sleep_mutex_);
  is_waiting_ = true;
  is_waiting_long_ = is_long;
  const bool was_woken = work_.wait_for(guard, is_long ? detail::max_timed_wait : max_sleep,
                                        [&] { return is_wake_requested_; });
  is_waiting_ = false;
  is_waiting_long_ = false;
  is_wake_requested_ = false;
  return was_woken;
}

// A thread that starts a long transfer may wait for it at once, and is faster alone then.
void Client::let_requests_accumulate() const {
  if (is_streaming() && waiting_.load() == 0) {
    std::this_thread::sleep_for(batching_delay);
  }
}

// The progress thread. Waiting threads do its work instead of it.
void Client::communicate() noexcept {
  pthread_setname_np(pthread_self(), "tessera-comm");
  bool continues_stream = false;
  while (!is_ending_) {
    if (is_busy()) {
      continues_stream = continues_stream && is_streaming() && waiting_.load() == 0;
      if (!continues_stream && is_waited_for()) {
        continues_stream = wait_for_request();
        let_requests_accumulate();
        continue;
      }
      if (!is_streaming()) {
        std::this_thread::sleep_for(batching_delay);
      }
      if (progress() == 0) {
        flush();
        sleep_on_sockets(max_sleep);
      }
      continue;
    }
    std::unique_lock guard(sleep_mutex_);
    // Sets is_asleep_ before the check: a thread that posts in between sees it, or its request is
    // seen here.
    is_asleep_ = true;
    work_.wait(guard, [&] { return is_wake_requested_ || is_busy(); });
    is_wake_requested_ = false;
    is_asleep_ = false;
    guard.unlock();
    continues_stream = is_streaming();
    let_requests_accumulate();
  }
}

}  // namespace tessera::rma::server
