// SPDX-License-Identifier: BSD-3-Clause
#include "rma/bootstrap.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <future>
#include <map>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "rma/bootstrap/detect.hpp"
#include "rma/bootstrap/fork_control.hpp"
#include "rma/bootstrap/process_identity.hpp"
#include "rma/job.hpp"
#include "tests/rma/node_rig.hpp"

namespace tessera::rma {
namespace {

using detail::ForkControl;
using std::chrono::milliseconds;

// An environment without any launcher's variables, except the given ones.
class LauncherEnvironment {
 public:
  explicit LauncherEnvironment(const std::map<std::string, std::string>& variables) {
    for (const char* name :
         {"TESSERA_LAUNCH", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS", "PMIX_RANK",
          "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID", "SLURM_STEP_ID",
          "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"}) {
      if (const char* value = std::getenv(name)) {
        before_[name] = value;
      }
      unsetenv(name);
      names_.emplace_back(name);
    }
    for (const auto& [name, value] : variables) {
      setenv(name.c_str(), value.c_str(), 1);
    }
  }
  ~LauncherEnvironment() {
    for (const std::string& name : names_) {
      unsetenv(name.c_str());
    }
    for (const auto& [name, value] : before_) {
      setenv(name.c_str(), value.c_str(), 1);
    }
  }
  LauncherEnvironment(const LauncherEnvironment&) = delete;
  LauncherEnvironment& operator=(const LauncherEnvironment&) = delete;

 private:
  std::vector<std::string> names_;
  std::map<std::string, std::string> before_;
};

std::string trace(const std::map<std::string, std::string>& variables) {
  const LauncherEnvironment environment(variables);
  const LauncherInfo found = detect_launcher();
  return fmt::format("{} {}", found.launcher, found.ranks);
}

TEST(DetectLauncher, ReportsWhichProcessThisIs) {
  const auto rank = [](const std::map<std::string, std::string>& variables) {
    const LauncherEnvironment environment(variables);
    return detect_launcher().rank;
  };
  EXPECT_EQ(rank({}), -1);
  EXPECT_EQ(rank({{"TESSERA_LAUNCH", "3:1:2"}}), 1);
  EXPECT_EQ(rank({{"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_RANK", "3"}}), 3);
  EXPECT_EQ(rank({{"PMI_SIZE", "8"}, {"PMI_RANK", "0"}}), 0);
  EXPECT_EQ(rank({{"PMIX_RANK", "6"}}), 6);
  EXPECT_EQ(rank({{"SLURM_PROCID", "5"}, {"SLURM_STEP_ID", "0"}}), 5);
}

TEST(DetectLauncher, KnowsEachLauncherByItsVariables) {
  EXPECT_EQ(trace({}), " 0");
  EXPECT_EQ(trace({{"TESSERA_LAUNCH", "3:0:2"}}), "tessera-run 2");
  EXPECT_EQ(trace({{"OMPI_COMM_WORLD_SIZE", "4"}}), "mpirun 4");
  EXPECT_EQ(trace({{"PMI_SIZE", "8"}}), "mpirun 8");
  EXPECT_EQ(trace({{"MPI_LOCALNRANKS", "2"}}), "mpirun 2");
  EXPECT_EQ(trace({{"PMIX_RANK", "0"}}), "mpirun 0");
  EXPECT_EQ(trace({{"SLURM_PROCID", "0"}, {"SLURM_STEP_ID", "0"}, {"SLURM_NTASKS", "4"}}),
            "srun 4");
  EXPECT_EQ(trace({{"SLURM_PROCID", "0"},
                   {"SLURM_STEP_ID", "0"},
                   {"SLURM_STEP_NUM_TASKS", "2"},
                   {"SLURM_NTASKS", "4"}}),
            "srun 2");
}

TEST(DetectLauncher, IsNotMisledByAnAllocationWithoutAStep) {
  EXPECT_EQ(trace({{"SLURM_NTASKS", "4"}}), " 0");
  EXPECT_EQ(trace({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}}), " 0");
}

TEST(DetectLauncher, TakesTheInnermostOfSeveral) {
  // mpirun within a Slurm step; tessera-run within either.
  EXPECT_EQ(trace({{"OMPI_COMM_WORLD_SIZE", "2"},
                   {"SLURM_PROCID", "0"},
                   {"SLURM_STEP_ID", "0"},
                   {"SLURM_NTASKS", "4"}}),
            "mpirun 2");
  EXPECT_EQ(trace({{"OMPI_COMM_WORLD_SIZE", "2"}, {"TESSERA_LAUNCH", "3:0:2"}}), "tessera-run 2");
}

// A process that a rank starts is not a rank of any launcher.
TEST(DetectLauncher, DistinguishesARankFromItsChildren) {
  EXPECT_EQ(trace({{"TESSERA_LAUNCH", fmt::format("3:0:2:{}", getpid())}}), "tessera-run 2");
  EXPECT_EQ(trace({{"TESSERA_LAUNCH", fmt::format("3:0:2:{}", getppid())}}), " 0");
  EXPECT_EQ(trace({{"OMPI_COMM_WORLD_SIZE", "2"}, {"TESSERA_LAUNCH", "3:0:2:1"}}), " 0");
}

TEST(DetectLauncher, IgnoresWhatIsNotANumber) {
  EXPECT_EQ(trace({{"OMPI_COMM_WORLD_SIZE", "many"}}), " 0");
  EXPECT_EQ(trace({{"PMI_SIZE", "-3"}}), " 0");
}

TEST(ChooseBootstrap, WithoutALauncherAProcessIsAlone) {
  const LauncherEnvironment environment({});
  const auto chosen = choose_bootstrap({});
  ASSERT_TRUE(chosen.ok());
  EXPECT_EQ((*chosen)->name(), "alone");
  EXPECT_EQ((*chosen)->size(), 1);
  const auto all = (*chosen)->allgather(std::vector<std::byte>(3, std::byte{5}), milliseconds(1));
  EXPECT_EQ(*all, std::vector<std::byte>(3, std::byte{5}));
}

TEST(ChooseBootstrap, ForkNeedsTheLauncher) {
  const LauncherEnvironment environment({});
  Settings settings;
  settings.bootstrap = "fork";
  const auto chosen = choose_bootstrap(settings);
  EXPECT_EQ(chosen.status().code(), Code::invalid_argument);
  EXPECT_EQ(chosen.status().message(),
            "this process was not started by tessera-run\n"
            "  hint: start it as: tessera-run -n 4 program");
}

// ---- fork_bootstrap ----------------------------------------------------------------------------

// The memory that tessera-run shares with the ranks that it starts.
class LauncherMemory {
 public:
  explicit LauncherMemory(std::int32_t ranks)
      : fd_(memfd_create("launcher", MFD_CLOEXEC)), bytes_(ForkControl::bytes(ranks)) {
    EXPECT_EQ(ftruncate(fd_, static_cast<off_t>(bytes_)), 0);
    void* const base = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
    control_ = new (base) ForkControl;
    control_->ranks = ranks;
    control_->launcher = getpid();
  }
  ~LauncherMemory() {
    munmap(control_, bytes_);
    close(fd_);
  }
  LauncherMemory(const LauncherMemory&) = delete;
  LauncherMemory& operator=(const LauncherMemory&) = delete;

  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] ForkControl& control() const { return *control_; }
  [[nodiscard]] std::shared_ptr<Bootstrap> member(int rank) const {
    const LauncherEnvironment environment(
        {{"TESSERA_LAUNCH", fmt::format("{}:{}:{}", fd_, rank, control_->ranks)}});
    return fork_bootstrap().value();
  }

 private:
  int fd_;
  std::size_t bytes_;
  ForkControl* control_;
};

TEST(ForkBootstrap, RefusesWhatARankHasStarted) {
  const LauncherMemory memory(2);
  const LauncherEnvironment environment(
      {{"TESSERA_LAUNCH", fmt::format("{}:0:2:{}", memory.fd(), getppid())}});
  const auto made = fork_bootstrap();
  EXPECT_EQ(made.status().code(), Code::invalid_argument);
  EXPECT_EQ(
      made.status().message(),
      "this process is not a rank: a rank of tessera-run started it\n"
      "  hint: without TESSERA_BOOTSTRAP=fork it runs as a separate job; for several ranks start "
      "it as: tessera-run -n 4 program");
  EXPECT_EQ(choose_bootstrap({}).value()->name(), "alone");
}

// Child processes do not inherit the descriptor after the first exchange. Before it they do: a
// program may read its rank, and then start the program that becomes the rank.
TEST(ForkBootstrap, ClosesTheLaunchersMemoryInChildren) {
  const LauncherMemory memory(1);
  const int inherited = dup(memory.fd());
  const std::string plain = fmt::format("{}:0:1", inherited);
  const LauncherEnvironment environment({{"TESSERA_LAUNCH", plain}});
  for (int job = 0; job < 2; ++job) {
    const auto made = fork_bootstrap();
    ASSERT_TRUE(made.ok()) << made.status().describe();
    EXPECT_EQ(fcntl(inherited, F_GETFD), job == 0 ? 0 : FD_CLOEXEC);
    ASSERT_TRUE((*made)->allgather({}, milliseconds(1000)).ok());
    EXPECT_EQ(fcntl(inherited, F_GETFD), FD_CLOEXEC);
    EXPECT_EQ(std::getenv("TESSERA_LAUNCH"), fmt::format("{}:{}", plain, getpid()));
  }
  close(inherited);
}

// Runs `body` in a forked child and returns its result.
std::string in_child(const std::function<std::string()>& body) {
  std::array<int, 2> ends{-1, -1};
  EXPECT_EQ(pipe(ends.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    const std::string output = body();
    _exit(write(ends[1], output.data(), output.size()) == static_cast<ssize_t>(output.size()) ? 0
                                                                                              : 1);
  }
  close(ends[1]);
  std::array<char, 1000> text{};
  const ssize_t got = read(ends[0], text.data(), text.size());
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return {text.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))};
}

// As under Python's subprocess.run(), or a shell that closes all descriptors above 2.
TEST(ForkBootstrap, FindsTheLauncherWithoutItsDescriptor) {
  const LauncherMemory memory(3);
  const std::string launch = fmt::format("{}@{}:2:3", memory.fd(), getpid());
  for (const bool is_used_again : {false, true}) {
    const std::string output = in_child([&] {
      close(memory.fd());
      if (is_used_again && open("/dev/zero", O_RDWR) != memory.fd()) {
        return std::string("the descriptor has another number");
      }
      const LauncherEnvironment environment({{"TESSERA_LAUNCH", launch}});
      const auto made = fork_bootstrap();
      return made.ok() ? fmt::format("rank {} of {}", (*made)->rank().value, (*made)->size())
                       : made.status().message();
    });
    EXPECT_EQ(output, "rank 2 of 3");
  }
}

TEST(ForkBootstrap, ReportsWhyTheLauncherCannotBeFound) {
  const LauncherMemory memory(1);
  const int fd = memory.fd();
  pid_t ended = fork();
  if (ended == 0) {
    _exit(0);
  }
  waitpid(ended, nullptr, 0);
  const std::string output = in_child([&] {
    close(fd);
    const LauncherEnvironment environment(
        {{"TESSERA_LAUNCH", fmt::format("{}@{}:0:1", fd, ended)}});
    return fork_bootstrap().status().describe();
  });
  const std::string expected = fmt::format(
      "unreachable: cannot find tessera-run, process {0}: its descriptor {1} was closed on the way "
      "to this process, and /proc/{0}/fd/{1} cannot be used: No such file or directory\n"
      "  hint: leave that descriptor open in what starts the program (in Python: "
      "subprocess.run(…, close_fds=False)), or start it as the same user and in the same container "
      "as tessera-run",
      ended, fd);
  EXPECT_EQ(output.substr(0, expected.size()), expected);
}

// The program's environment was copied before the rank started (as Python's os.environ).
TEST(ForkBootstrap, ARankHasOneProcessAtATime) {
  const LauncherMemory memory(1);
  const LauncherEnvironment environment(
      {{"TESSERA_LAUNCH", fmt::format("{}@{}:0:1", memory.fd(), getpid())}});
  std::atomic<std::uint64_t>& process = memory.control().process(0);
  process.store(detail::identity_of(getppid()));
  const auto second = fork_bootstrap();
  ASSERT_TRUE(second.ok()) << second.status().describe();
  const Status refused = (*second)->allgather({}, milliseconds(1000)).status();
  EXPECT_EQ(refused.code(), Code::invalid_argument);
  EXPECT_EQ(refused.message(),
            fmt::format("this process is not a rank: process {} is rank 0 already\n  hint: unset "
                        "TESSERA_LAUNCH for a program that runs as a separate job beside the rank",
                        getppid()));
  detail::ask_launcher_to_end(5);
  EXPECT_EQ(memory.control().ender.load(), -1)
      << "a process that is not the rank cannot end the job";

  // The next program of a script starts before the shell has noticed the end of the first.
  const pid_t first = fork();
  if (first == 0) {
    pause();
    _exit(0);
  }
  process.store(detail::identity_of(first));
  EXPECT_FALSE((*second)->allgather({}, milliseconds(1000)).ok());
  kill(first, SIGKILL);
  siginfo_t info{};
  waitid(P_PID, static_cast<id_t>(first), &info, WEXITED | WNOWAIT);
  EXPECT_TRUE((*second)->allgather({}, milliseconds(1000)).ok());
  EXPECT_EQ(process.load(), detail::own_identity());
  detail::ask_launcher_to_end(5);
  EXPECT_EQ(memory.control().ender.load(), 0);
  waitpid(first, nullptr, 0);
}

TEST(ForkBootstrap, RefusesTextsThatDescribeNoJob) {
  const LauncherMemory memory(2);
  const int fd = memory.fd();
  for (const std::string& text : {std::string(),
                                  std::string("nonsense"),
                                  fmt::format("{}", fd),
                                  fmt::format("{}:0", fd),
                                  fmt::format("{}:0:", fd),
                                  fmt::format("{}:0:2:", fd),
                                  fmt::format("{}:0:2x", fd),
                                  fmt::format("{}:0:2:x", fd),
                                  fmt::format("{}:0:2:{}:", fd, getpid()),
                                  fmt::format("{}@:0:2", fd),
                                  fmt::format("{}@x:0:2", fd),
                                  fmt::format("{}@0:0:2", fd),
                                  fmt::format("{}@-1:0:2", fd),
                                  fmt::format("{}@1", fd),
                                  fmt::format("@{}:0:2", getpid()),
                                  fmt::format("{}:2:2", fd),
                                  fmt::format("{}:-1:2", fd),
                                  fmt::format("{}:0:0", fd),
                                  fmt::format("{}:0:1000000", fd),
                                  std::string("-1:0:2"),
                                  std::string("999:0:2"),
                                  std::string("99999999999999999999:0:2")}) {
    const LauncherEnvironment environment({{"TESSERA_LAUNCH", text}});
    const auto made = fork_bootstrap();
    EXPECT_EQ(made.status().code(), Code::protocol) << '\'' << text << '\'';
    EXPECT_EQ(made.status().message(),
              fmt::format("TESSERA_LAUNCH={} does not describe a job\n  hint: unset it, or start "
                          "the program again under tessera-run",
                          text));
  }
}

TEST(ForkBootstrap, RefusesMemoryThatIsNotALaunchers) {
  const LauncherMemory memory(2);
  memory.control().magic = 1;
  const LauncherEnvironment environment({{"TESSERA_LAUNCH", fmt::format("{}:0:2", memory.fd())}});
  const auto made = fork_bootstrap();
  EXPECT_EQ(made.status().code(), Code::protocol);
  EXPECT_EQ(made.status().message(), "tessera-run and the program are of different versions");
}

// Every rank contributes bytes made from (rank, round, i) and expects those of all ranks.
void exchange_and_check(Bootstrap& bootstrap, std::size_t bytes, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    const auto byte_of = [&](std::int32_t rank, std::size_t i) {
      return static_cast<std::byte>(rank * 31 + round * 7 + static_cast<int>(i % 251));
    };
    std::vector<std::byte> mine(bytes);
    for (std::size_t i = 0; i < bytes; ++i) {
      mine[i] = byte_of(bootstrap.rank().value, i);
    }
    const auto all = bootstrap.allgather(mine, milliseconds(20'000));
    ASSERT_TRUE(all.ok()) << all.status().describe();
    ASSERT_EQ(all->size(), bytes * static_cast<std::size_t>(bootstrap.size()));
    for (std::int32_t rank = 0; rank < bootstrap.size(); ++rank) {
      for (std::size_t i = 0; i < bytes; ++i) {
        ASSERT_EQ((*all)[static_cast<std::size_t>(rank) * bytes + i], byte_of(rank, i));
      }
    }
  }
}

template <class MakeMember>
void exchange_among(std::int32_t ranks, MakeMember&& make_member) {
  std::vector<std::shared_ptr<Bootstrap>> members;
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    members.push_back(make_member(rank));
  }
  std::vector<std::thread> threads;
  for (const auto& member : members) {
    threads.emplace_back([&member] {
      exchange_and_check(*member, 0, 2);
      exchange_and_check(*member, 5, 40);
      exchange_and_check(*member, 1024, 3);
      exchange_and_check(*member, 5000, 3);  // fills several slots
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

TEST(ForkBootstrap, GathersBytesOfAnyNumber) {
  for (const std::int32_t ranks : {1, 2, 5}) {
    const LauncherMemory memory(ranks);
    exchange_among(ranks, [&](std::int32_t rank) { return memory.member(rank); });
  }
}

TEST(ForkBootstrap, TimesOutEachTimeAndIsUsableIfTheOthersComeLater) {
  const LauncherMemory memory(2);
  const auto first = memory.member(0);
  const std::vector<std::byte> bytes(4);
  for (int attempt = 0; attempt < 3; ++attempt) {
    const auto refused = first->allgather(bytes, milliseconds(20));
    ASSERT_EQ(refused.status().code(), Code::timed_out) << "attempt " << attempt;
    EXPECT_EQ(refused.status().message(),
              "only 1 of 2 ranks reached the start of the job within 20 ms");
  }
  const auto second = memory.member(1);
  std::thread other([&] { exchange_and_check(*second, 8, 5); });
  exchange_and_check(*first, 8, 5);
  other.join();
}

TEST(ForkBootstrap, NamesARankWhoseProcessEnded) {
  const LauncherMemory memory(3);
  memory.control().first_ended = 2;
  const auto lost = memory.member(0)->allgather(std::vector<std::byte>(4), milliseconds(20'000));
  EXPECT_EQ(lost.status().code(), Code::peer_lost);
  EXPECT_EQ(lost.status().rank(), WorldRank{2});
  EXPECT_EQ(lost.status().message(), "rank 2 ended while the job was starting");
}

// ---- ThreadGroup -------------------------------------------------------------------------------

TEST(ThreadGroup, GathersBytesOfAnyNumber) {
  for (const std::int32_t ranks : {1, 2, 5}) {
    ThreadGroup group(ranks);
    EXPECT_EQ(group.size(), ranks);
    exchange_among(ranks, [&](std::int32_t rank) { return group.member(WorldRank{rank}); });
  }
}

TEST(ThreadGroup, TimesOutAndIsUsableIfTheOthersComeLater) {
  ThreadGroup group(2);
  const auto first = group.member(WorldRank{0});
  const auto refused = first->allgather(std::vector<std::byte>(4), milliseconds(20));
  EXPECT_EQ(refused.status().code(), Code::timed_out);
  EXPECT_EQ(refused.status().message(),
            "only 1 of 2 threads reached the start of the job within 20 ms");
  const auto second = group.member(WorldRank{1});
  std::thread other([&] { exchange_and_check(*second, 8, 5); });
  exchange_and_check(*first, 8, 5);
  other.join();
}

TEST(ThreadGroup, NamesAThreadThatGaveUp) {
  ThreadGroup group(3);
  auto leaving_rank = group.member(WorldRank{1});
  const auto stayer = group.member(WorldRank{0});
  std::thread other([&] {
    std::this_thread::sleep_for(milliseconds(20));
    leaving_rank.reset();
  });
  const auto lost = stayer->allgather(std::vector<std::byte>(4), milliseconds(20'000));
  other.join();
  EXPECT_EQ(lost.status().code(), Code::peer_lost);
  EXPECT_EQ(lost.status().message(), "rank 1 gave up while the job was starting");
}

// ---- Starting on emulated nodes and with unusual transports ------------------------------------

TEST(JobStart, RanksOnSeveralNodesAreUnreachableWithoutATransportBetweenThem) {
  Settings settings;
  settings.arena_mib = 64;
  settings.ranks_per_node = 1;
  settings.transport = "shm";
  const Status status =
      run_on_threads(2, [](Job&) { return Status(); }, {.settings = settings, .transports = {}});
  EXPECT_EQ(status.code(), Code::unreachable);
  EXPECT_EQ(status.message(),
            "the ranks are on 2 nodes, and no transport of 'shm' connects nodes\n"
            "  hint: add tcp to TESSERA_TRANSPORT, or start all ranks on one machine without "
            "TESSERA_RANKS_PER_NODE");
}

// Otherwise the ranks would disagree about which ranks share memory.
TEST(JobStart, RanksThatDifferInTheirNodesAreRefusedAtOnce) {
  ThreadGroup group(2);
  const auto start = [&](std::int32_t rank) {
    Settings settings;
    settings.arena_mib = 64;
    settings.start_timeout_ms = 1000;
    settings.ranks_per_node = 2 - rank;
    return Job::start(
               {.bootstrap = group.member(WorldRank{rank}), .settings = settings, .transports = {}})
        .status();
  };
  auto other = std::async(std::launch::async, start, 1);
  for (const Status& each : {start(0), other.get()}) {
    EXPECT_EQ(each.code(), Code::invalid_argument);
    EXPECT_EQ(each.message(),
              "TESSERA_RANKS_PER_NODE is 2 on rank 0 and 1 on rank 1\n"
              "  hint: give it the same value on all ranks");
  }
}

// Otherwise they would create regions by different transports, and wait for each other in different
// calls.
TEST(JobStart, RanksThatDifferInTheirTransportsAreRefusedAtOnce) {
  ThreadGroup group(3);
  const auto start = [&](std::int32_t rank) {
    Settings settings;
    settings.arena_mib = 64;
    settings.start_timeout_ms = 1000;
    settings.ranks_per_node = 1;
    settings.transport = rank < 2 ? "shm,tcp" : "tcp,shm";
    return Job::start(
               {.bootstrap = group.member(WorldRank{rank}), .settings = settings, .transports = {}})
        .status();
  };
  auto second = std::async(std::launch::async, start, 1);
  auto third = std::async(std::launch::async, start, 2);
  for (const Status& each : {start(0), second.get(), third.get()}) {
    EXPECT_EQ(each.code(), Code::invalid_argument);
    EXPECT_EQ(each.message(),
              "TESSERA_TRANSPORT is shm,tcp on rank 0 and tcp,shm on rank 2\n"
              "  hint: give it the same value on all ranks");
  }
}

TEST(JobStart, LoopbackDoesNotConnectProcesses) {
  const LauncherMemory memory(1);
  Settings settings;
  settings.arena_mib = 64;
  settings.transport = "loopback";
  const auto job =
      Job::start({.bootstrap = memory.member(0), .settings = settings, .transports = {}});
  EXPECT_EQ(job.status().code(), Code::unsupported);
  EXPECT_EQ(job.status().message(),
            "starting transport loopback: loopback connects threads of one process only\n"
            "  hint: use TESSERA_TRANSPORT=shm, or run the ranks as threads");
}

TEST(JobStart, ATransportThatIsUnsupportedHereIsPassedOver) {
  const LauncherMemory memory(1);
  Settings settings;
  settings.arena_mib = 64;
  settings.transport = "loopback,shm";
  auto job = Job::start({.bootstrap = memory.member(0), .settings = settings, .transports = {}});
  ASSERT_TRUE(job.ok()) << job.status().describe();
  EXPECT_EQ(job->transport_to(WorldRank{0}).value(), "shm");
}

}  // namespace
}  // namespace tessera::rma
