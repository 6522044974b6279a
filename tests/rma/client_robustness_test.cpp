// SPDX-License-Identifier: BSD-3-Clause
//
// A client survives faulty agents: they send garbage, end, die or stay silent. The test plays the
// agent with its own listener, byte by byte. Pending operations end with the reason, and the
// connections to other nodes continue to work.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "rma/base/wait_ready.hpp"
#include "rma/server/client/endpoint.hpp"
#include "tests/rma/played_agent.hpp"
#include "tests/rma/server_rig.hpp"
#include "tests/support/checks.hpp"

namespace tessera::rma::server {
namespace {

using test::fails;
using test::ok;

class ClientRobustness : public testing::Test {
 protected:
  static ClientOptions options(const PlayedAgent& agent) {
    ClientOptions options;
    options.rank = origin;
    options.job = job_number;
    options.secret = agent.secret();
    options.agents = {agent.address()};
    options.agent_hosts = {WorldRank{0}};
    options.gathered_bytes = 256;
    options.stray_error = [](const Status& error) { ADD_FAILURE() << error.describe(); };
    return options;
  }
  // Makes both ends of a connection: the client's link, and the played agent.
  void meet() {
    std::thread agent([&] { peer_.emplace(agent_.take_on()); });
    const auto connection = client_.links().to(NodeId{0});
    agent.join();
    ASSERT_TRUE(ok(connection));
    connection_ = *connection;
    endpoint_.emplace(*connection_, origin, owner);
  }
  Status wait(Completion& done) {
    const auto deadline = std::chrono::steady_clock::now() + detail::rig_time_limit;
    while (!done.done()) {
      if (std::chrono::steady_clock::now() > deadline) {
        ADD_FAILURE() << "the operation never ends";
        client_.close();
        std::abort();  // the completion must outlive the operation
      }
      client_.progress().wait(done, std::chrono::milliseconds(1));
    }
    return done.take_error();
  }
  static constexpr Target at{.rank = TeamRank{1}, .offset = 0, .region = region};

  PlayedAgent agent_;
  std::optional<RawPeer> peer_;
  Client client_{options(agent_)};
  ClientConnection* connection_ = nullptr;
  std::optional<ServerEndpoint> endpoint_;
};

// --- replies that no Tessera agent sends -----------------------------------------------------

struct Answer {
  const char* name;
  std::function<Bytes(std::uint64_t operation)> bytes;  // the reply to a get of 100 bytes
  const char* words;
};

FrameHeader answer(Kind kind, std::uint64_t operation) {
  return {.kind = kind, .origin = origin, .target = owner, .operation = operation};
}

const std::vector<Answer>& answers() {
  static const std::vector<Answer> all = {
      {"Garbage", [](auto) { return Bytes(200, std::byte{'x'}); }, "a frame begins with"},
      {"ARequest", [](auto operation) { return frame(answer(Kind::get, operation)); },
       "sent a request (get) where answers are expected"},
      {"NoData", [](auto operation) { return frame(answer(Kind::data, operation)); },
       "sent 0 bytes; 100 were requested"},
      {"LessData",
       [](auto operation) { return frame(answer(Kind::data, operation), {}, Bytes(99)); },
       "sent 99 bytes; 100 were requested"},
      {"MoreData",
       [](auto operation) { return frame(answer(Kind::data, operation), {}, Bytes(101)); },
       "sent 101 bytes; 100 were requested"},
      {"AWordInsteadOfData", [](auto operation) { return frame(answer(Kind::value, operation)); },
       "answered with value to a request for 100 bytes"},
      {"DoneInsteadOfData", [](auto operation) { return frame(answer(Kind::done, operation)); },
       "answered with done to a request for 100 bytes"},
      {"AnOperationThatNobodyAskedFor",
       [](auto operation) { return frame(answer(Kind::value, operation + 1)); },
       "which is not pending"},
      {"AFailureOfNoSense",
       [](auto operation) { return frame(answer(Kind::failed, operation), {}, Bytes(8)); },
       "a failure has code 0"},
      {"AFailureWithoutBytes",
       [](auto operation) { return frame(answer(Kind::failed, operation)); },
       "a failure has 0 bytes"},
      {"AFailureTooLong",
       [](auto operation) { return frame(answer(Kind::failed, operation), {}, Bytes(2000)); },
       "sent 2000 bytes with failed; the limit is 1008"},
      {"AWordWithAPayload",
       [](auto operation) { return frame(answer(Kind::value, operation), {}, Bytes(8)); },
       "sent 8 bytes with value; the limit is 0"},
      {"TheReasonForItsEnd",
       [](auto) {
         Bytes text;
         encode_failure(Status::error(Code::protocol, "you said nonsense"), text);
         return frame(answer(Kind::failed, 0), {}, text);
       },
       "node 0: you said nonsense"},
  };
  return all;
}

class WrongAnswer : public ClientRobustness, public testing::WithParamInterface<std::size_t> {};

TEST_P(WrongAnswer, EndsPendingOperationsWithTheReason) {
  meet();
  const Answer& each = answers()[GetParam()];
  // The destination of the get, with guard bytes around it that must not change.
  Bytes memory(300, std::byte{0x33});
  Completion done;
  done.begin();
  ASSERT_TRUE(ok(endpoint_->get(memory.data() + 100, at, CopyShape::contiguous(100), done)));
  const auto asked = peer_->receive_frame();
  ASSERT_TRUE(asked);
  ASSERT_TRUE(peer_->send(each.bytes(asked->first.operation)));
  EXPECT_TRUE(fails(wait(done), Code::protocol, {each.words}));
  EXPECT_TRUE(test::eventually([&] {
    client_.progress().advance();
    return connection_->is_lost();
  }));
  EXPECT_TRUE(std::all_of(memory.begin(), memory.begin() + 100,
                          [](std::byte byte) { return byte == std::byte{0x33}; }));
  EXPECT_TRUE(std::all_of(memory.begin() + 200, memory.end(),
                          [](std::byte byte) { return byte == std::byte{0x33}; }));
  done.begin();
  std::int64_t word = 0;
  EXPECT_TRUE(ok(endpoint_->get(&word, at, CopyShape::contiguous(8), done)));
  EXPECT_TRUE(fails(wait(done), Code::protocol, {"node 0"})) << "the connection stays lost";
}

INSTANTIATE_TEST_SUITE_P(Answers, WrongAnswer, testing::Range(std::size_t{0}, answers().size()),
                         [](const auto& each) { return std::string(answers()[each.param].name); });

// --- small operations in one message ----------------------------------------------------------

// Replies to gets of words until the other side closes: with the words' offsets, or with an error
// if the last word is beyond `end`. The error fails a whole list. Returns how many lists failed.
int answer_gets(RawPeer& peer, std::uint64_t end) {
  int spoilt = 0;
  Bytes error;
  encode_failure(Status::error(Code::out_of_range, "that is too far"), error);
  while (const auto asked = peer.receive_frame()) {
    const FrameHeader& get = asked->first;
    if (get.kind != Kind::get) {
      break;
    }
    std::vector<Fragment> words{{nullptr, get.offset, 8}};
    if (get.descriptor_bytes > 0) {
      words = decode_fragments(peer.receive_all(get.descriptor_bytes)).value();
    }
    const bool is_wrong = words.back().remote_offset >= end;
    spoilt += is_wrong && words.size() > 1 ? 1 : 0;
    Bytes data;
    for (const Fragment& each : words) {
      const auto* const value = reinterpret_cast<const std::byte*>(&each.remote_offset);
      data.insert(data.end(), value, value + 8);
    }
    const Kind kind = is_wrong ? Kind::failed : Kind::data;
    if (!peer.send(frame(answer(kind, get.operation), {}, is_wrong ? error : data))) {
      break;
    }
  }
  return spoilt;
}

TEST_F(ClientRobustness, GetsOfAFailedListAreRequestedOneByOne) {
  meet();
  constexpr std::size_t count = 64;
  std::array<std::uint64_t, count> words{};
  std::array<Completion, count> done;
  for (std::size_t i = 0; i < count; ++i) {
    Target from = at;
    from.offset = 8 * i;
    done[i].begin();
    ASSERT_TRUE(ok(endpoint_->get(&words[i], from, CopyShape::contiguous(8), done[i])));
  }
  int spoilt = 0;
  std::thread agent([&] { spoilt = answer_gets(*peer_, 8 * (count - 1)); });
  for (std::size_t i = 0; i + 1 < count; ++i) {
    EXPECT_TRUE(ok(wait(done[i])));
    EXPECT_EQ(words[i], 8 * i);
  }
  EXPECT_TRUE(fails(wait(done[count - 1]), Code::out_of_range, {"that is too far"}));
  client_.close();
  agent.join();
  EXPECT_GT(spoilt, 0) << "the wrong get was not sent in a list";
}

TEST_F(ClientRobustness, BatchedGetsThatAreNotSentEndWhenTheAgentDies) {
  meet();
  std::array<std::int64_t, 3> words{};
  std::array<Completion, 3> done;
  for (std::size_t i = 0; i < words.size(); ++i) {
    done[i].begin();
    ASSERT_TRUE(ok(endpoint_->get(&words[i], at, CopyShape::contiguous(8), done[i])));
  }
  peer_.reset();
  for (Completion& each : done) {
    EXPECT_TRUE(fails(wait(each), Code::peer_lost, {"node 0 is lost with rank 0"}));
  }
}

// A delivery to a team that was freed in the meantime is not reported. A delivery that was wrong is
// reported.
TEST(ClientOfATeamThatIsGone, ReceivesNoErrorForLateDeliveries) {
  PlayedAgent agent;
  ClientOptions options;
  options.rank = origin;
  options.job = job_number;
  options.secret = agent.secret();
  options.agents = {agent.address()};
  std::vector<std::string> errors;
  options.stray_error = [&](const Status& error) { errors.push_back(error.message()); };
  Client client(std::move(options));
  std::optional<RawPeer> peer;
  std::thread taking([&] { peer.emplace(agent.take_on()); });
  ASSERT_TRUE(ok(client.links().to(NodeId{0})));
  taking.join();
  for (const Code code : {Code::closed, Code::out_of_range}) {
    Bytes text;
    encode_failure(Status::error(code, "memory 9 is no longer published on this node"), text);
    ASSERT_TRUE(peer->send(frame(answer(Kind::failed, unmonitored_operation), {}, text)));
  }
  EXPECT_TRUE(test::eventually([&] {
    client.progress().advance();
    return !errors.empty();
  }));
  EXPECT_EQ(errors.size(), 1U);
}

// --- agents that end --------------------------------------------------------------------------

TEST_F(ClientRobustness, AnAgentThatDiesInTheMiddleOfAnAnswerIsNamed) {
  meet();
  Bytes memory(1000);
  Completion done;
  done.begin();
  ASSERT_TRUE(ok(endpoint_->get(memory.data(), at, CopyShape::contiguous(1000), done)));
  const auto asked = peer_->receive_frame();
  ASSERT_TRUE(asked);
  const Bytes whole = frame(answer(Kind::data, asked->first.operation), {}, Bytes(1000));
  ASSERT_TRUE(peer_->send(std::span(whole).first(500)));
  peer_.reset();
  const Status lost = wait(done);
  EXPECT_TRUE(fails(lost, Code::peer_lost,
                    {"node 0 is lost with rank 0, whose process served it: the connection with "
                     "127.0.0.1:"}));
  EXPECT_EQ(lost.rank(), WorldRank{0});
}

// The link keeps a copy of what the sockets have no room for, so the caller may reuse its memory.
TEST_F(ClientRobustness, ACopiedBodyMayBeReusedAtOnce) {
  meet();
  constexpr std::uint64_t most = 32;
  Bytes body(250'001);
  std::uint64_t posted = 0;
  for (; posted < most && !connection_->queue().has_unsent(); ++posted) {
    std::fill(body.begin(), body.end(), static_cast<std::byte>(posted));
    FrameHeader header = answer(Kind::deliver, unmonitored_operation);
    header.payload_bytes = body.size();
    header.offset = posted;
    ASSERT_TRUE(ok(connection_->post_copy(header, body, ClientConnection::When::now)));
  }
  ASSERT_TRUE(connection_->queue().has_unsent()) << "everything went into the sockets' buffers";
  std::fill(body.begin(), body.end(), std::byte{0xff});
  for (std::uint64_t i = 0; i < posted; ++i) {
    const auto came = peer_->receive_frame();
    ASSERT_TRUE(came);
    EXPECT_EQ(came->first.offset, i);
    ASSERT_TRUE(came->second == Bytes(body.size(), static_cast<std::byte>(i)));
  }
}

// A wait includes puts that are not sent yet.
class UnsentPuts : public ClientRobustness {
 protected:
  void put_more_than_fits() {
    for (int i = 0; i < 16; ++i) {
      done_.begin();
      ASSERT_TRUE(
          ok(endpoint_->put(at, memory_.data(), CopyShape::contiguous(memory_.size()), done_)));
      if (connection_->queue().has_unsent()) {
        return;
      }
    }
    FAIL() << "everything went into the sockets' buffers";
  }
  // More than the sockets take, but not enough to make a put wait for room.
  Bytes memory_ = Bytes(3U << 20U);
  Completion done_;
};

TEST_F(UnsentPuts, EndWhenTheAgentLeaves) {
  meet();
  put_more_than_fits();
  ASSERT_TRUE(peer_->send(frame({.kind = Kind::bye, .origin = origin})));
  EXPECT_TRUE(fails(wait(done_), Code::closed, {"node 0: it has left the job"}));
}

TEST_F(UnsentPuts, EndWhenTheAgentDies) {
  meet();
  put_more_than_fits();
  peer_.reset();
  EXPECT_TRUE(fails(wait(done_), Code::peer_lost, {"node 0 is lost with rank 0"}));
}

TEST_F(ClientRobustness, ANodeWithoutAListenerStaysLost) {
  agent_.stop_listening();
  const Status lost = client_.links().to(NodeId{0}).status();
  EXPECT_TRUE(fails(lost, Code::peer_lost,
                    {"node 0 is lost with rank 0, whose process served it: cannot connect to "
                     "127.0.0.1:",
                     "Connection refused"}));
  EXPECT_EQ(lost.rank(), WorldRank{0});
  EXPECT_TRUE(fails(client_.links().to(NodeId{0}), Code::peer_lost));
}

TEST(ClientOfANodeThatHasLeft, IsNotifiedWithoutAsking) {
  const PlayedAgent agent;
  ClientOptions options;
  options.secret = agent.secret();
  options.agents = {agent.address()};
  options.has_left = [](NodeId) { return true; };
  Client client(std::move(options));
  EXPECT_TRUE(fails(client.links().to(NodeId{0}), Code::closed, {"node 0: it has left the job"}));
}

// --- nodes that cannot be reached --------------------------------------------------------------

// A client of one node, and a count of its attempts to connect.
class UnreachedNode : public testing::Test {
 protected:
  Client& client_of(TcpAddress address, std::chrono::milliseconds pause) {
    ClientOptions options;
    options.rank = origin;
    options.job = job_number;
    options.secret = secret_;
    options.agents = {address};
    options.connect_timeout = std::chrono::milliseconds(20);
    options.first_pause = pause;
    options.max_pause = 2 * pause;
    // Called before each attempt, and after a failed one.
    options.has_left = [this](NodeId) {
      ++requested_;
      return false;
    };
    return client_.emplace(std::move(options));
  }
  // TCP cannot connect to a broadcast address. The loopback network's exists on every machine.
  static constexpr TcpAddress nowhere{0x7fff'ffff, 9};
  static constexpr std::chrono::hours forever{1};

  Secret secret_ = new_secret().value();
  std::atomic<int> requested_{0};
  std::optional<Client> client_;
};

TEST_F(UnreachedNode, IsNotTriedAgainForAWhile) {
  Client& client = client_of(nowhere, forever);
  const Status first = client.links().to(NodeId{0}).status();
  EXPECT_TRUE(fails(first, Code::unreachable,
                    {"node 0: cannot connect to 127.255.255.255:9: Network is unreachable"}));
  EXPECT_EQ(requested_, 2);
  const Status second = client.links().to(NodeId{0}).status();
  EXPECT_EQ(second.code(), first.code());
  EXPECT_EQ(second.message(), first.message());
  EXPECT_TRUE(fails(client.links().open_transient(NodeId{0}, forever), Code::unreachable,
                    {first.message()}));
  EXPECT_EQ(requested_, 2) << "it was tried again";
}

TEST_F(UnreachedNode, IsTriedAgainAfterThePause) {
  Client& client = client_of(nowhere, std::chrono::milliseconds(1));
  for (int attempts = 1; attempts <= 4; ++attempts) {
    EXPECT_TRUE(test::eventually([&] {
      EXPECT_TRUE(fails(client.links().to(NodeId{0}), Code::unreachable));
      return requested_ >= 2 * attempts;
    })) << "attempt "
        << attempts;
  }
}

TEST_F(UnreachedNode, ThatNeverRepliesIsNotTriedForAWhile) {
  auto silent = TcpListener::create({loopback_host, 0}).value();
  Client& client = client_of(silent.address(), forever);
  const Status first = client.links().to(NodeId{0}).status();
  EXPECT_TRUE(fails(first, Code::timed_out, {"did not complete the handshake in time"}));
  std::vector<std::unique_ptr<Channel>> accepted;
  const auto accept = [&] {
    auto channel = silent.accept().value();
    const bool came = channel != nullptr;
    accepted.push_back(std::move(channel));
    return came;
  };
  EXPECT_TRUE(test::eventually(accept));
  const Status second = client.links().to(NodeId{0}).status();
  EXPECT_EQ(second.message(), first.message());
  EXPECT_FALSE(accept()) << "it was tried again";
}

// Sends this process a signal a hundred times a second, as a profiler does.
class Alarms {
 public:
  Alarms() {
    struct sigaction ignored {};
    ignored.sa_handler = [](int) {};
    ignored.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &ignored, &before_);
    const itimerval often{.it_interval = {.tv_sec = 0, .tv_usec = 10'000},
                          .it_value = {.tv_sec = 0, .tv_usec = 10'000}};
    setitimer(ITIMER_REAL, &often, nullptr);
  }
  ~Alarms() {
    const itimerval never{};
    setitimer(ITIMER_REAL, &never, nullptr);
    sigaction(SIGALRM, &before_, nullptr);
  }
  Alarms(const Alarms&) = delete;
  Alarms& operator=(const Alarms&) = delete;

 private:
  struct sigaction before_ {};
};

TEST(WaitReady, EndsAtItsDeadlineDespiteSignals) {
  const Alarms alarms;
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  constexpr std::chrono::milliseconds time{200};
  const auto begin = std::chrono::steady_clock::now();
  std::atomic<bool> has_ended{false};
  // In a separate thread, so that the test can fail if the wait has no end.
  std::thread waiting([&] {
    EXPECT_FALSE(detail::wait_ready(ends[0], POLLIN, begin + time));
    has_ended = true;
  });
  const pthread_t waiter = waiting.native_handle();
  EXPECT_TRUE(test::eventually([&] {
    pthread_kill(waiter, SIGALRM);
    return has_ended.load();
  }));
  waiting.join();
  EXPECT_GE(std::chrono::steady_clock::now() - begin, time);
  ASSERT_EQ(write(ends[1], "x", 1), 1);
  EXPECT_TRUE(detail::wait_ready(ends[0], POLLIN, std::chrono::steady_clock::now()));
  close(ends[0]);
  close(ends[1]);
}

// A listener that accepts nothing, with a full queue of connections.
class FullListener {
 public:
  FullListener() {
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(loopback_host);
    socklen_t size = sizeof address_;
    EXPECT_EQ(bind(listener_, generic(), size), 0);
    EXPECT_EQ(listen(listener_, 0), 0);
    EXPECT_EQ(getsockname(listener_, generic(), &size), 0);
    for (int& each : callers_) {
      each = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
      static_cast<void>(connect(each, generic(), size));
    }
  }
  ~FullListener() {
    std::for_each(callers_.begin(), callers_.end(), close);
    close(listener_);
  }
  FullListener(const FullListener&) = delete;
  FullListener& operator=(const FullListener&) = delete;
  [[nodiscard]] TcpAddress address() const { return {loopback_host, ntohs(address_.sin_port)}; }

 private:
  sockaddr* generic() { return reinterpret_cast<sockaddr*>(&address_); }
  int listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address_{};
  std::array<int, 4> callers_{};
};

// While an object of this class exists, no new thread gets a stack.
class NoThreads {
 public:
  NoThreads() {
    pthread_getattr_default_np(&before_);
    pthread_attr_t endless = before_;
    pthread_attr_setstacksize(&endless, std::size_t{1} << 50U);
    pthread_setattr_default_np(&endless);
  }
  ~NoThreads() { pthread_setattr_default_np(&before_); }
  NoThreads(const NoThreads&) = delete;
  NoThreads& operator=(const NoThreads&) = delete;

 private:
  pthread_attr_t before_{};
};

TEST(ClientWithoutThreads, ReportsThatAndRestoresSignals) {
  sigset_t before;
  sigset_t after;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  {
    const NoThreads none;
    Client client{ClientOptions{}};
    EXPECT_TRUE(fails(client.progress().started(), Code::limit_exceeded,
                      {"cannot start one of Tessera's own threads: ", "; ", "ulimit -u"}));
  }
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  EXPECT_EQ(sigismember(&before, SIGUSR1), sigismember(&after, SIGUSR1));
  EXPECT_TRUE(ok(Client{ClientOptions{}}.progress().started()));
}

TEST(ConnectTcp, GivesUpInTimeDespiteSignals) {
  const FullListener listener;
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const Alarms alarms;
  const auto begin = std::chrono::steady_clock::now();
  const auto channel = connect_tcp(listener.address(), std::chrono::milliseconds(500));
  EXPECT_TRUE(fails(channel.status(), Code::timed_out, {"no answer within 500 ms"}));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST_F(UnreachedNode, IsReachedAsSoonAsItAnswers) {
  auto slow = TcpListener::create({loopback_host, 0}).value();
  Client& client = client_of(slow.address(), std::chrono::milliseconds(1));
  EXPECT_TRUE(fails(client.links().to(NodeId{0}), Code::timed_out));
  // From now on the agent answers. Earlier connections were closed by the client.
  std::atomic<bool> is_ending{false};
  std::thread agent([&] {
    while (!is_ending) {
      if (auto channel = slow.accept().value()) {
        RawPeer peer(std::move(channel));
        auto side = HandshakeServer::create(secret_, job_number, job_ranks, NodeId{0}).value();
        static_cast<void>(peer.shake_hands(side).ok());
        peer.is_closed_by_the_other();
      }
    }
  });
  const int tried = requested_;
  EXPECT_TRUE(
      test::eventually([&] { return client.links().to(NodeId{0}, std::chrono::seconds(5)).ok(); }));
  EXPECT_GT(requested_, tried);
  EXPECT_TRUE(ok(client.links().to(NodeId{0})));
  is_ending = true;
  client_.reset();
  agent.join();
}

// A lack of descriptors in this process is not a property of the node.
TEST_F(UnreachedNode, IsNotReportedIfADescriptorIsMissingHere) {
  auto agent = TcpListener::create({loopback_host, 0}).value();
  Client& client = client_of(agent.address(), forever);
  rlimit files{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &files), 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = files.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const Status lacking = client.links().to(NodeId{0}).status();
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &files), 0);
  EXPECT_TRUE(fails(lacking, Code::limit_exceeded,
                    {"node 0: cannot open a socket: Too many open files (this process may have 0)",
                     "hint: raise the limit on open files (ulimit -n)"}));
  EXPECT_TRUE(fails(client.links().to(NodeId{0}), Code::timed_out)) << "tried at once";
}

TEST_F(UnreachedNode, IsNotReportedForAnotherSecret) {
  ServedNode node;
  Client& client = client_of(node.address(), forever);
  EXPECT_TRUE(fails(client.links().to(NodeId{0}), Code::protocol,
                    {"node 0: the side that listens does not know this job's secret"}));
}

// As an agent does that has too many unauthenticated connections.
TEST(ClientOfABusyAgent, TriesAgainWhenItIsDisconnectedInTheHandshake) {
  ServedNode node;
  auto busy = TcpListener::create({loopback_host, 0}).value();
  const TcpAddress address = busy.address();
  ClientOptions options = options_for(node);
  options.agents = {address};
  Client client(std::move(options));
  std::thread agent([&] {
    for (int i = 0; i < 3; ++i) {
      ASSERT_TRUE(test::eventually([&] { return busy.accept().value() != nullptr; }));
    }
    std::unique_ptr<Channel> channel;
    ASSERT_TRUE(test::eventually([&] {
      channel = busy.accept().value();
      return channel != nullptr;
    }));
    RawPeer peer(std::move(channel));
    auto side = HandshakeServer::create(node.secret(), job_number, job_ranks, NodeId{0}).value();
    EXPECT_TRUE(ok(peer.shake_hands(side)));
  });
  EXPECT_TRUE(ok(client.links().to(NodeId{0})));
  agent.join();
}

// The agent's system accepts the connection, but the agent is silent: its process is stopped, or
// has no free descriptor.
TEST(ClientOfASilentAgent, IsNotifiedAndMeanwhileOtherNodesContinue) {
  ServedNode other;
  auto silent = TcpListener::create({loopback_host, 0}).value();
  ClientOptions options = options_for(other);
  options.agents.insert(options.agents.begin(), silent.address());
  options.agents.push_back(silent.address());
  Client client(std::move(options));
  // The node in the middle replies, but as node 0.
  std::atomic<bool> has_ended{false};
  Status errors;
  std::thread waiting([&] {
    errors = client.links().to(NodeId{0}, std::chrono::seconds(2)).status();
    has_ended = true;
  });
  std::unique_ptr<Channel> accepted;
  ASSERT_TRUE(test::eventually([&] {
    accepted = silent.accept().value();
    return accepted != nullptr;
  }));
  // The agent of another node refuses this at once: a reply, while the other call waits.
  EXPECT_TRUE(fails(client.links().to(NodeId{1}), Code::protocol, {"serves another node"}));
  EXPECT_EQ(client.progress().advance(), 0);
  EXPECT_FALSE(has_ended);
  waiting.join();
  EXPECT_TRUE(fails(errors, Code::timed_out,
                    {"node 0: the agent at 127.0.0.1:",
                     "did not complete the handshake in time\n  hint: its process is stopped or "
                     "has no free descriptor (ulimit -n)"}));
}

}  // namespace
}  // namespace tessera::rma::server
