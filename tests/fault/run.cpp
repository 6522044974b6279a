// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fault/run.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <sstream>
#include <thread>

namespace tessera::fault {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr const char* mark_name = "FAULT_RUN_MARK";

Report parse_report(std::istringstream& words) {
  Report report;
  words >> report.rank >> report.step >> report.code >> report.named_rank >> report.elapsed_ms;
  std::getline(words >> std::ws, report.message);
  return report;
}

// Reads the workers' reports and signals the victim; runs in a thread beside launch().
class Director {
 public:
  explicit Director(const Plan& plan)
      : plan_(plan), pids_(static_cast<std::size_t>(plan.ranks), -1) {
    int ends[2] = {-1, -1};
    if (pipe2(ends, O_CLOEXEC) == 0) {
      listen_ = ends[0];
      speak_ = ends[1];
      fcntl(speak_, F_SETFD, 0);  // for the workers
    }
  }
  ~Director() { close(listen_); }
  Director(const Director&) = delete;
  Director& operator=(const Director&) = delete;

  [[nodiscard]] int pipe_for_workers() const { return speak_; }

  // Called by the launching thread after it has started each process.
  void started(int rank, int pid) {
    const std::lock_guard guard(mutex_);
    pids_[static_cast<std::size_t>(rank)] = pid;
    known_.notify_all();
    if (rank + 1 == plan_.ranks) {
      stop_speaking();
    }
  }
  void stop_speaking() {
    if (speak_ >= 0) {
      close(speak_);
      speak_ = -1;
    }
  }

  // Reads until all workers have closed their ends of the pipe, or the time limit is reached.
  void listen(Outcome& outcome) {
    const auto limit = Clock::now() + plan_.time_limit;
    std::string text;
    while (true) {
      const auto left = std::chrono::duration_cast<milliseconds>(limit - Clock::now());
      pollfd entry{.fd = listen_, .events = POLLIN, .revents = 0};
      if (left.count() <= 0 || poll(&entry, 1, static_cast<int>(left.count())) == 0) {
        outcome.hung = true;
        strike_all();
        return;
      }
      char buffer[4096];
      const ssize_t got = read(listen_, buffer, sizeof buffer);
      if (got <= 0) {
        return;
      }
      text.append(buffer, static_cast<std::size_t>(got));
      for (std::size_t end = 0; (end = text.find('\n')) != std::string::npos;) {
        parse_line(text.substr(0, end), outcome);
        text.erase(0, end + 1);
      }
    }
  }

 private:
  void parse_line(const std::string& line, Outcome& outcome) {
    std::istringstream words(line);
    std::string kind;
    words >> kind;
    if (kind == "report") {
      outcome.reports.push_back(parse_report(words));
    } else if (kind == "ready" && plan_.signal != 0) {
      std::this_thread::sleep_for(plan_.delay);
      strike(plan_.signal);
      if (plan_.continue_after.count() > 0) {
        std::this_thread::sleep_for(plan_.continue_after);
        strike(SIGCONT);
      }
    }
  }
  void strike(int signal) {
    std::unique_lock guard(mutex_);
    const int& pid = pids_[static_cast<std::size_t>(plan_.victim)];
    known_.wait(guard, [&] { return pid > 0; });
    kill(pid, signal);
  }
  // launch() does not collect ended processes while it waits, so these ids cannot belong to other
  // processes.
  void strike_all() {
    const std::lock_guard guard(mutex_);
    for (const int pid : pids_) {
      if (pid > 0) {
        kill(pid, SIGKILL);
      }
    }
  }

  const Plan& plan_;
  std::mutex mutex_;
  std::condition_variable known_;
  std::vector<int> pids_;
  int listen_ = -1;
  int speak_ = -1;
};

std::vector<std::string> entries(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    names.push_back(entry.path().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// The descriptors of this process that refer to shared memory.
std::vector<std::string> memory_descriptors() {
  std::vector<std::string> found;
  for (const std::string& name : entries("/proc/self/fd")) {
    std::error_code error;
    const std::string target = std::filesystem::read_symlink(name, error).string();
    if (target.find("memfd:") != std::string::npos) {
      found.push_back(fmt::format("{} -> {}", name, target));
    }
  }
  return found;
}

std::vector<std::string> processes_with(const std::string& mark) {
  std::vector<std::string> found;
  for (const std::string& folder : entries("/proc")) {
    const std::string id = folder.substr(folder.find_last_of('/') + 1);
    if (id.find_first_not_of("0123456789") != std::string::npos || id == std::to_string(getpid())) {
      continue;
    }
    std::ifstream file(folder + "/environ");
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    if (text.find(mark) != std::string::npos) {
      found.push_back("process " + id);
    }
  }
  return found;
}

void append_new(std::vector<std::string>& to, const std::vector<std::string>& before,
                const std::vector<std::string>& now, const std::string& needle) {
  for (const std::string& each : now) {
    if (std::find(before.begin(), before.end(), each) == before.end() &&
        each.find(needle) != std::string::npos) {
      to.push_back(each);
    }
  }
}

}  // namespace

const Report* Outcome::find(int rank, const std::string& step) const {
  const auto found = std::find_if(reports.begin(), reports.end(), [&](const Report& each) {
    return each.rank == rank && each.step == step;
  });
  return found == reports.end() ? nullptr : &*found;
}

int Outcome::count(const std::string& step) const {
  return static_cast<int>(std::count_if(reports.begin(), reports.end(),
                                        [&](const Report& each) { return each.step == step; }));
}

Outcome direct(const Plan& plan) {
  Outcome outcome;
  const Traces traces;
  const ScopedEnvironment mark(traces.environment());
  const ScopedEnvironment settings(
      {{"TESSERA_TUNE", "liveness_ms=20"}, {"TESSERA_ARENA_MIB", "256"}});
  const ScopedEnvironment further(plan.environment);
  {
    Director director(plan);
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    std::thread listener([&] { director.listen(outcome); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    const auto exits =
        rma::launch({FAULT_WORKER, plan.scenario, std::to_string(plan.victim),
                     std::to_string(director.pipe_for_workers())},
                    {.ranks = plan.ranks, .nodes = 0, .started = [&](std::int32_t rank, int pid) {
                       director.started(rank, pid);
                     }});
    director.stop_speaking();
    listener.join();
    if (exits.ok()) {
      outcome.exits = *exits;
    }
  }
  outcome.leftovers = traces.leftovers();
  return outcome;
}

std::string describe(const Outcome& outcome) {
  std::string text = outcome.hung ? "HUNG\n" : "";
  for (const Report& each : outcome.reports) {
    text += fmt::format("  rank {} {}: {} (rank {}, {} ms) {}\n", each.rank, each.step, each.code,
                        each.named_rank, each.elapsed_ms, each.message);
  }
  for (const rma::RankExit& each : outcome.exits) {
    text += fmt::format("  rank {} ended with code {}, signal {}\n", each.rank, each.exit_code,
                        each.signal);
  }
  for (const std::string& each : outcome.leftovers) {
    text += "  left on the machine: " + each + "\n";
  }
  return text;
}

ScopedEnvironment::ScopedEnvironment(
    const std::vector<std::pair<std::string, std::string>>& variables) {
  for (const auto& [name, value] : variables) {
    if (const char* old = std::getenv(name.c_str())) {
      before_.emplace_back(name, old);
    } else {
      unset_before_.push_back(name);
    }
    setenv(name.c_str(), value.c_str(), 1);
  }
}

ScopedEnvironment::~ScopedEnvironment() {
  for (const auto& [name, value] : before_) {
    setenv(name.c_str(), value.c_str(), 1);
  }
  for (const std::string& name : unset_before_) {
    unsetenv(name.c_str());
  }
}

Traces::Traces()
    : mark_(fmt::format("{}-{}", getpid(), Clock::now().time_since_epoch().count())),
      folder_((std::filesystem::temp_directory_path() / ("fault-" + mark_)).string()),
      shared_before_(entries("/dev/shm")),
      descriptors_before_(memory_descriptors()) {
  std::filesystem::create_directories(folder_);
}

Traces::~Traces() {
  std::error_code error;
  std::filesystem::remove_all(folder_, error);
}

std::vector<std::pair<std::string, std::string>> Traces::environment() const {
  return {{mark_name, mark_}, {"TMPDIR", folder_}};
}

std::vector<std::string> Traces::leftovers() const {
  std::vector<std::string> found;
  for (int tries = 0; tries < 100; ++tries) {
    found = processes_with(mark_name + ("=" + mark_));
    if (found.empty()) {
      break;
    }
    std::this_thread::sleep_for(milliseconds(20));
  }
  // Other programs use /dev/shm meanwhile: only entries with Tessera's name count.
  append_new(found, shared_before_, entries("/dev/shm"), "tessera");
  append_new(found, {}, entries(folder_), "");
  append_new(found, descriptors_before_, memory_descriptors(), "");
  return found;
}

}  // namespace tessera::fault
