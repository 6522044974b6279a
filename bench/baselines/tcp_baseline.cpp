// SPDX-License-Identifier: BSD-3-Clause
#include "bench/baselines/tcp_baseline.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <exception>
#include <random>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/support/candidate.hpp"

namespace tessera::bench {
namespace {

constexpr std::chrono::seconds connect_limit{10};

/// Buffers of this size or smaller: every offset fits into a request.
constexpr std::size_t max_buffer = TcpRequest::field_mask;

}  // namespace

/// Rank 0's helper thread: receives replies of started gets while the rank computes.
class TcpBaseline::Helper {
 public:
  explicit Helper(std::function<void()> receive)
      : receive_(std::move(receive)), thread_([this] { work(); }) {}
  ~Helper() {
    set(State::ended);
    thread_.join();
  }
  Helper(const Helper&) = delete;
  Helper& operator=(const Helper&) = delete;

  void start() { set(State::started); }
  void wait() {
    state_.wait(State::started);
    if (failure_) {
      std::rethrow_exception(failure_);
    }
  }

 private:
  enum class State : int { idle, started, ended };

  void set(State state) {
    state_ = state;
    state_.notify_all();
  }
  void work() {
    while (true) {
      state_.wait(State::idle);
      if (state_ == State::ended) {
        return;
      }
      try {
        receive_();
      } catch (...) {
        failure_ = std::current_exception();
      }
      set(State::idle);
    }
  }

  std::function<void()> receive_;
  std::exception_ptr failure_;
  std::atomic<State> state_ = State::idle;
  std::thread thread_;
};

TcpBaseline::TcpBaseline(RankGroup& group, const BaselineOptions& options, Waiting waiting,
                         TcpSocket socket)
    : group_(group),
      name_(waiting == Waiting::polling ? "tcp polling" : "tcp blocking"),
      waiting_(waiting),
      rotate_(options.cold),
      is_origin_(group.rank() == 0),
      is_target_(group.rank() == peer_rank),
      socket_(std::move(socket)),
      local_(options.buffer_bytes(), Sharing::own),
      remote_(is_target_ ? options.buffer_bytes() : 1, Sharing::shared),
      server_(socket_, remote_.bytes()) {
  if (is_target_ && waiting_ == Waiting::blocking) {
    agent_ = std::thread([this] {
      try {
        while (server_.serve_one(Waiting::blocking) != TcpServer::Served::closed) {
        }
      } catch (const std::system_error&) {
        socket_.shut_down();  // rank 0's call then fails, and rank 0 reports it
      }
    });
  }
}

TcpBaseline::~TcpBaseline() {
  helper_.reset();
  if (is_origin_) {
    socket_.shut_down();
  }
  if (agent_.joinable()) {
    agent_.join();
  }
  group_.barrier();
}

void TcpBaseline::put(std::span<const std::byte> from, std::size_t to, bool is_answered) {
  const TcpRequest request{is_answered ? TcpKind::put : TcpKind::put_unanswered, to, from.size()};
  const std::uint64_t word = request.encode();
  socket_.send(bytes_of(word), from, waiting_);
  if (is_answered) {
    std::uint64_t done = 0;
    socket_.receive(writable_bytes_of(done), waiting_);
  }
}

void TcpBaseline::get(std::span<std::byte> to, std::size_t from) {
  const std::uint64_t word = TcpRequest{TcpKind::get, from, to.size()}.encode();
  socket_.send(bytes_of(word), waiting_);
  socket_.receive(to, waiting_);
}

std::int64_t TcpBaseline::add(std::int64_t increment) {
  const std::uint64_t word = TcpRequest{TcpKind::add, 0, sizeof(std::int64_t)}.encode();
  socket_.send(bytes_of(word), bytes_of(increment), waiting_);
  std::int64_t before = 0;
  socket_.receive(writable_bytes_of(before), waiting_);
  return before;
}

void TcpBaseline::end_check() {
  const std::uint64_t word = TcpRequest{}.encode();
  socket_.send(bytes_of(word), waiting_);
  std::uint64_t done = 0;
  socket_.receive(writable_bytes_of(done), waiting_);
}

void TcpBaseline::serve_until_end() {
  while (server_.serve_one(waiting_) == TcpServer::Served::request) {
  }
}

Workspace TcpBaseline::workspace() {
  Workspace workspace;
  workspace.local = local_.bytes();
  workspace.remote_bytes = local_.bytes().size();
  workspace.rotate = rotate_;
  workspace.write_remote = [this](auto bytes) { put(bytes, 0, true); };
  workspace.read_remote = [this](auto bytes) { get(bytes, 0); };
  return workspace;
}

void TcpBaseline::share_work(Candidate& candidate, std::int64_t requests) {
  if (waiting_ == Waiting::blocking) {
    return;
  }
  candidate.cooperative = true;
  if (is_origin_) {
    candidate.verify = [this, check = std::move(candidate.verify)] {
      std::string problem = check();
      end_check();
      return problem;
    };
  } else if (is_target_) {
    candidate.run = [this, requests](std::int64_t repetitions) {
      for (std::int64_t i = 0; i < repetitions * requests; ++i) {
        (void)server_.serve_one(waiting_);
      }
    };
    candidate.verify = [this] {
      serve_until_end();
      return std::string();
    };
  } else {
    candidate.run = [](std::int64_t) {};
  }
}

template <class Once>
Candidate TcpBaseline::transfer(const Case& c, std::int64_t requests, Once once) {
  Candidate candidate = transfer_candidate(name_, c, workspace(), is_origin_, once);
  share_work(candidate, requests);
  return candidate;
}

std::optional<Candidate> TcpBaseline::candidate(const Case& c) {
  if (c.operation == Operation::fetch_add) {
    return fetch_add();
  }
  if (c.operation == Operation::put || c.operation == Operation::get) {
    return c.layout == Layout::contiguous ? stream(c.operation, c.run_bytes, 1) : std::nullopt;
  }
  return std::nullopt;
}

std::optional<Candidate> TcpBaseline::stream(Operation operation, std::size_t bytes,
                                             std::int64_t messages) {
  const Case whole = Case::contiguous(operation, bytes * static_cast<std::size_t>(messages));
  if (!fits(whole, workspace())) {
    return std::nullopt;
  }
  std::byte* const here = local_.bytes().data();
  if (operation == Operation::put) {
    return transfer(whole, messages, [=, this](std::size_t local, std::size_t remote) {
      for (std::int64_t i = 0; i < messages; ++i) {
        const std::size_t at = static_cast<std::size_t>(i) * bytes;
        put({here + local + at, bytes}, remote + at, i + 1 == messages);
      }
    });
  }
  const auto words = std::make_shared<std::vector<std::uint64_t>>(messages);
  return transfer(whole, messages, [=, this](std::size_t local, std::size_t remote) {
    for (std::size_t i = 0; i < words->size(); ++i) {
      (*words)[i] = TcpRequest{TcpKind::get, remote + i * bytes, bytes}.encode();
    }
    socket_.send(std::as_bytes(std::span(*words)), waiting_);
    socket_.receive({here + local, whole.run_bytes}, waiting_);
  });
}

std::optional<Candidate> TcpBaseline::ping_pong(std::size_t bytes) {
  const Case whole = Case::contiguous(Operation::put, bytes);
  if (bytes < sizeof(std::uint64_t) || !fits(whole, workspace())) {
    return std::nullopt;
  }
  const auto message = local_.bytes().first(bytes);
  const std::uint64_t word = TcpRequest{TcpKind::echo, 0, bytes}.encode();
  Candidate candidate;
  candidate.name = name_;
  candidate.bytes = 2 * bytes;
  candidate.run = [this, message, word](std::int64_t repetitions) {
    std::memcpy(message.data(), &word, sizeof word);
    for (std::int64_t i = 0; i < repetitions; ++i) {
      socket_.send(message, waiting_);
      socket_.receive(message, waiting_);
    }
  };
  if (is_origin_) {
    candidate.verify = [message, run = candidate.run]() -> std::string {
      for (std::size_t i = 0; i < message.size(); ++i) {
        message[i] = static_cast<std::byte>(i % 251);
      }
      run(1);
      for (std::size_t i = sizeof word; i < message.size(); ++i) {
        if (message[i] != static_cast<std::byte>(i % 251)) {
          return fmt::format("byte {} of {} came back with a wrong value", i, message.size());
        }
      }
      return "";
    };
  }
  share_work(candidate, 1);
  return candidate;
}

Candidate TcpBaseline::fetch_add() {
  Candidate candidate = fetch_add_candidate(
      name_, is_origin_, [this](std::int64_t increment) { return add(increment); });
  share_work(candidate, 1);
  return candidate;
}

std::optional<Started> TcpBaseline::started_get(std::size_t bytes) {
  const Case c = Case::contiguous(Operation::get, bytes);
  if (waiting_ != Waiting::blocking || !fits(c, workspace())) {
    return std::nullopt;
  }
  Started started;
  started.name = "tcp with helpers";
  started.bytes = bytes;
  if (!is_origin_) {
    return started;
  }
  helper_ = std::make_shared<Helper>([this, bytes] { get(local_.bytes().first(bytes), 0); });
  started.start = [helper = helper_] { helper->start(); };
  started.wait = [helper = helper_] { helper->wait(); };
  started.verify = [c, workspace = workspace(), started] {
    return verify_transfer(c, workspace, [&started] {
      started.start();
      started.wait();
    });
  };
  return started;
}

namespace {

using HostName = std::array<char, 256>;

HostName host_name() {
  HostName name = {};
  (void)::gethostname(name.data(), name.size() - 1);
  return name;
}

/// What rank 1 sends to rank 0.
struct ListenerAddress {
  TcpAddress address;
  std::uint64_t token = 0;
};

std::uint64_t random_token() {
  std::random_device random;
  return std::uint64_t{random()} << 32 | random();
}

}  // namespace

std::optional<TcpSocket> connect_ranks_0_and_1(RankGroup& group, bool outside,
                                               std::string& missing) {
  if (group.size() < 2) {
    missing = "tcp: needs two ranks";
    return std::nullopt;
  }
  const HostName mine = host_name();
  const bool is_one_host = group.share(mine, 0) == group.share(mine, peer_rank);
  const bool is_outside = outside || !is_one_host;
  TcpSocket socket;
  std::unique_ptr<TcpListener> listener;
  ListenerAddress offer;
  std::string problem;
  const auto attempt = [&problem](auto action) {
    try {
      action();
    } catch (const std::system_error& error) {
      problem = error.what();
    }
  };
  if (group.rank() == peer_rank) {
    attempt([&] {
      listener = std::make_unique<TcpListener>(is_outside ? outside_host() : loopback_host());
      offer = {listener->address(), random_token()};
    });
  }
  offer = group.share(offer, peer_rank);
  if (group.rank() == 0) {
    attempt([&] { socket = connect_tcp(offer.address, offer.token); });
  } else if (listener) {
    attempt([&] { socket = listener->accept(offer.token, connect_limit); });
  }
  if (group.maximum(problem.empty() ? 0 : 1) > 0) {
    missing = "tcp: " + (problem.empty() ? "another rank could not connect" : problem);
    return std::nullopt;
  }
  return socket;
}

std::unique_ptr<TcpBaseline> make_tcp_baseline(RankGroup& group, const BaselineOptions& options,
                                               const TcpOptions& tcp_options,
                                               std::string& missing) {
  if (options.buffer_bytes() > max_buffer) {
    missing = "tcp: buffers may have at most 1 GiB; choose smaller sizes with -m";
    return nullptr;
  }
  auto socket = connect_ranks_0_and_1(group, tcp_options.outside, missing);
  return socket ? std::make_unique<TcpBaseline>(group, options, tcp_options.waiting,
                                                std::move(*socket))
                : nullptr;
}

}  // namespace tessera::bench
