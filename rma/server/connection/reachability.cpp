// SPDX-License-Identifier: BSD-3-Clause
#include "rma/reachability.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstring>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "rma/base/thread_without_signals.hpp"
#include "rma/base/wait_ready.hpp"
#include "rma/engine/node_map.hpp"
#include "rma/engine/startup.hpp"
#include "rma/server/wire/handshake.hpp"
#include "rma/transport/tcp/tcp.hpp"

namespace tessera::rma {
namespace {

using server::TcpAddress;
using server::TcpListener;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr std::size_t max_concurrent = 8;
constexpr std::size_t token_bytes = 32;
using Token = std::array<std::byte, token_bytes>;

// What the first rank of each node sends to the others.
struct ServiceAddress {
  TcpAddress address;  // port 0: it cannot listen
  Token token{};
};

std::string first_line(const Status& status) {
  const std::string message = status.message();
  return message.substr(0, message.find('\n'));
}

// Sends this node's token to every process that connects, until the object is destroyed.
class TokenServer {
 public:
  TokenServer(TcpListener listener, const Token& token)
      : listener_(std::move(listener)), token_(token) {}
  ~TokenServer() {
    is_ending_.store(true);
    if (thread_.joinable()) {
      thread_.join();
    }
  }
  TokenServer(const TokenServer&) = delete;
  TokenServer& operator=(const TokenServer&) = delete;

  /// Errors: limit_exceeded.
  Status start() {
    TESSERA_ASSIGN_OR_RETURN(thread_,
                             detail::start_thread_with_signals_blocked([this] { answer(); }));
    return {};
  }

 private:
  void answer() {
    constexpr milliseconds liveness_interval{20};
    while (!is_ending_.load()) {
      if (!detail::wait_ready(listener_.descriptor(), POLLIN, Clock::now() + liveness_interval)) {
        continue;
      }
      auto caller = listener_.accept();
      if (!caller.ok()) {
        std::this_thread::sleep_for(liveness_interval);  // no descriptor is free at present
      } else if (*caller != nullptr) {
        // There is always room for so few bytes. If the caller has disconnected, the failure does
        // not matter.
        const iovec piece{token_.data(), token_.size()};
        static_cast<void>((*caller)->send(std::span(&piece, 1)));
      }
    }
  }

  TcpListener listener_;
  Token token_;
  std::atomic<bool> is_ending_{false};
  std::thread thread_;
};

// `service` receives the address where the others connect; unchanged on an error.
Status start_token_server(const Settings& settings, bool is_only_machine,
                          std::optional<TokenServer>& token_server, ServiceAddress& service) {
  TESSERA_ASSIGN_OR_RETURN(auto listener, server::listen_for_nodes(settings, is_only_machine));
  TESSERA_ASSIGN_OR_RETURN(const auto secret, server::new_secret());
  ServiceAddress open{.address = listener.address()};
  std::copy(secret.bytes().begin(), secret.bytes().end(), open.token.begin());
  TESSERA_RETURN_IF_ERROR(token_server.emplace(std::move(listener), open.token).start());
  service = open;
  return {};
}

Status expect_token(detail::Channel& channel, const Token& token, Clock::time_point deadline) {
  Token answer{};
  for (std::size_t done = 0; done < answer.size();) {
    if (!detail::wait_ready(channel.descriptor(), POLLIN, deadline)) {
      return Status::error(
          Code::timed_out,
          fmt::format("{} accepted the connection but sent nothing", channel.peer()));
    }
    const iovec rest{answer.data() + done, answer.size() - done};
    TESSERA_ASSIGN_OR_RETURN(const std::size_t bytes, channel.receive(std::span(&rest, 1)));
    done += bytes;
  }
  return answer == token
             ? Status()
             : Status::error(Code::protocol, fmt::format("another program answers at {}: several "
                                                         "machines have that address",
                                                         channel.peer()));
}

Status try_one(const ServiceAddress& service, milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  TESSERA_ASSIGN_OR_RETURN(const auto channel, server::connect_tcp(service.address, timeout));
  return expect_token(*channel, service.token, deadline);
}

// One node's results in the form in which they are sent to the others: "to microseconds reason",
// one line each.
class ConnectionResults {
 public:
  void record(NodeId to, const Status& outcome, std::chrono::microseconds time) {
    const std::lock_guard guard(mutex_);
    if (!outcome.ok()) {
      failures_ += fmt::format("{} -1 {}\n", to.value, first_line(outcome));
    } else if (time > slowest_) {
      slowest_ = time;
      slowest_to_ = to;
    }
  }
  [[nodiscard]] std::string text() const {
    return fmt::format("{} {} \n", slowest_to_.value, slowest_.count()) + failures_;
  }

 private:
  std::mutex mutex_;
  std::string failures_;
  std::chrono::microseconds slowest_{0};
  NodeId slowest_to_;
};

void try_all(const std::vector<ServiceAddress>& services, NodeId own, milliseconds timeout,
             ConnectionResults& trials) {
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t at = next++; at < services.size(); at = next++) {
      const NodeId to{static_cast<std::int32_t>(at)};
      if (to == own || services[at].address.port == 0) {
        continue;
      }
      const auto begin = Clock::now();
      const Status outcome = try_one(services[at], timeout);
      trials.record(to, outcome,
                    std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begin));
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t count = std::min(max_concurrent, services.size()); threads.size() < count;) {
    Result<std::thread> thread = detail::start_thread_with_signals_blocked(work);
    if (!thread.ok()) {
      break;  // fewer at a time
    }
    threads.push_back(std::move(thread).take());
  }
  if (threads.empty()) {
    work();
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

void read_trials(std::string_view text, NodeId from, NodeConnections& result) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    std::int32_t to = 0;
    std::int64_t time = 0;
    const char* const end = line.data() + line.size();
    const auto after_node = std::from_chars(line.data(), end, to);
    const auto after_time = std::from_chars(std::min(after_node.ptr + 1, end), end, time);
    if (time < 0) {
      const char* const reason = std::min(after_time.ptr + 1, end);
      result.failed.push_back({from, NodeId{to}, std::string(reason, end)});
    } else if (std::chrono::microseconds(time) > result.slowest) {
      result.slowest = std::chrono::microseconds(time);
      result.slowest_from = from;
      result.slowest_to = NodeId{to};
    }
  }
}

Result<std::vector<ServiceAddress>> gather_services(Bootstrap& bootstrap, const Settings& settings,
                                                    const detail::NodeMap& nodes,
                                                    const ServiceAddress& mine) {
  TESSERA_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes,
                           bootstrap.allgather(std::as_bytes(std::span(&mine, 1)),
                                               milliseconds(settings.start_timeout_ms)));
  std::vector<ServiceAddress> all(static_cast<std::size_t>(bootstrap.size()));
  std::memcpy(all.data(), bytes.data(), bytes.size());
  std::vector<ServiceAddress> services;
  for (std::int32_t node = 0; node < nodes.count(); ++node) {
    const WorldRank first = nodes.ranks_of(NodeId{node}).front();
    services.push_back(all[static_cast<std::size_t>(first.value)]);
  }
  return services;
}

}  // namespace

std::int32_t NodeConnections::nodes() const noexcept {
  NodeId last;
  for (const NodeId node : node_of) {
    last = std::max(last, node);
  }
  return last.value + 1;
}

Result<std::string> address_for_other_machines(const Settings& settings) {
  TESSERA_ASSIGN_OR_RETURN(const TcpAddress address, server::interface_address(settings.interface));
  const std::string text = to_string(address);
  return text.substr(0, text.find(':'));
}

Result<NodeConnections> try_connections(Bootstrap& bootstrap, const Settings& settings,
                                        milliseconds timeout) {
  NodeConnections result;
  TESSERA_ASSIGN_OR_RETURN(const detail::NodeMap nodes,
                           detail::find_nodes(bootstrap, settings, result.machines));
  for (WorldRank rank{0}; rank.value < bootstrap.size(); ++rank.value) {
    result.node_of.push_back(nodes.node_of(rank));
  }
  if (nodes.count() == 1) {
    return result;
  }
  const NodeId own = nodes.node_of(bootstrap.rank());
  const bool is_first = nodes.ranks_of(own).front() == bootstrap.rank();
  ServiceAddress mine;
  ConnectionResults trials;
  std::optional<TokenServer> token_server;
  if (is_first) {
    if (Status opened = start_token_server(settings, result.machines == 1, token_server, mine);
        !opened.ok()) {
      trials.record(own, opened, {});
    }
  }
  TESSERA_ASSIGN_OR_RETURN(const std::vector<ServiceAddress> services,
                           gather_services(bootstrap, settings, nodes, mine));
  if (is_first) {
    try_all(services, own, timeout, trials);
  }
  const auto rounds = static_cast<std::int64_t>(services.size() / max_concurrent + 1);
  TESSERA_ASSIGN_OR_RETURN(
      const auto texts,
      allgather_texts(bootstrap, is_first ? trials.text() : "",
                      milliseconds(settings.start_timeout_ms) + rounds * timeout));
  for (const ServiceAddress& service : services) {
    result.addresses.push_back(to_string(service.address));
  }
  for (std::size_t rank = 0; rank < texts.size(); ++rank) {
    read_trials(texts[rank], result.node_of[rank], result);
  }
  const auto order = [](const FailedConnection& each) { return std::pair(each.from, each.to); };
  std::sort(result.failed.begin(), result.failed.end(),
            [&](const auto& a, const auto& b) { return order(a) < order(b); });
  return result;
}

}  // namespace tessera::rma
