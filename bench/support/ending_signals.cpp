// SPDX-License-Identifier: BSD-3-Clause
#include "bench/support/ending_signals.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <system_error>
#include <utility>

namespace tessera::bench {
namespace {

/// The pipe to which a handler writes its signal; a handler needs a global to find it.
std::atomic<int> signal_pipe{-1};
static_assert(std::atomic<int>::is_always_lock_free);

constexpr unsigned char nothing = 0;  // no signal has this number

void tell(unsigned char number) {
  // The pipe has room for many more signals than can arrive.
  [[maybe_unused]] const ssize_t written = write(signal_pipe.load(), &number, 1);
}

extern "C" void write_signal(int number) {
  const int error = errno;
  tell(static_cast<unsigned char>(number));
  errno = error;
}

/// Ends the process as if no handler had been installed.
void end_by(int number) {
  std::signal(number, SIG_DFL);
  sigset_t only_this;
  sigemptyset(&only_this);
  sigaddset(&only_this, number);
  pthread_sigmask(SIG_UNBLOCK, &only_this, nullptr);
  std::raise(number);
}

}  // namespace

TerminationSignals::TerminationSignals(std::function<void(int number)> last)
    : last_(std::move(last)) {
  if (pipe2(pipe_.data(), O_CLOEXEC) != 0) {
    throw std::system_error(errno, std::generic_category(), "a pipe for signals");
  }
  signal_pipe = pipe_[1];
  sigset_t all;
  sigset_t mine;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &mine);
  thread_ = std::thread([this] { wait(); });
  pthread_sigmask(SIG_SETMASK, &mine, nullptr);
  struct sigaction telling {};
  telling.sa_handler = write_signal;
  telling.sa_flags = SA_RESTART;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    sigaction(numbers[i], nullptr, &before_[i]);
    if (before_[i].sa_handler != SIG_IGN) {
      sigaction(numbers[i], &telling, nullptr);
    }
  }
}

TerminationSignals::~TerminationSignals() {
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    sigaction(numbers[i], &before_[i], nullptr);
  }
  tell(nothing);
  thread_.join();
  signal_pipe = -1;
  close(pipe_[0]);
  close(pipe_[1]);
}

void TerminationSignals::wait() {
  unsigned char number = nothing;
  while (read(pipe_[0], &number, 1) < 0 && errno == EINTR) {
  }
  if (number != nothing) {
    last_(number);
    end_by(number);
  }
}

}  // namespace tessera::bench
