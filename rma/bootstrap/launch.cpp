// SPDX-License-Identifier: BSD-3-Clause
#include "rma/launch.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <new>

#include "rma/base/fd_passing.hpp"
#include "rma/base/memory.hpp"
#include "rma/base/standard_streams.hpp"
#include "rma/base/thread_limit.hpp"
#include "rma/bootstrap/descendants.hpp"
#include "rma/bootstrap/fork_control.hpp"
#include "rma/bootstrap/line_relay.hpp"

namespace tessera::rma {
namespace {

using detail::Descriptor;
using detail::ForkControl;
using detail::LineRelay;

constexpr int exit_not_found = 127;
/// Time for a rank that ends the job, and for the others between SIGTERM and SIGKILL.
constexpr std::chrono::milliseconds shutdown_grace{2000};

// The memory that all ranks inherit, also mapped in the launcher.
class ControlMemory {
 public:
  static Result<ControlMemory> create(std::int32_t ranks) {
    // Inherited on purpose: no close-on-exec.
    Descriptor fd(memfd_create("tessera-run", 0));
    const std::size_t bytes = ForkControl::bytes(ranks);
    if (bytes > max_file_bytes()) {
      return Status::error(Code::limit_exceeded,
                           fmt::format("{} of shared memory are needed to start {} ranks, but "
                                       "files may have {} at most",
                                       human_bytes(bytes), ranks, human_bytes(max_file_bytes())))
          .hint("raise the limit on file sizes (ulimit -f)");
    }
    if (fd.get() < 0 || ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0) {
      const int error = errno;
      return Status::error(Code::limit_exceeded, fmt::format("cannot create shared memory: {}",
                                                             describe_system_error(error)))
          .hint(remedy_for_system_error(error));
    }
    void* base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
    if (base == MAP_FAILED) {
      return Status::error(Code::no_memory,
                           fmt::format("cannot map {} of shared memory: {}{}", human_bytes(bytes),
                                       std::strerror(errno), address_space_note()));
    }
    auto* control = new (base) ForkControl;
    control->ranks = ranks;
    control->launcher = getpid();
    return ControlMemory(std::move(fd), control, bytes);
  }
  ControlMemory(ControlMemory&& other) noexcept
      : fd_(std::move(other.fd_)), control_(other.control_), bytes_(other.bytes_) {
    other.control_ = nullptr;
  }
  ControlMemory& operator=(ControlMemory&&) = delete;
  ~ControlMemory() {
    if (control_ != nullptr) {
      munmap(control_, bytes_);
    }
  }
  [[nodiscard]] int descriptor() const noexcept { return fd_.get(); }
  [[nodiscard]] ForkControl& control() const noexcept { return *control_; }

 private:
  ControlMemory(Descriptor fd, ForkControl* control, std::size_t bytes) noexcept
      : fd_(std::move(fd)), control_(control), bytes_(bytes) {}
  Descriptor fd_;
  ForkControl* control_;
  std::size_t bytes_;
};

// Blocks the signals that the launcher handles and reads them from a descriptor instead. Ignores
// two signals that write() also reports as errors: the reader of the output is gone (SIGPIPE), or
// its file has reached the limit on file sizes (SIGXFSZ).
class SignalReader {
 public:
  SignalReader() {
    sigemptyset(&watched_);
    for (const int signal : {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2}) {
      sigaddset(&watched_, signal);
    }
    pthread_sigmask(SIG_BLOCK, &watched_, &before_);
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &ignore, &pipe_before_);
    sigaction(SIGXFSZ, &ignore, &file_size_before_);
    fd_ = Descriptor(signalfd(-1, &watched_, SFD_CLOEXEC | SFD_NONBLOCK));
  }
  ~SignalReader() { restore(); }
  SignalReader(const SignalReader&) = delete;
  SignalReader& operator=(const SignalReader&) = delete;
  // Restores the program's own signal settings, with which children must start.
  void restore() const {
    sigaction(SIGPIPE, &pipe_before_, nullptr);
    sigaction(SIGXFSZ, &file_size_before_, nullptr);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  [[nodiscard]] int descriptor() const noexcept { return fd_.get(); }
  struct Signal {
    int number = 0;               ///< 0 if no signal has arrived except SIGCHLD
    bool is_of_terminal = false;  ///< sent by the terminal (Ctrl-C, hang-up), so the ranks have it
                                  ///< too
    /// False for signals to which programs give a meaning of their own.
    [[nodiscard]] bool is_to_end() const {
      return number != 0 && number != SIGUSR1 && number != SIGUSR2;
    }
  };
  [[nodiscard]] Signal next() const {
    signalfd_siginfo info{};
    const ssize_t got = read(fd_.get(), &info, sizeof info);
    if (got != static_cast<ssize_t>(sizeof info) || info.ssi_signo == SIGCHLD) {
      return {};
    }
    return {.number = static_cast<int>(info.ssi_signo),
            .is_of_terminal = info.ssi_code == SI_KERNEL};
  }

 private:
  sigset_t watched_{};
  sigset_t before_{};
  struct sigaction pipe_before_ {};
  struct sigaction file_size_before_ {};
  Descriptor fd_;
};

struct Child {
  pid_t pid = -1;
  bool running = false;
  Descriptor end_descriptor;  ///< readable after it has ended; −1 if unavailable
  /// Processes below a script or tool when it was asked to end.
  std::vector<Descriptor> below;
};

// SIGCHLD alone is not reliable: if the program has other threads, one that does not block it may
// receive it.
void record_start(Child& child, pid_t pid) {
  child.pid = pid;
  child.running = true;
  child.end_descriptor = Descriptor(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
}

// Texts in the form for exec. They must outlive the result.
std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) {
    pointers.push_back(const_cast<char*>(text.c_str()));
  }
  pointers.push_back(nullptr);
  return pointers;
}

// This process's environment with the variables of a rank.
std::vector<std::string> rank_environment(const std::string& launch_value,
                                          std::int32_t ranks_per_node) {
  std::vector<std::string> own{fmt::format("{}={}", detail::launch_variable, launch_value)};
  if (ranks_per_node > 0) {
    own.push_back(fmt::format("TESSERA_RANKS_PER_NODE={}", ranks_per_node));
  }
  const auto is_own = [&](std::string_view entry) {
    return std::any_of(own.begin(), own.end(), [&](const std::string& each) {
      return entry.starts_with(std::string_view(each).substr(0, each.find('=') + 1));
    });
  };
  std::vector<std::string> all;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    if (!is_own(*entry)) {
      all.emplace_back(*entry);
    }
  }
  all.insert(all.end(), own.begin(), own.end());
  return all;
}

// Arguments of exec for a rank, prepared before the fork.
struct RankStart {
  char* const* arguments = nullptr;
  char* const* environment = nullptr;
  pid_t launcher = -1;
};

// Runs in the child between fork and exec, and never returns. Uses system calls only: other threads
// of the launcher may have held any lock at the fork, for example that of the heap.
[[noreturn]] void become_rank(const RankStart& start, const SignalReader& signals) {
  signals.restore();
  // If the launcher dies, its ranks end too; nothing else would end them.
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() == start.launcher) {
    execvpe(start.arguments[0], start.arguments, start.environment);
    const char* const cause = strerrordesc_np(errno);
    const auto piece = [](const char* text) {
      return iovec{const_cast<char*>(text), std::strlen(text)};
    };
    const std::array line{piece("tessera-run: cannot start "), piece(start.arguments[0]),
                          piece(": "), piece(cause), piece("\n")};
    static_cast<void>(writev(STDERR_FILENO, line.data(), static_cast<int>(line.size())) < 0);
  }
  std::_Exit(exit_not_found);
}

void signal_descendants(int signal, const Child& child) {
  for (const Descriptor& each : child.below) {
    syscall(SYS_pidfd_send_signal, each.get(), signal, nullptr, 0);
  }
}

// Records all children that have ended; returns how many. Also sends SIGTERM to the processes that
// remain below a child that was asked to end; nothing else would end them.
int reap(std::vector<Child>& children, std::vector<RankExit>& exits, ForkControl& control) {
  int ended = 0;
  for (std::size_t i = 0; i < children.size(); ++i) {
    int state = 0;
    if (!children[i].running || waitpid(children[i].pid, &state, WNOHANG) != children[i].pid) {
      continue;
    }
    children[i].running = false;
    children[i].end_descriptor = Descriptor();
    signal_descendants(SIGTERM, children[i]);
    exits[i].exit_code = WIFEXITED(state) ? WEXITSTATUS(state) : 0;
    exits[i].signal = WIFSIGNALED(state) ? WTERMSIG(state) : 0;
    std::int32_t none = -1;
    control.first_ended.compare_exchange_strong(none, exits[i].rank);
    ++ended;
  }
  return ended;
}

void forward(int signal, const std::vector<Child>& children) {
  for (const Child& child : children) {
    if (child.running) {
      kill(child.pid, signal);
    }
  }
}

// A script that gets the signal may end the processes below it itself. What remains after the
// script has ended gets SIGTERM in reap(). With SIGKILL the processes below are killed at once, as
// the script cannot end them.
void signal_to_end(int signal, std::vector<Child>& children) {
  for (Child& child : children) {
    if (child.running) {
      for (Descriptor& each : detail::descendants_of(child.pid)) {
        child.below.push_back(std::move(each));
      }
      kill(child.pid, signal);
    }
    if (signal == SIGKILL) {
      signal_descendants(signal, child);
    }
  }
}

// All nodes except the last have this many ranks; 0 if nodes are not emulated.
std::int32_t ranks_of_each_node(const LaunchOptions& options) {
  return options.nodes > 0 ? (options.ranks + options.nodes - 1) / options.nodes : 0;
}

Status check_options(const std::vector<std::string>& arguments, const LaunchOptions& options) {
  if (arguments.empty()) {
    return Status::error(Code::invalid_argument, "there is no program to start");
  }
  if (options.ranks < 1) {
    return Status::error(Code::invalid_argument,
                         fmt::format("{} ranks; there must be at least one", options.ranks));
  }
  if (options.nodes < 0 || options.nodes > options.ranks) {
    return Status::error(
        Code::invalid_argument,
        fmt::format("{} ranks cannot be split over {} nodes", options.ranks, options.nodes));
  }
  const detail::ThreadLimit limit = detail::process_limit();
  if (static_cast<std::uint64_t>(options.ranks) > limit.most) {
    return Status::error(Code::limit_exceeded,
                         fmt::format("{} ranks are more than the {} that can be started here: {}",
                                     options.ranks, limit.most, limit.reason))
        .hint(limit.hint);
  }
  const std::int32_t each = ranks_of_each_node(options);
  if (options.nodes > 0 && (options.ranks + each - 1) / each != options.nodes) {
    return Status::error(
               Code::invalid_argument,
               fmt::format("{} ranks cannot be split over {} nodes: with {} per node they fill {}",
                           options.ranks, options.nodes, each, (options.ranks + each - 1) / each))
        .hint("all nodes but the last one get the same number of ranks");
  }
  return {};
}

// Ends the remaining ranks after one has ended the job.
class JobShutdown {
 public:
  // The others get SIGTERM after that rank has ended, so that its message and its exit code come
  // first; or together with it, if it takes too long.
  void advance(const ForkControl& control, std::vector<Child>& children,
               std::vector<RankExit>& exits) {
    const std::int32_t ender = control.ender.load();
    if (ender < 0) {
      return;
    }
    const bool has_ended = !children[static_cast<std::size_t>(ender)].running;
    const auto now = Clock::now();
    if (step_ == Step::none) {
      enter_step(Step::requested);
    }
    if (step_ == Step::requested && (has_ended || now >= deadline_)) {
      record_signalled(ender, control, children, exits);
      signal_to_end(SIGTERM, children);
      enter_step(Step::terminated);
    } else if (step_ == Step::terminated && now >= deadline_) {
      signal_to_end(SIGKILL, children);
      enter_step(Step::killed);
    }
  }
  // Milliseconds until the next action may be due; −1 for never.
  [[nodiscard]] int time_left() const {
    constexpr int poll_interval_ms = 500;  // a rank that ends the job does not wake the launcher
    if (step_ == Step::none || step_ == Step::killed) {
      return step_ == Step::none ? poll_interval_ms : -1;
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline_ - Clock::now());
    return std::max(0, static_cast<int>(left.count()));
  }

 private:
  using Clock = std::chrono::steady_clock;
  enum class Step { none, requested, terminated, killed };

  void enter_step(Step step) {
    step_ = step;
    deadline_ = Clock::now() + shutdown_grace;
  }
  static void record_signalled(std::int32_t ender, const ForkControl& control,
                               const std::vector<Child>& children, std::vector<RankExit>& exits) {
    for (std::size_t i = 0; i < children.size(); ++i) {
      exits[i].was_signalled = children[i].running && exits[i].rank != ender;
    }
    RankExit& of_ender = exits[static_cast<std::size_t>(ender)];
    if (of_ender.exit_code == 0 && of_ender.signal == 0) {
      of_ender.exit_code = control.end_code.load();  // a script may have hidden it
    }
  }

  Step step_ = Step::none;
  Clock::time_point deadline_;
};

// Forwards the remaining output of the ranks. Waits for a slow reader, but not after a signal that
// ends the ranks.
void forward_rest(LineRelay& output, const SignalReader& signals, bool is_to_end) {
  using Clock = std::chrono::steady_clock;
  constexpr int poll_interval_ms = 100;
  const auto deadline = is_to_end ? Clock::now() + shutdown_grace : Clock::time_point::max();
  while (!output.finish()) {
    std::vector<pollfd> list{{.fd = signals.descriptor(), .events = POLLIN, .revents = 0}};
    output.add_to(list);
    poll(list.data(), list.size(), is_to_end ? poll_interval_ms : -1);
    if (signals.next().is_to_end() || Clock::now() >= deadline) {
      output.give_up();
      return;
    }
  }
}

// Waits until a signal has arrived, a rank has ended or printed something, a reader has read some
// output, or timeout_ms have passed.
void wait_for_events(const SignalReader& signals, const std::vector<Child>& children,
                     const LineRelay& output, int timeout_ms) {
  constexpr int poll_interval_ms = 100;  // for children without a descriptor
  std::vector<pollfd> list{{.fd = signals.descriptor(), .events = POLLIN, .revents = 0}};
  for (const Child& child : children) {
    if (child.running && child.end_descriptor.get() >= 0) {
      list.push_back({.fd = child.end_descriptor.get(), .events = POLLIN, .revents = 0});
    } else if (child.running) {
      timeout_ms = timeout_ms < 0 ? poll_interval_ms : std::min(timeout_ms, poll_interval_ms);
    }
  }
  output.add_to(list);
  poll(list.data(), list.size(), timeout_ms);
}

// A launch in progress.
struct LaunchedRun {
  const std::vector<std::string>& arguments;
  const LaunchOptions& options;
  const ControlMemory& memory;
  const SignalReader& signals;
  LineRelay& output;
  std::vector<Child> children = std::vector<Child>(static_cast<std::size_t>(options.ranks));
  std::vector<RankExit> exits = std::vector<RankExit>(children.size());
  int running = 0;
};

Status start_rank(LaunchedRun& run, std::int32_t rank) {
  const pid_t launcher = getpid();
  const std::vector<char*> argument_pointers = pointers_to(run.arguments);
  const std::vector<std::string> environment = rank_environment(
      fmt::format("{}@{}:{}:{}", run.memory.descriptor(), launcher, rank, run.options.ranks),
      ranks_of_each_node(run.options));
  const std::vector<char*> environment_pointers = pointers_to(environment);
  const pid_t pid = fork();
  if (pid == 0) {
    run.output.connect(rank);
    become_rank({.arguments = argument_pointers.data(),
                 .environment = environment_pointers.data(),
                 .launcher = launcher},
                run.signals);
  }
  if (pid < 0) {
    const int error = errno;
    return Status::error(Code::limit_exceeded,
                         fmt::format("cannot start rank {} of {}: {}; {}", rank, run.options.ranks,
                                     std::strerror(error), detail::process_limit().reason));
  }
  record_start(run.children[static_cast<std::size_t>(rank)], pid);
  ++run.running;
  run.output.started(rank);
  if (run.options.started) {
    run.options.started(rank, pid);
  }
  return {};
}

// Starts all ranks; on an error ends those that were started.
Status start_ranks(LaunchedRun& run) {
  for (std::int32_t rank = 0; rank < run.options.ranks; ++rank) {
    run.exits[static_cast<std::size_t>(rank)].rank = rank;
    if (Status started = start_rank(run, rank); !started.ok()) {
      signal_to_end(SIGTERM, run.children);
      return started;
    }
  }
  return {};
}

// Runs until all ranks have ended.
void supervise(LaunchedRun& run) {
  JobShutdown job_end;
  bool is_to_end = false;
  while (run.running > 0) {
    wait_for_events(run.signals, run.children, run.output, job_end.time_left());
    const SignalReader::Signal signal = run.signals.next();
    if (signal.is_to_end() && !signal.is_of_terminal) {
      signal_to_end(signal.number, run.children);
      is_to_end = true;
    } else if (signal.number != 0 && !signal.is_of_terminal) {
      forward(signal.number, run.children);
    }
    run.output.relay();
    run.running -= reap(run.children, run.exits, run.memory.control());
    job_end.advance(run.memory.control(), run.children, run.exits);
  }
  forward_rest(run.output, run.signals, is_to_end);
}

}  // namespace

Result<std::vector<RankExit>> launch(const std::vector<std::string>& arguments,
                                     const LaunchOptions& options) {
  TESSERA_RETURN_IF_ERROR(check_options(arguments, options));
  detail::keep_standard_streams();
  const bool is_relayed = options.whole_lines || options.tagged_lines;
  TESSERA_ASSIGN_OR_RETURN(const ControlMemory memory, ControlMemory::create(options.ranks));
  TESSERA_ASSIGN_OR_RETURN(LineRelay output,
                           LineRelay::create(is_relayed ? options.ranks : 0, options.tagged_lines));
  const SignalReader signals;
  if (signals.descriptor() < 0) {
    return Status::error(Code::limit_exceeded,
                         fmt::format("cannot wait for signals: {}", describe_system_error(errno)));
  }
  LaunchedRun run{.arguments = arguments,
                  .options = options,
                  .memory = memory,
                  .signals = signals,
                  .output = output};
  const Status started = start_ranks(run);
  supervise(run);
  if (output.lost() != 0 && options.on_lost_output) {
    options.on_lost_output(output.lost());
  }
  TESSERA_RETURN_IF_ERROR(started);
  return std::move(run.exits);
}

}  // namespace tessera::rma
