// SPDX-License-Identifier: BSD-3-Clause
#include "bench/result_writer.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wordexp.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/common/exit_codes.hpp"
#include "apps/common/output.hpp"
#include "apps/common/output_file.hpp"
#include "bench/support/options.hpp"
#include "bench/support/record.hpp"

namespace tessera::bench {
namespace {

constexpr const char* program = "tessera-bench";

bool say(const rma::Status& status) {
  if (!status.ok()) {
    apps::complain(program, status.message());
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
    apps::tell(text.view());  // apps::finish_output() says where that fails
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
      apps::complain(program, "the run ended before anything was measured; no file is written");
      return;
    }
    report_.set_unfinished(why);
    if (write_all()) {
      apps::complain(program, "the run ended early; the file holds the results until then");
    }
  } catch (const std::exception& error) {
    apps::complain(program, error.what());
  }
}

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

namespace {

namespace fs = std::filesystem;

/// Whether a launcher has started this process. If so, each of several processes would start
/// launches.
bool was_launched() {
  constexpr std::array variables = {"TESSERA_LAUNCH", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
                                    "PMIX_RANK", "PMI_RANK"};
  return std::any_of(variables.begin(), variables.end(),
                     [](const char* name) { return std::getenv(name) != nullptr; });
}

int complain(const std::string& text) {
  std::cerr << "tessera-bench: " << text << '\n';
  return apps::exit_usage;
}

/// Runs in a thread of a library, for example of a BLAS. The system chose it for the signal,
/// because the main thread blocks the signal between two waits.
extern "C" void hand_to_main_thread(int number) {
  const int error = errno;
  syscall(SYS_tgkill, getpid(), getpid(), number);
  errno = error;
}

/// Blocks, while it lives, the signals that end processes, so that this process can end its child
/// and remove temporary files first. Requires: the main thread.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigemptyset(&held_);
    for (const int number : blocked_signals) {
      sigaddset(&held_, number);
    }
    sigprocmask(SIG_BLOCK, &held_, &before_);
    struct sigaction handing {};
    handing.sa_handler = hand_to_main_thread;
    handing.sa_flags = SA_RESTART;
    for (std::size_t i = 0; i < blocked_signals.size(); ++i) {
      sigaction(blocked_signals[i], &handing, &actions_before_[i]);
    }
  }
  ~BlockedSignals() {
    for (std::size_t i = 0; i < blocked_signals.size(); ++i) {
      sigaction(blocked_signals[i], &actions_before_[i], nullptr);
    }
    sigprocmask(SIG_SETMASK, &before_, nullptr);
  }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

  /// The signal mask for child processes.
  [[nodiscard]] const sigset_t& before() const { return before_; }
  /// Waits for the next signal.
  siginfo_t take() const {
    siginfo_t taken = {};
    while (sigwaitinfo(&held_, &taken) < 0 && errno == EINTR) {
    }
    return taken;
  }

 private:
  static constexpr std::array blocked_signals = {SIGTERM, SIGINT, SIGHUP, SIGCHLD};

  std::array<struct sigaction, blocked_signals.size()> actions_before_ = {};
  sigset_t held_ = {};
  sigset_t before_ = {};
};

constexpr int shells_signal_base = 128;

/// Waits for a child and returns its exit code. Passes on the signals that would have ended this
/// process.
int wait_for(pid_t child, const BlockedSignals& signals) {
  int status = 0;
  int ended_by = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    const siginfo_t taken = signals.take();
    if (taken.si_signo == SIGCHLD) {
      continue;
    }
    ended_by = taken.si_signo;
    // A terminal sends its signals to the child, too, and a launcher treats a second one as urgent.
    if (taken.si_code != SI_KERNEL) {
      kill(child, taken.si_signo);
    }
  }
  if (ended_by != 0) {
    return shells_signal_base + ended_by;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : shells_signal_base + WTERMSIG(status);
}

/// Runs a program with its arguments and returns its exit code; empty, with errno set, if it can't
/// be started.
std::optional<int> run_program(const std::vector<std::string>& words,
                               const BlockedSignals& signals) {
  std::vector<char*> arguments;
  for (const std::string& word : words) {
    arguments.push_back(const_cast<char*>(word.c_str()));  // posix_spawn does not change them
  }
  arguments.push_back(nullptr);
  posix_spawnattr_t attributes = {};
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setsigmask(&attributes, &signals.before());
  pid_t child = 0;
  const int error =
      posix_spawnp(&child, arguments.front(), nullptr, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) {
    errno = error;
    return std::nullopt;
  }
  return wait_for(child, signals);
}

/// A folder that is removed together with this object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "tessera-bench-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
      throw std::system_error(errno, std::generic_category(), "cannot make " + name);
    }
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// Splits a line as a shell does; empty if the shell would run a command, or if a quote is open.
std::vector<std::string> words_of(const std::string& line) {
  wordexp_t found = {};
  if (wordexp(line.c_str(), &found, WRDE_NOCMD | WRDE_UNDEF) != 0) {
    return {};
  }
  std::vector<std::string> words(found.we_wordv, found.we_wordv + found.we_wordc);
  wordfree(&found);
  return words;
}

}  // namespace

std::vector<std::string> without_options(const std::vector<std::string>& arguments,
                                         const std::vector<std::string>& names) {
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string name = arguments[i].substr(0, arguments[i].find('='));
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      kept.push_back(arguments[i]);
    } else if (name == arguments[i]) {
      ++i;  // its value is the next word
    }
  }
  return kept;
}

std::string numbered_file(const std::string& path, int number) {
  const fs::path file(path);
  return (file.parent_path() /
          fmt::format("{}.{}{}", file.stem().string(), number, file.extension().string()))
      .string();
}

int relaunch(const Relaunch& relaunch) {
  if (was_launched()) {
    return complain(
        "--repeat-launch starts the launches itself: call it without mpirun, srun or tessera-run, "
        "and name the launcher with --launcher 'mpirun -n 2'");
  }
  const std::vector<std::string> launcher = words_of(relaunch.launcher);
  if (launcher.empty() && !relaunch.launcher.empty()) {
    return complain(fmt::format("--launcher \"{}\" is not a command", relaunch.launcher));
  }
  const BlockedSignals signals;
  std::optional<TemporaryFolder> folder;
  if (relaunch.json.empty()) {
    folder.emplace();
  }
  const std::string json = folder ? (folder->path() / "launch.json").string() : relaunch.json;
  std::vector<nlohmann::ordered_json> reports;
  for (int launch = 1; launch <= relaunch.launches; ++launch) {
    const std::string file = numbered_file(json, launch);
    // Remove the results of an earlier run, so that they aren't taken for this one's.
    std::error_code none_there;
    fs::remove(file, none_there);
    std::vector<std::string> words = launcher;
    words.push_back(fs::read_symlink("/proc/self/exe").string());
    // Insert before the other arguments: after `--` only suites may stand.
    words.insert(words.end(), {"--json", file});
    words.insert(words.end(), relaunch.arguments.begin(), relaunch.arguments.end());
    std::cout << fmt::format("# launch {} of {}\n", launch, relaunch.launches) << std::flush;
    const auto code = run_program(words, signals);
    if (!code) {
      return complain(fmt::format("cannot start {}: {}", words.front(),
                                  std::generic_category().message(errno)));
    }
    if (*code != 0) {
      complain(
          fmt::format("launch {} of {} ended with exit code {}", launch, relaunch.launches, *code));
      return *code;
    }
    std::ifstream in(file);
    auto report = nlohmann::ordered_json::parse(in, nullptr, false);
    if (report.is_discarded()) {
      return complain(
          fmt::format("launch {} of {} wrote no results to {}: check that \"{}\" starts the "
                      "command that follows it",
                      launch, relaunch.launches, file, relaunch.launcher));
    }
    reports.push_back(std::move(report));
  }
  print(std::cout, combine(reports));
  return EXIT_SUCCESS;
}

}  // namespace tessera::bench
