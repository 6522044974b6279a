// SPDX-License-Identifier: BSD-3-Clause
#include "bench/result_writer.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <exception>
#include <sstream>
#include <system_error>
#include <utility>

#include "apps/common/output.hpp"
#include "apps/common/output_file.hpp"
#include "bench/support/options.hpp"
#include "rma/base/thread_without_signals.hpp"

namespace tessera::bench {
namespace {

constexpr const char* program = "tessera-bench";

bool say(const rma::Status& status) {
  if (!status.ok()) {
    apps::print_error(program, status.message());
  }
  return status.ok();
}

}  // namespace

bool ResultWriter::open(RankGroup& group, const std::string& path) {
  path_ = path;
  const bool is_tried = group.rank() == 0 && !path.empty() && path != standard_output;
  return group.share(!is_tried || say(apps::try_output_file(path)));
}

bool ResultWriter::write_all() {
  is_written_ = true;
  if (path_.empty()) {
    return true;
  }
  std::ostringstream text;
  report_.write_json(text);
  if (path_ == standard_output) {
    apps::print_text(text.view());  // apps::finish_output() reports a failure
    return true;
  }
  return say(apps::write_output_file(path_, text.view()));
}

bool ResultWriter::write() {
  const std::lock_guard lock(mutex_);
  return is_written_ || write_all();
}

void ResultWriter::write_unfinished(const std::string& why) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    if (is_written_ || path_.empty()) {
      return;
    }
    if (!report_.has_records()) {
      apps::print_error(program, "the run ended before anything was measured; no file is written");
      return;
    }
    report_.set_unfinished(why);
    if (write_all()) {
      apps::print_error(program, "the run ended early; the file holds the results until then");
    }
  } catch (const std::exception& error) {
    apps::print_error(program, error.what());
  }
}

namespace {

/// The pipe to which a handler writes its signal; a handler needs a global to find it.
std::atomic<int> signal_pipe{-1};
static_assert(std::atomic<int>::is_always_lock_free);

constexpr unsigned char nothing = 0;  // no signal has this number

void write_to_pipe(unsigned char number) {
  // The pipe has room for many more signals than can arrive.
  [[maybe_unused]] const ssize_t written = write(signal_pipe.load(), &number, 1);
}

extern "C" void write_signal(int number) {
  const int error = errno;
  write_to_pipe(static_cast<unsigned char>(number));
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
  thread_ = rma::detail::start_thread_with_signals_blocked([this] { wait(); }).value();
  struct sigaction handler {};
  handler.sa_handler = write_signal;
  handler.sa_flags = SA_RESTART;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    sigaction(numbers[i], nullptr, &before_[i]);
    if (before_[i].sa_handler != SIG_IGN) {
      sigaction(numbers[i], &handler, nullptr);
    }
  }
}

TerminationSignals::~TerminationSignals() {
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    sigaction(numbers[i], &before_[i], nullptr);
  }
  write_to_pipe(nothing);
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
