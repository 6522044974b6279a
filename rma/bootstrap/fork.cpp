// SPDX-License-Identifier: BSD-3-Clause
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "rma/bootstrap.hpp"
#include "rma/bootstrap/detect.hpp"
#include "rma/bootstrap/fork_control.hpp"

namespace tessera::rma {
namespace {

using detail::exchange_slot_bytes;
using detail::ForkControl;

class Forked final : public Bootstrap {
 public:
  Forked(ForkControl* control, std::size_t mapped, WorldRank rank, int fd)
      : control_(control), mapped_(mapped), rank_(rank), fd_(fd) {}
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

  void ask_launcher_to_end(int code) const noexcept {
    std::int32_t none = -1;
    if (control_->ender.compare_exchange_strong(none, rank_.value)) {
      control_->end_code.store(code);
    }
  }

  Result<std::vector<std::byte>> allgather(std::span<const std::byte> mine,
                                           std::chrono::milliseconds timeout) override {
    become_rank();
    const auto ranks = static_cast<std::size_t>(size());
    std::vector<std::byte> all(mine.size() * ranks);
    std::size_t done = 0;
    do {
      const std::size_t step = std::min(exchange_slot_bytes, mine.size() - done);
      TESSERA_ASSIGN_OR_RETURN(const std::uint32_t round,
                               exchange(mine.subspan(done, step), timeout));
      for (std::size_t each = 0; each < ranks && step > 0; ++each) {
        std::memcpy(all.data() + each * mine.size() + done,
                    control_->slot(round, static_cast<std::int32_t>(each)), step);
      }
      done += step;
    } while (done < mine.size());
    return all;
  }

 private:
  // For programs that this one will start, which would be taken for this rank.
  void become_rank() {
    if (fd_ < 0) {
      return;
    }
    const std::string plain = fmt::format("{}:{}:{}", fd_, rank_.value, control_->ranks);
    const char* const now = std::getenv(detail::launch_variable);
    if (now != nullptr && now == plain) {
      fcntl(fd_, F_SETFD, FD_CLOEXEC);
      setenv(detail::launch_variable, fmt::format("{}:{}", plain, getpid()).c_str(), 1);
    }
    fd_ = -1;
  }

  // Puts `part` into this rank's slot and waits until all ranks have done so. Two halves of slots
  // alternate: a rank can be at most one round ahead of the slowest reader.
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
    const auto deadline = std::chrono::steady_clock::now() + timeout;
    while (control_->round.load() == round) {
      detail::futex_wait(control_->round, round, std::chrono::milliseconds(50));
      const std::optional<WorldRank> ended = first_lost();
      if (ended && withdraw(round)) {
        return Status::error_at(
            *ended, Code::peer_lost,
            fmt::format("rank {} ended while the job was starting", ended->value));
      }
      const std::int32_t came = control_->arrived.load();
      if (std::chrono::steady_clock::now() > deadline && withdraw(round)) {
        return Status::error(Code::timed_out,
                             fmt::format("only {} of {} ranks came to the start of the job within "
                                         "{} ms",
                                         came, control_->ranks, timeout.count()));
      }
    }
    return round;
  }

  // Takes this rank's arrival back, so that it can come again. False when all have come after all.
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
  int fd_;  ///< of the memory; −1 once that this process is the rank
};

// The first three numbers of "descriptor:rank:ranks:process", of which the last may be missing; all
// −1 when the text is something else.
std::array<int, 3> parse_launch_variable(const char* text) {
  std::array<int, 4> numbers{};
  const char* at = text;
  const char* const end = text + std::strlen(text);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto [next, error] = std::from_chars(at, end, numbers[i]);
    if (error == std::errc{} && next == end && i >= 2) {
      return {numbers[0], numbers[1], numbers[2]};
    }
    if (error != std::errc{} || next == end || *next != ':') {
      break;
    }
    at = next + 1;
  }
  return {-1, -1, -1};
}

Result<std::shared_ptr<Forked>> find_launcher() {
  const char* text = std::getenv(detail::launch_variable);
  if (text == nullptr) {
    return Status::error(Code::invalid_argument, "this process was not started by tessera-run")
        .hint("start it as: tessera-run -n 4 program");
  }
  if (detail::is_below_rank()) {
    return Status::error(Code::invalid_argument,
                         "this process is no rank: a rank of tessera-run's started it")
        .hint(
            "it is a job of its own without TESSERA_BOOTSTRAP=fork; for several ranks start it as: "
            "tessera-run -n 4 program");
  }
  const auto [fd, rank, ranks] = parse_launch_variable(text);
  struct stat file {};
  if (fd < 0 || rank < 0 || rank >= ranks || fstat(fd, &file) != 0 ||
      static_cast<std::size_t>(file.st_size) < ForkControl::bytes(ranks)) {
    return Status::error(Code::protocol, fmt::format("{}={} does not describe a job",
                                                     detail::launch_variable, text))
        .hint("unset it, or start the program anew under tessera-run");
  }
  const auto bytes = static_cast<std::size_t>(file.st_size);
  void* base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (base == MAP_FAILED) {
    return Status::error(Code::no_memory,
                         fmt::format("cannot map the launcher's memory: {}", std::strerror(errno)));
  }
  auto* control = static_cast<ForkControl*>(base);
  if (control->magic != ForkControl::magic_number || control->ranks != ranks) {
    munmap(base, bytes);
    return Status::error(Code::protocol, "tessera-run and the program are of different versions");
  }
  return std::make_shared<Forked>(control, bytes, WorldRank{rank}, fd);
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
