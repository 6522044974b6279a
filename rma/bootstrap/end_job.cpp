// SPDX-License-Identifier: BSD-3-Clause
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <future>
#include <memory>
#include <thread>

#include "rma/bootstrap.hpp"
#include "rma/bootstrap/detect.hpp"
#include "rma/engine/fork_guard.hpp"

namespace tessera::rma {
namespace {

// A thread that waits for input holds its stream's lock, and fflush() waits for that lock.
void flush_when_free(FILE* stream, std::chrono::steady_clock::time_point deadline) {
  while (ftrylockfile(stream) != 0) {
    if (std::chrono::steady_clock::now() >= deadline) {
      return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  std::fflush(stream);
  funlockfile(stream);
}

// Only the C library knows the program's other streams, and it waits for each of them. A thread
// flushes them and is abandoned if it takes too long. Without a thread they stay unflushed.
void flush_others(std::chrono::steady_clock::time_point deadline) {
  try {
    const auto flushed = std::make_shared<std::promise<void>>();
    const std::future<void> end = flushed->get_future();
    std::thread([flushed] {
      std::fflush(nullptr);
      flushed->set_value();
    }).detach();
    end.wait_until(deadline);
  } catch (const std::exception&) {
    return;  // no thread, or no memory for one
  }
}

void flush_output() {
  constexpr std::chrono::seconds max_wait{1};  // less than the launcher waits for a rank that ends
                                               // the job
  const std::chrono::steady_clock::time_point deadline =
      std::chrono::steady_clock::now() + max_wait;
  flush_when_free(stdout, deadline);
  flush_when_free(stderr, deadline);
  flush_others(deadline);
}

}  // namespace

bool is_child_of_rank() noexcept {
  return detail::ForkGuard::is_in_child();
}

void end_job(int code) {
  // The system keeps eight bits of a code: 256 would be reported as success.
  constexpr int kept = 0xff;
  code = code != 0 && (code & kept) == 0 ? EXIT_FAILURE : code;
  const bool is_alone = is_child_of_rank();
  if (!is_alone) {
    detail::ask_launcher_to_end(code);  // first, as the rest may take a while
  }
  flush_output();
  if (!is_alone) {
    detail::abort_mpi(code);
  }
  std::_Exit(code);
}

}  // namespace tessera::rma
