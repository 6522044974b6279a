// SPDX-License-Identifier: BSD-3-Clause
//
// Processes that start with closed standard streams or low limits. Each test runs in a separate
// process.
#include "rma/base/standard_streams.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <string>

#include "rma/job.hpp"
#include "rma/node/node_memory.hpp"

namespace tessera::rma::detail {
namespace {

/// Runs `body` in a child process and returns its result.
int code_of_child(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    _exit(body());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST(StandardStreams, AreOpenedIfTheyWereClosed) {
  EXPECT_EQ(code_of_child([] {
              close(STDIN_FILENO);
              close(STDOUT_FILENO);
              keep_standard_streams();
              const int next = open("/dev/null", O_RDONLY);
              const bool fails = write(STDOUT_FILENO, "x", 1) < 0 && errno == EBADF;
              return next > STDERR_FILENO && fails ? 0 : 1;
            }),
            0);
}

TEST(StandardStreams, StayAsTheyAre) {
  EXPECT_EQ(code_of_child([] {
              const int next = dup(STDERR_FILENO);
              close(next);
              keep_standard_streams();
              return dup(STDERR_FILENO) == next ? 0 : 1;
            }),
            0);
}

void limit(decltype(RLIMIT_FSIZE) what, rlim_t bytes) {
  const rlimit limits{bytes, bytes};
  setrlimit(what, &limits);
}

TEST(NodeMemory, KeepsToTheLimitOnFiles) {
  EXPECT_EQ(code_of_child([] {
              limit(RLIMIT_FSIZE, rlim_t{1} << 30);
              return NodeMemory::create(2, std::uint64_t{1} << 34).ok() ? 0 : 1;
            }),
            0)
      << "smaller than requested";
  EXPECT_EQ(code_of_child([] {
              limit(RLIMIT_FSIZE, rlim_t{1} << 20);
              const auto memory = NodeMemory::create(2, std::uint64_t{1} << 34);
              const bool is_reported =
                  !memory.ok() && memory.status().describe().find("ulimit -f") != std::string::npos;
              return is_reported ? 0 : 1;
            }),
            0);
}

TEST(RunOnThreads, ReportsThatThereAreTooMany) {
#ifdef TESSERA_SANITIZED
  GTEST_SKIP() << "a sanitizer needs address space of its own";
#endif
  EXPECT_EQ(code_of_child([] {
              limit(RLIMIT_AS, rlim_t{1} << 30);
              int began = 0;
              const Status status = run_on_threads(500, [&began](Job&) {
                ++began;
                return Status();
              });
              const std::string text = status.describe();
              const bool is_reported =
                  text.find("500 ranks as threads are more than") != std::string::npos ||
                  text.find("cannot start thread") != std::string::npos ||
                  text.find("no memory for 500 ranks") != std::string::npos;
              return !status.ok() && is_reported && began == 0 ? 0 : 1;
            }),
            0);
}

}  // namespace
}  // namespace tessera::rma::detail
