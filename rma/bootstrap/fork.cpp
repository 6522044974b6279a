// SPDX-License-Identifier: BSD-3-Clause
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "rma/base/fd_passing.hpp"
#include "rma/base/memory.hpp"
#include "rma/bootstrap.hpp"
#include "rma/bootstrap/detect.hpp"
#include "rma/bootstrap/fork_control.hpp"
#include "rma/bootstrap/process_identity.hpp"
#include "rma/progress/waiter.hpp"

namespace tessera::rma {
namespace {

using detail::exchange_slot_bytes;
using detail::ForkControl;

// The content of TESSERA_LAUNCH.
struct Launch {
  int descriptor = -1;  ///< of the control memory, here (unless closed) and in the launcher
  pid_t launcher = -1;  ///< −1 if the variable has none
  std::int32_t rank = -1;
  std::int32_t ranks = -1;
  std::string text;  ///< the variable, without the process id of a rank
};

class Forked final : public Bootstrap {
 public:
  Forked(ForkControl* control, std::size_t mapped, Launch launch)
      : control_(control), mapped_(mapped), rank_{launch.rank}, launch_(std::move(launch)) {}
  ~Forked() override { munmap(control_, mapped_); }
  Forked(const Forked&) = delete;
  Forked& operator=(const Forked&) = delete;

  [[nodiscard]] std::string_view name() const noexcept override { return "fork"; }
  [[nodiscard]] WorldRank rank() const noexcept override { return rank_; }
  [[nodiscard]] std::int32_t size() const noexcept override { return control_->ranks; }

  [[nodiscard]] std::optional<WorldRank> first_lost() const noexcept override {
    const std::int32_t ended = control_->first_ended.load();
    return ended >= 0 ? std::optional(WorldRank{ended}) : std::nullopt;
  }

  // Does nothing for a program that a rank has started.
  void ask_launcher_to_end(int code) const noexcept {
    std::int32_t none = -1;
    if (other_process() == 0 && control_->ender.compare_exchange_strong(none, rank_.value)) {
      control_->end_code.store(code);
    }
  }

  Result<std::vector<std::byte>> allgather(std::span<const std::byte> own,
                                           std::chrono::milliseconds timeout) override {
    TESSERA_RETURN_IF_ERROR(become_rank());
    const auto ranks = static_cast<std::size_t>(size());
    std::vector<std::byte> all(own.size() * ranks);
    std::size_t done = 0;
    do {
      const std::size_t step = std::min(exchange_slot_bytes, own.size() - done);
      TESSERA_ASSIGN_OR_RETURN(const std::uint32_t round,
                               exchange(own.subspan(done, step), timeout));
      for (std::size_t each = 0; each < ranks && step > 0; ++each) {
        std::memcpy(all.data() + each * own.size() + done,
                    control_->slot(round, static_cast<std::int32_t>(each)), step);
      }
      done += step;
    } while (done < own.size());
    return all;
  }

 private:
  // The identity of another running process that is this rank, else 0.
  [[nodiscard]] std::uint64_t other_process() const noexcept {
    const std::uint64_t registered = control_->process(rank_.value).load();
    const bool is_other = registered != detail::own_identity() && detail::is_running(registered);
    return is_other ? registered : 0;
  }

  // Registers this process as the rank, and marks the environment so that programs which it starts
  // are not taken for the rank.
  Status become_rank() {
    if (is_rank_) {
      return {};
    }
    const std::uint64_t own = detail::own_identity();
    std::uint64_t registered = control_->process(rank_.value).load();
    while (registered != own) {
      if (detail::is_running(registered)) {
        return Status::error(
                   Code::invalid_argument,
                   fmt::format("this process is not a rank: process {} is rank {} already",
                               detail::process_of(registered), rank_.value))
            .hint("unset TESSERA_LAUNCH for a program that runs as a separate job beside the rank");
      }
      if (control_->process(rank_.value).compare_exchange_strong(registered, own)) {
        break;
      }
    }
    const char* const now = std::getenv(detail::launch_variable);
    if (now != nullptr && now == launch_.text) {
      if (launch_.descriptor >= 0) {
        fcntl(launch_.descriptor, F_SETFD, FD_CLOEXEC);
      }
      setenv(detail::launch_variable, fmt::format("{}:{}", launch_.text, getpid()).c_str(), 1);
    }
    is_rank_ = true;
    return {};
  }

  // Copies `part` into this rank's slot and waits until all ranks have done so. The two halves of
  // slots alternate: a rank is at most one round ahead of the slowest reader.
  Result<std::uint32_t> exchange(std::span<const std::byte> part,
                                 std::chrono::milliseconds timeout) {
    const std::uint32_t round = control_->round.load();
    if (!part.empty()) {
      std::memcpy(control_->slot(round, rank_.value), part.data(), part.size());
    }
    if (control_->arrived.fetch_add(1) + 1 == control_->ranks) {
      control_->arrived.store(0);
      control_->round.store(round + 1);
      detail::futex_wake_all(control_->round);
      return round;
    }
    static constexpr detail::WaitPolicy policy{.liveness_interval = std::chrono::milliseconds(50)};
    const auto deadline = std::chrono::steady_clock::now() + timeout;
    Status failure;
    const auto has_failed = [&] {
      failure = failure_of(round, deadline, timeout);
      return !failure.ok();
    };
    detail::Waiter(policy).sleep(
        detail::OnWord(control_->round), [&] { return control_->round.load() != round; },
        has_failed);
    return failure.ok() ? Result<std::uint32_t>(round) : failure;
  }

  // Why this rank gives up a round. OK: it does not, or all ranks have arrived.
  Status failure_of(std::uint32_t round, std::chrono::steady_clock::time_point deadline,
                    std::chrono::milliseconds timeout) {
    const std::optional<WorldRank> ended = first_lost();
    if (ended && withdraw(round)) {
      return Status::error_at(
          *ended, Code::peer_lost,
          fmt::format("rank {} ended while the job was starting", ended->value));
    }
    const std::int32_t arrived = control_->arrived.load();
    if (std::chrono::steady_clock::now() > deadline && withdraw(round)) {
      return Status::error(
          Code::timed_out,
          fmt::format("only {} of {} ranks reached the start of the job within {} ms", arrived,
                      control_->ranks, timeout.count()));
    }
    return {};
  }

  // Withdraws this rank's arrival, so that it can arrive again. False if all ranks have arrived.
  bool withdraw(std::uint32_t round) {
    std::int32_t arrived = control_->arrived.load();
    while (control_->round.load() == round && arrived < control_->ranks) {
      if (arrived > 0 && control_->arrived.compare_exchange_weak(arrived, arrived - 1)) {
        return true;
      }
      arrived = control_->arrived.load();
    }
    return false;
  }

  ForkControl* control_;
  std::size_t mapped_;
  WorldRank rank_;
  Launch launch_;  ///< its descriptor is −1 if this process doesn't have it
  bool is_rank_ = false;
};

// Reads a number from the front of `text`, and the character after it, which must be one of `next`.
bool take_number(std::string_view& text, std::string_view next, int& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const auto length = static_cast<std::size_t>(end - text.data());
  if (error != std::errc{} || length == text.size() ||
      next.find(text[length]) == std::string_view::npos) {
    return false;
  }
  text.remove_prefix(length);
  return true;
}

// "descriptor@launcher:rank:ranks:process"; launcher and process are optional.
std::optional<Launch> parse_launch_variable(std::string_view text) {
  Launch launch;
  std::string_view rest = text;
  if (!take_number(rest, "@:", launch.descriptor)) {
    return std::nullopt;
  }
  if (rest.front() == '@') {
    rest.remove_prefix(1);
    if (!take_number(rest, ":", launch.launcher) || launch.launcher <= 0) {
      return std::nullopt;
    }
  }
  rest.remove_prefix(1);
  if (!take_number(rest, ":", launch.rank)) {
    return std::nullopt;
  }
  rest.remove_prefix(1);
  const char* const end = text.data() + text.size();
  const auto [after_ranks, error] = std::from_chars(rest.data(), end, launch.ranks);
  int process = 0;
  const bool has_process = error == std::errc{} && after_ranks != end && *after_ranks == ':';
  const char* const last = has_process ? after_ranks + 1 : after_ranks;
  const bool is_whole =
      has_process ? std::from_chars(last, end, process).ptr == end && last != end : last == end;
  if (error != std::errc{} || !is_whole || launch.descriptor < 0 || launch.rank < 0 ||
      launch.rank >= launch.ranks) {
    return std::nullopt;
  }
  launch.text = text.substr(0, static_cast<std::size_t>(after_ranks - text.data()));
  return launch;
}

// True if the file is large enough for the control memory and belongs to the named launcher.
bool is_control_memory(int fd, const Launch& launch) {
  struct stat file {};
  if (fstat(fd, &file) != 0 ||
      static_cast<std::size_t>(file.st_size) < ForkControl::bytes(launch.ranks)) {
    return false;
  }
  std::int32_t launcher = 0;
  return launch.launcher < 0 ||
         (pread(fd, &launcher, sizeof launcher, offsetof(ForkControl, launcher)) ==
              static_cast<ssize_t>(sizeof launcher) &&
          launcher == launch.launcher);
}

// True if the file is the control memory of another version of tessera-run.
bool is_of_other_version(int fd) {
  constexpr unsigned version_bits = 8;
  std::uint64_t magic = 0;
  return pread(fd, &magic, sizeof magic, offsetof(ForkControl, magic)) ==
             static_cast<ssize_t>(sizeof magic) &&
         magic != ForkControl::magic_number &&
         magic >> version_bits == ForkControl::magic_number >> version_bits;
}

// The launcher's own descriptor, for a process whose wrapper closed the inherited one.
Result<detail::Descriptor> open_by_launcher(const Launch& launch) {
  const std::string path = fmt::format("/proc/{}/fd/{}", launch.launcher, launch.descriptor);
  detail::Descriptor file(open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (file.get() >= 0 && is_control_memory(file.get(), launch)) {
    return file;
  }
  const char* const cause = file.get() >= 0 ? "it is another file" : std::strerror(errno);
  return Status::error(Code::unreachable,
                       fmt::format("cannot find tessera-run, process {}: its descriptor {} was "
                                   "closed on the way to this process, and {} cannot be used: {}",
                                   launch.launcher, launch.descriptor, path, cause))
      .hint(
          "leave that descriptor open in what starts the program (in Python: subprocess.run(…, "
          "close_fds=False)), or start it as the same user and in the same container as "
          "tessera-run");
}

Result<std::shared_ptr<Forked>> find_launcher() {
  const char* text = std::getenv(detail::launch_variable);
  if (text == nullptr) {
    return Status::error(Code::invalid_argument, "this process was not started by tessera-run")
        .hint("start it as: tessera-run -n 4 program");
  }
  if (detail::is_descendant_of_rank()) {
    return Status::error(Code::invalid_argument,
                         "this process is not a rank: a rank of tessera-run started it")
        .hint(
            "without TESSERA_BOOTSTRAP=fork it runs as a separate job; for several ranks start it "
            "as: "
            "tessera-run -n 4 program");
  }
  std::optional<Launch> launch = parse_launch_variable(text);
  const bool is_inherited = launch && is_control_memory(launch->descriptor, *launch);
  const Status other_version =
      Status::error(Code::protocol, "tessera-run and the program are of different versions");
  if (launch && !is_inherited && is_of_other_version(launch->descriptor)) {
    return other_version;
  }
  if (!launch || (!is_inherited && launch->launcher < 0)) {
    return Status::error(Code::protocol, fmt::format("{}={} does not describe a job",
                                                     detail::launch_variable, text))
        .hint("unset it, or start the program again under tessera-run");
  }
  detail::Descriptor opened;
  if (!is_inherited) {
    TESSERA_ASSIGN_OR_RETURN(opened, open_by_launcher(*launch));
  }
  const int fd = is_inherited ? launch->descriptor : opened.get();
  launch->descriptor = is_inherited ? launch->descriptor : -1;
  const std::size_t bytes = ForkControl::bytes(launch->ranks);
  void* base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (base == MAP_FAILED) {
    return Status::error(
        Code::no_memory,
        fmt::format("cannot map {} of the launcher's memory: {}{}", human_bytes(bytes),
                    std::strerror(errno), address_space_note()));
  }
  auto* control = static_cast<ForkControl*>(base);
  if (control->magic != ForkControl::magic_number || control->ranks != launch->ranks) {
    munmap(base, bytes);
    return other_version;
  }
  return std::make_shared<Forked>(control, bytes, *std::move(launch));
}

}  // namespace

Result<std::shared_ptr<Bootstrap>> fork_bootstrap() {
  TESSERA_ASSIGN_OR_RETURN(std::shared_ptr<Bootstrap> found, find_launcher());
  return found;
}

void detail::ask_launcher_to_end(int code) {
  if (const auto found = find_launcher(); found.ok()) {
    (*found)->ask_launcher_to_end(code);
  }
}

}  // namespace tessera::rma
