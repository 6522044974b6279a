// SPDX-License-Identifier: BSD-3-Clause
#include "apps/tool/openblas.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>

namespace tessera::tool {
namespace {

// In the child: writes "THREADS CONFIG" to `out`.
void report_to(int out) {
  // Its output at its end is discarded.
  const int nowhere = open("/dev/null", O_WRONLY);
  dup2(nowhere, STDERR_FILENO);
  dup2(nowhere, STDOUT_FILENO);
  void* library = dlopen(TESSERA_OPENBLAS_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  }
  if (library == nullptr) {
    return;
  }
  const auto get_config = reinterpret_cast<char* (*)()>(dlsym(library, "openblas_get_config"));
  const auto get_threads = reinterpret_cast<int (*)()>(dlsym(library, "openblas_get_num_threads"));
  if (get_config != nullptr && get_threads != nullptr) {
    dprintf(out, "%d %s", get_threads(), get_config());
  }
}

std::string read_until_end(int in, std::chrono::milliseconds timeout) {
  std::string text;
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    pollfd entry{.fd = in, .events = POLLIN, .revents = 0};
    if (left.count() <= 0 || poll(&entry, 1, static_cast<int>(left.count())) <= 0) {
      return text;
    }
    std::array<char, 512> part{};
    const ssize_t bytes = read(in, part.data(), part.size());
    if (bytes <= 0) {
      return text;
    }
    text.append(part.data(), static_cast<std::size_t>(bytes));
  }
}

}  // namespace

OpenblasReport query_openblas() {
  constexpr std::chrono::milliseconds timeout{1000};
  std::array<int, 2> pipe{};
  if (pipe2(pipe.data(), O_CLOEXEC) != 0) {
    return {};
  }
  const pid_t child = fork();
  if (child == 0) {
    report_to(pipe[1]);
    _exit(0);
  }
  close(pipe[1]);
  const std::string text = child > 0 ? read_until_end(pipe[0], timeout) : "";
  close(pipe[0]);
  if (child > 0) {
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
  OpenblasReport report;
  const char* const end = text.data() + text.size();
  const auto [next, error] = std::from_chars(text.data(), end, report.threads);
  if (error == std::errc{} && next != end) {
    report.config = std::string(next + 1, end);
  }
  return report;
}

}  // namespace tessera::tool
