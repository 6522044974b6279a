// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fault/program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <utility>

namespace tessera::fault {

Program::Program(const std::vector<std::string>& arguments) {
  int ends[2] = {-1, -1};
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return;
  }
  std::vector<char*> pointers;
  for (const std::string& argument : arguments) {
    pointers.push_back(const_cast<char*>(argument.c_str()));
  }
  pointers.push_back(nullptr);
  pid_ = fork();
  if (pid_ == 0) {
    dup2(ends[1], STDOUT_FILENO);
    dup2(ends[1], STDERR_FILENO);
    execvp(pointers[0], pointers.data());
    _exit(126);
  }
  close(ends[1]);
  pipe_ = ends[0];
}

Program::Program(Program&& other) noexcept
    : limit_(other.limit_),
      pid_(std::exchange(other.pid_, -1)),
      pipe_(std::exchange(other.pipe_, -1)),
      output_(std::move(other.output_)) {}

Program::~Program() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  if (pipe_ >= 0) {
    close(pipe_);
  }
}

// Returns false at the end of the output or after the time limit.
bool Program::read_some() {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
      limit_ - std::chrono::steady_clock::now());
  pollfd entry{.fd = pipe_, .events = POLLIN, .revents = 0};
  if (left.count() <= 0 || poll(&entry, 1, static_cast<int>(left.count())) <= 0) {
    return false;
  }
  char buffer[8192];
  const ssize_t got = read(pipe_, buffer, sizeof buffer);
  if (got <= 0) {
    return false;
  }
  output_.append(buffer, static_cast<std::size_t>(got));
  return true;
}

bool Program::wait_for_output(const std::string& text) {
  while (output_ != text && read_some()) {
  }
  return output_ == text;
}

bool Program::wait_for_lines(int count) {
  const auto lines = [this] { return std::count(output_.begin(), output_.end(), '\n'); };
  while (lines() < count && read_some()) {
  }
  return lines() >= count;
}

Ending Program::wait() {
  while (read_some()) {
  }
  int state = 0;
  pid_t ended = 0;
  while ((ended = waitpid(pid_, &state, WNOHANG)) == 0 &&
         std::chrono::steady_clock::now() < limit_) {
    usleep(1000);
  }
  Ending ending;
  ending.output = output_;
  if (ended == pid_) {
    pid_ = -1;
    ending.exit_code = WIFEXITED(state) ? WEXITSTATUS(state) : -1;
    ending.signal = WIFSIGNALED(state) ? WTERMSIG(state) : 0;
  }
  return ending;
}

std::vector<int> Program::children() const {
  std::ifstream file(fmt::format("/proc/{0}/task/{0}/children", pid_));
  std::vector<int> children;
  for (int pid = 0; file >> pid;) {
    children.push_back(pid);
  }
  return children;
}

std::size_t occurrences(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos;
       at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

}  // namespace tessera::fault
