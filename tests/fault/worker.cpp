// SPDX-License-Identifier: BSD-3-Clause
//
// fault_worker: a rank of the fault tests.
//
//     fault_worker SCENARIO VICTIM PIPE
//
// SCENARIO is one of scenarios.cpp or node_scenarios.cpp, or one of these, which end after the
// start of the job:
//
//     start:K              the victim stops before the K-th exchange of the bootstrap
//     start:K+             … after it
//     start-with-files:N   the victim may open N more descriptors
//     start-with-mib:N     the victim may have N MiB more of address space
//
// or attach-apart: see attach_apart(); or end-job, end-job-ignoring-sigterm, end-job-while-reading,
// end-job-into-full-pipe: see end_job_of_all(); end-job-after-one: see end_job_after_one();
// start-a-tool, be-a-tool: see start_a_tool(); take-mib:N, take-mib-alone:N, take-small-pieces: see
// take_memory().
//
// Survivors exit with 0 even if the library returned errors: the director judges their reports.
#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "rma/base/result.hpp"
#include "rma/bootstrap.hpp"
#include "tests/fault/stage.hpp"

namespace tessera::fault {
namespace {

using rma::Status;

class Stopwatch {
 public:
  [[nodiscard]] long ms() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() -
                                                                 start_)
        .count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// A bootstrap during which the victim stops before or after its K-th exchange.
class StoppingBootstrap final : public rma::Bootstrap {
 public:
  StoppingBootstrap(std::shared_ptr<rma::Bootstrap> real, const Line& line, int exchange,
                    bool after)
      : real_(std::move(real)), line_(line), left_(exchange), after_(after) {}
  [[nodiscard]] std::string_view name() const noexcept override { return real_->name(); }
  [[nodiscard]] rma::WorldRank rank() const noexcept override { return real_->rank(); }
  [[nodiscard]] std::int32_t size() const noexcept override { return real_->size(); }
  rma::Result<std::vector<std::byte>> allgather(std::span<const std::byte> mine,
                                                std::chrono::milliseconds timeout) override {
    const bool here = left_-- == 0;
    if (here && !after_) {
      stop();
    }
    auto all = real_->allgather(mine, timeout);
    if (here) {
      stop();
    }
    return all;
  }

 private:
  void stop() const {
    line_.ready();
    wait_for_the_end();
  }
  std::shared_ptr<rma::Bootstrap> real_;
  const Line& line_;
  int left_;
  bool after_;
};

// The number after `prefix` in `scenario`, or −1 if the scenario begins otherwise.
int number_after(std::string_view prefix, std::string_view scenario) {
  int number = -1;
  if (scenario.starts_with(prefix)) {
    std::from_chars(scenario.data() + prefix.size(), scenario.data() + scenario.size(), number);
  }
  return number;
}

void limit(int resource, rlim_t most) {
  const rlimit both{most, most};
  setrlimit(static_cast<__rlimit_resource>(resource), &both);
}

// Bytes of address space that this process uses, mostly for its libraries.
rlim_t address_space() {
  rlim_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
}

rma::Result<rma::Job> start_job(std::string_view scenario, bool is_victim, const Line& line) {
  const int exchange = number_after("start:", scenario);
  const int files = number_after("start-with-files:", scenario);
  const int mib = number_after("start-with-mib:", scenario);
  if (is_victim && exchange >= 0) {
    TESSERA_ASSIGN_OR_RETURN(auto real, rma::fork_bootstrap());
    return rma::Job::start({.bootstrap = std::make_shared<StoppingBootstrap>(
                                std::move(real), line, exchange, scenario.ends_with('+')),
                            .settings = {},
                            .transports = {}});
  }
  if (is_victim && files >= 0) {
    const int next = dup(0);
    close(next);
    limit(RLIMIT_NOFILE, static_cast<rlim_t>(next) + static_cast<rlim_t>(files));
  }
  if (is_victim && mib >= 0) {
    limit(RLIMIT_AS, address_space() + (static_cast<rlim_t>(mib) << 20U));
  }
  return rma::Job::start();
}

Status play(const Scenario& scenario, rma::Job& job, const Line& line, int victim) {
  rma::Team& world = job.world();
  TESSERA_ASSIGN_OR_RETURN(rma::Region region, rma::Region::allocate(world, Stage::slice_bytes));
  TESSERA_ASSIGN_OR_RETURN(rma::LockSet locks, rma::LockSet::create(world, 2));
  TESSERA_RETURN_IF_ERROR(job.barrier());
  Stage stage{job, line, victim, region, locks};
  if (stage.rank() == victim) {
    scenario.victim(stage);
    return {};
  }
  const Stopwatch watch;
  const Status outcome = scenario.survivor(stage);
  line.report("outcome", outcome, watch.ms());
  if (!outcome.ok()) {
    line.report("carry_on", carry_on(stage));
  }
  return {};
}

int rank_from_launcher() {
  const auto bootstrap = rma::fork_bootstrap();
  return bootstrap.ok() ? (*bootstrap)->rank().value : -1;
}

// Lets another thread wait for input for ever, which keeps the stream of standard input locked.
void read_in_a_thread() {
  int ends[2] = {-1, -1};
  if (pipe(ends) != 0 || dup2(ends[0], STDIN_FILENO) < 0) {
    std::exit(70);
  }
  std::thread([] { std::getchar(); }).detach();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

// Makes every later print wait for ever for a reader.
void print_into_full_pipe() {
  int ends[2] = {-1, -1};
  if (pipe2(ends, O_NONBLOCK) != 0 || dup2(ends[1], STDOUT_FILENO) < 0) {
    std::exit(70);
  }
  while (write(STDOUT_FILENO, "x", 1) == 1) {
  }
  fcntl(STDOUT_FILENO, F_SETFL, 0);
}

// The victim ends the job as soon as the others compute; in some kinds they ignore SIGTERM.
void end_job_of_all(bool is_victim, const std::string& kind) {
  if (kind == "end-job-ignoring-sigterm" || kind == "end-job-into-full-pipe") {
    std::signal(SIGTERM, SIG_IGN);
  }
  if (kind == "end-job-while-reading" && is_victim) {
    read_in_a_thread();
    std::fputs("of a stream", fdopen(dup(STDERR_FILENO), "w"));
    std::fputs("of standard output, ", stdout);
  }
  if (kind == "end-job-into-full-pipe" && is_victim) {
    print_into_full_pipe();
    std::fputs("no process reads this", stdout);
  }
  auto job = rma::Job::start();
  if (job.ok()) {
    job->barrier().ignore("a rank may be ending already");
  }
  if (is_victim) {
    rma::end_job(7);
  }
  wait_for_the_end();
}

// The victim ends the job after the first rank has exited with 0. Its own exit takes a while
// because of its memory, and the other ranks' output wakes the launcher all the time.
void end_job_after_one(int rank, bool is_victim) {
  if (rank == 0) {
    return;
  }
  if (is_victim) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const std::vector<char> much(std::size_t{200} << 20U, 'x');
    rma::end_job(much.back() == 'x' ? 7 : 8);
  }
  while (true) {
    std::puts("busy");
    std::fflush(stdout);
  }
}

// A program that a rank starts and that uses Tessera itself.
void be_a_tool() {
  const auto job = rma::Job::start();
  std::puts(job.ok() ? fmt::format("tool: rank {} of {}", job->rank().value, job->size()).c_str()
                     : job.status().message().c_str());
  rma::end_job(3);
}

// Between two barriers the victim starts a tool, which fails; and again in a second job.
void start_a_tool(bool is_victim) {
  const std::string tool =
      fmt::format("'{}' be-a-tool 0 1", std::filesystem::read_symlink("/proc/self/exe").string());
  for (int round = 0; round < 2; ++round) {
    rma::Job job = rma::Job::start().value();
    rma::require(job.barrier());
    if (is_victim) {
      const int code = std::system(tool.c_str());
      std::puts(fmt::format("tool's code {}", WEXITSTATUS(code)).c_str());
    }
    rma::require(job.barrier());
    std::puts(fmt::format("rank {} of {}", job.rank().value, job.size()).c_str());
  }
}

// Continues as the first process of a new process namespace. Returns false if that is not allowed.
bool number_apart() {
  if (unshare(CLONE_NEWPID) != 0) {
    return false;
  }
  const pid_t child = fork();
  if (child > 0) {
    int state = 0;
    waitpid(child, &state, 0);
    _exit(WIFEXITED(state) ? WEXITSTATUS(state) : 70);
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  return child == 0;
}

// The victim runs in its own process namespace, as if it were in a container.
void attach_apart(bool is_victim, const Line& line) {
  if (is_victim && !number_apart()) {
    line.report("impossible", Status());
  }
  auto job = rma::Job::start();
  if (!job.ok()) {
    line.report("start", job.status());
    return;
  }
  std::vector<double> memory(8);
  line.report("attach", rma::Region::attach(job->world(), memory.data(), 64).status());
  line.report("allocate", rma::Region::allocate(job->world(), 64).status());
  line.report("stop", job->stop());
}

// All ranks allocate memory at the same moment: together, each in a team of its own, or each again
// and again until an allocation fails.
void take_memory(std::string_view name) {
  rma::Job job = rma::Job::start().value();
  const int together = number_after("take-mib:", name);
  const int alone = number_after("take-mib-alone:", name);
  rma::require(job.barrier());
  rma::Team own = job.world().split(job.rank().value, 0).value();
  rma::require(job.barrier());
  constexpr std::size_t small_bytes = 512 << 10;
  const std::size_t bytes = together >= 0 ? static_cast<std::size_t>(together) << 20U
                            : alone >= 0  ? static_cast<std::size_t>(alone) << 20U
                                          : small_bytes;
  std::vector<rma::Region> taken;
  Status outcome;
  const std::size_t most = bytes == small_bytes ? 1000 : 1;
  while (outcome.ok() && taken.size() < most) {
    auto region = rma::Region::allocate(together >= 0 ? job.world() : own, bytes);
    outcome = region.status();
    if (region.ok()) {
      taken.push_back(std::move(region).take());
    }
  }
  std::puts(fmt::format("rank {}: {}", job.rank().value, outcome.describe()).c_str());
  while (!taken.empty()) {
    rma::require(taken.back().free());
    taken.pop_back();
  }
  rma::require(job.stop());
}

int run(std::string_view name, int victim, int pipe) {
  const Line line(pipe, rank_from_launcher());
  if (name == "attach-apart") {
    attach_apart(rank_from_launcher() == victim, line);
    return 0;
  }
  if (name == "be-a-tool") {
    be_a_tool();
  }
  if (name.starts_with("take-")) {
    take_memory(name);
    return 0;
  }
  if (name == "start-a-tool") {
    start_a_tool(rank_from_launcher() == victim);
    return 0;
  }
  if (name == "end-job-after-one") {
    end_job_after_one(rank_from_launcher(), rank_from_launcher() == victim);
    return 0;
  }
  if (name.starts_with("end-job")) {
    end_job_of_all(rank_from_launcher() == victim, std::string(name));
    return 1;
  }
  const Stopwatch watch;
  auto job = start_job(name, rank_from_launcher() == victim, line);
  if (!job.ok() || name.starts_with("start")) {
    line.report("start", job.status(), watch.ms());
    return 0;
  }
  if (name.starts_with("node:")) {
    if (const Status status = play_on_nodes(name, *job, line); !status.ok()) {
      line.report("setting", status);
    }
    line.report("stop", job->stop());
    return 0;
  }
  const Scenario* const scenario = find_scenario(name);
  if (scenario == nullptr) {
    fmt::print(stderr, "fault_worker: there is no scenario {}\n", name);
    return 2;
  }
  if (const Status status = play(*scenario, *job, line, victim); !status.ok()) {
    line.report("setting", status);
  }
  line.report("stop", job->stop());
  return 0;
}

}  // namespace
}  // namespace tessera::fault

int main(int argc, char** argv) {
  if (argc != 4) {
    fmt::print(stderr, "usage: fault_worker SCENARIO VICTIM PIPE\n");
    return 2;
  }
  return tessera::fault::run(argv[1], std::atoi(argv[2]), std::atoi(argv[3]));
}
