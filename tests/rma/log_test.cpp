// SPDX-License-Identifier: BSD-3-Clause
//
// The log when standard error accepts no further output.
#include "rma/base/log.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

namespace tessera::rma {
namespace {

// Two descriptors: data written to `writing` can be read from `reading`.
struct Ends {
  int reading = -1;
  int writing = -1;
};

Ends make_pipe() {
  std::array<int, 2> ends{-1, -1};
  EXPECT_EQ(pipe(ends.data()), 0);
  return {ends[0], ends[1]};
}

Ends make_sockets() {
  std::array<int, 2> ends{-1, -1};
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
  return {ends[0], ends[1]};
}

// Without a descriptor if the machine has no pseudo-terminals, as in some containers.
Ends make_terminal() {
  const int own = posix_openpt(O_RDWR | O_NOCTTY);
  if (own < 0) {
    return {};
  }
  EXPECT_EQ(grantpt(own), 0);
  EXPECT_EQ(unlockpt(own), 0);
  const int other = open(ptsname(own), O_RDWR | O_NOCTTY);
  termios settings{};
  tcgetattr(other, &settings);
  settings.c_oflag &= ~static_cast<tcflag_t>(OPOST);  // no conversion of line ends
  tcsetattr(other, TCSANOW, &settings);
  return {own, other};
}

// Redirects standard error to `ends.writing`, and fills it.
class FullStandardError {
 public:
  explicit FullStandardError(Ends ends) : ends_(ends), before_(dup(STDERR_FILENO)) {
    dup2(ends.writing, STDERR_FILENO);
    set_waiting(false);
    // A terminal moves some bytes on in the meantime, which makes room.
    for (int rounds = 0; rounds < 5; ++rounds) {
      const std::string filler(1000, '.');
      while (write(ends.writing, filler.data(), filler.size()) > 0) {
      }
      while (write(ends.writing, ".", 1) > 0) {
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    set_waiting(true);
  }
  ~FullStandardError() {
    dup2(before_, STDERR_FILENO);
    for (const int each : {before_, ends_.reading, ends_.writing}) {
      close(each);
    }
  }
  FullStandardError(const FullStandardError&) = delete;
  FullStandardError& operator=(const FullStandardError&) = delete;

  // Reads until nothing arrives for a while; returns the text after the filler.
  [[nodiscard]] std::string read_all() const {
    constexpr int patience_ms = 100;
    std::string text;
    pollfd one{.fd = ends_.reading, .events = POLLIN, .revents = 0};
    while (poll(&one, 1, patience_ms) > 0) {
      std::array<char, 4096> some{};
      const ssize_t got = read(ends_.reading, some.data(), some.size());
      text.append(some.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
    }
    return text.substr(std::min(text.size(), text.find_first_not_of('.')));
  }

  // In a terminal, reading makes room only after a short time.
  void wait_for_room() const {
    constexpr int patience_ms = 5000;
    pollfd one{.fd = ends_.writing, .events = POLLOUT, .revents = 0};
    EXPECT_GT(poll(&one, 1, patience_ms), 0);
  }

 private:
  void set_waiting(bool waits) const {
    const int flags = fcntl(ends_.writing, F_GETFL);
    fcntl(ends_.writing, F_SETFL, waits ? flags & ~O_NONBLOCK : flags | O_NONBLOCK);
  }
  Ends ends_;
  int before_;
};

TEST(Log, WarningsDoNotWaitForAReader) {
  for (Ends (*const make)() : {make_pipe, make_sockets, make_terminal}) {
    const Ends ends = make();
    if (ends.writing < 0) {
      GTEST_SKIP() << "not with a terminal: this machine has no pseudo-terminals";
    }
    const FullStandardError error(ends);
    Log log(LogLevel::warning, WorldRank{5});
    for (int i = 0; i < 3; ++i) {
      log.warning("no reader gets this");  // the test would hang here
    }
    EXPECT_EQ(error.read_all(), "");
    error.wait_for_room();
    log.warning("read");
    log.warning("read, too");
    EXPECT_EQ(error.read_all(),
              "tessera[5]: 3 lines were dropped: standard error was full\n"
              "tessera[5]: read\n"
              "tessera[5]: read, too\n");
  }
}

TEST(Log, ReportsAtItsEndWhatItDropped) {
  const FullStandardError error(make_pipe());
  {
    Log log;
    log.warning("no reader gets this");
    EXPECT_EQ(error.read_all(), "");
  }
  EXPECT_EQ(error.read_all(), "tessera[0]: 1 line was dropped: standard error was full\n");
}

TEST(Log, RequestedLinesWaitForTheirReader) {
  const FullStandardError error(make_pipe());
  Log log(LogLevel::info);
  std::thread asked([&log] {
    log.info("what was asked for");
    log.report("a table\n");
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  log.warning("not held up by the other");
  const std::string text = error.read_all();
  asked.join();
  EXPECT_EQ(text + error.read_all(), "tessera[0]: what was asked for\na table\n");
}

TEST(Log, WarningsWithoutAReaderEndNoProcess) {
  const Ends ends = make_pipe();
  const int before = dup(STDERR_FILENO);
  dup2(ends.writing, STDERR_FILENO);
  close(ends.writing);
  close(ends.reading);
  Log log;
  log.warning("by SIGPIPE");
  dup2(before, STDERR_FILENO);
  close(before);
}

}  // namespace
}  // namespace tessera::rma
