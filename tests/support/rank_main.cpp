// SPDX-License-Identifier: BSD-3-Clause
#include "tests/support/rank_main.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "tests/support/datagram_provider.hpp"
#include "tests/support/fake_verbs_transport.hpp"
#include "tests/support/random_shape.hpp"
#include "tests/support/toy_transport.hpp"
#include "tests/support/watchdog.hpp"

namespace tessera::rma::test {
namespace {

constexpr int exit_bad_usage = 2;
constexpr int exit_skipped = 77;
constexpr const char* not_for_teams = "for all ranks, not for those of --team";

// A bootstrap that several jobs may use, one after the other: it outlives each of them.
class SharedBootstrap final : public Bootstrap {
 public:
  explicit SharedBootstrap(std::shared_ptr<Bootstrap> base) : base_(std::move(base)) {}
  [[nodiscard]] std::string_view name() const noexcept override { return base_->name(); }
  [[nodiscard]] WorldRank rank() const noexcept override { return base_->rank(); }
  [[nodiscard]] std::int32_t size() const noexcept override { return base_->size(); }
  [[nodiscard]] bool is_one_process() const noexcept override { return base_->is_one_process(); }
  [[nodiscard]] bool is_mpi_world() const noexcept override { return base_->is_mpi_world(); }
  [[nodiscard]] std::optional<int> mpi_communicator() const noexcept override {
    return base_->mpi_communicator();
  }
  Result<std::vector<std::byte>> allgather(std::span<const std::byte> mine,
                                           std::chrono::milliseconds timeout) override {
    return base_->allgather(mine, timeout);
  }

 private:
  std::shared_ptr<Bootstrap> base_;
};

// How this program was started; set before the first test and never changed after.
struct Program {
  std::int32_t ranks = 1;
  bool threads = false;
  Settings settings;
  std::shared_ptr<Bootstrap> bootstrap;  // of this process, if ranks are processes
  std::optional<Job> job;                // of this process, if ranks are processes
  bool on_one_machine = true;
  std::vector<WorldRank> team;  // of --team
  std::unique_ptr<Watchdog> watchdog;
};

Program& program() {
  static Program instance;
  return instance;
}

JobOptions job_options(const RunOptions& options, std::shared_ptr<Bootstrap> bootstrap) {
  Settings settings = program().settings;
  if (options.change) {
    options.change(settings);
  }
  std::vector<TransportFactory> transports = options.transports;
  transports.push_back(toy_transport());
  transports.push_back(fake_verbs_transport());
  transports.push_back(datagram_transport());
  return {.bootstrap = std::move(bootstrap),
          .settings = std::move(settings),
          .transports = std::move(transports)};
}

// What each rank reports at the end of a test. It has an odd size, so that it matches no collective
// of a body that is still running on another rank.
struct Outcome {
  std::array<char, 37> failed{};
};

// All members meet. If one has left its body early, the others' collectives fail by mismatch with
// this one, until they have left their bodies, too.
void settle(Team& team) {
  Outcome mine;
  mine.failed[0] = testing::Test::HasFailure() ? 1 : 0;
  while (true) {
    const auto all = team.allgather_value(mine);
    if (!all.ok()) {
      mine.failed[0] = 1;
      if (all.status().code() == Code::invalid_argument) {
        continue;
      }
      ADD_FAILURE() << "ranks do not meet after the test: " << all.status().describe();
      return;
    }
    for (std::size_t rank = 0; rank < all->size(); ++rank) {
      if ((*all)[rank].failed[0] != 0 && mine.failed[0] == 0) {
        ADD_FAILURE() << "the test failed on rank " << team.members()[rank].value;
        return;
      }
    }
    return;
  }
}

void run_guarded(const std::function<void()>& body) {
  try {
    body();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "the body threw: " << error.what();
  }
}

void run_body(Job& job, const std::function<void(Job&)>& body) {
  const std::int32_t rank = job.rank().value;
  const testing::ScopedTrace trace(
      __FILE__, __LINE__, "rank " + std::to_string(rank) + " of " + std::to_string(job.size()));
  program().watchdog->enter(rank);
  run_guarded([&] { body(job); });
  program().watchdog->leave(rank);
  settle(job.world());
}

// The body of a rank that is a member of --team, or not one.
void run_as_member(Job& job, const std::function<void(Job&, Team&)>& body) {
  const std::vector<WorldRank>& members = program().team;
  if (members.empty()) {
    body(job, job.world());
    return;
  }
  if (std::find(members.begin(), members.end(), job.rank()) == members.end()) {
    return;
  }
  auto team = Team::create(job, members);
  if (!team.ok()) {
    ADD_FAILURE() << "the team of --team cannot be made: " << team.status().describe();
    return;
  }
  run_guarded([&] { body(job, *team); });
  settle(*team);
}

void run_with_own_job(const RunOptions& options, std::shared_ptr<Bootstrap> bootstrap,
                      const std::function<void(Job&)>& body) {
  auto job = Job::start(job_options(options, std::move(bootstrap)));
  if (!job.ok()) {
    ADD_FAILURE() << "the job does not start: " << job.status().describe();
    return;
  }
  run_body(*job, body);
}

void run_threads(const RunOptions& options, const std::function<void(Job&)>& body) {
  ThreadGroup group(program().ranks);
  std::vector<std::thread> threads;
  for (std::int32_t rank = 0; rank < program().ranks; ++rank) {
    threads.emplace_back(
        [&, rank] { run_with_own_job(options, group.member(WorldRank{rank}), body); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

void run_on_all(const std::function<void(Job&)>& body) {
  if (program().threads) {
    run_threads({}, body);
  } else {
    run_body(*program().job, body);
  }
}

std::string full_name(const testing::TestInfo& test) {
  return std::string(test.test_suite_name()) + "." + test.name();
}

// Reports the current test to the watchdog, and lists skipped tests with their reasons.
class Observer final : public testing::EmptyTestEventListener {
 public:
  void OnTestStart(const testing::TestInfo& test) override {
    program().watchdog->begin(full_name(test));
  }
  void OnTestPartResult(const testing::TestPartResult& result) override {
    const std::lock_guard guard(mutex_);
    if (result.skipped() && reason_.empty()) {
      reason_ = result.message();
    }
  }
  void OnTestEnd(const testing::TestInfo& test) override {
    program().watchdog->end();
    const std::lock_guard guard(mutex_);
    if (test.result()->Skipped()) {
      skips_.push_back(full_name(test) + ": " + reason_.substr(0, reason_.find('\n')));
    }
    reason_.clear();
  }
  [[nodiscard]] const std::vector<std::string>& skips() const noexcept { return skips_; }

 private:
  std::mutex mutex_;
  std::string reason_;
  std::vector<std::string> skips_;
};

// Prints failures on ranks other than 0; these print nothing else.
class FailurePrinter final : public testing::EmptyTestEventListener {
 public:
  void OnTestStart(const testing::TestInfo& test) override { test_ = full_name(test); }
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (result.failed()) {
      std::fprintf(stderr, "%s, rank %d: %s:%d: %s\n", test_.c_str(),
                   program().bootstrap->rank().value,
                   result.file_name() == nullptr ? "?" : result.file_name(), result.line_number(),
                   result.message());
    }
  }

 private:
  std::string test_;
};

// Removes "--name value" from the arguments and returns the value; empty if it is missing.
std::optional<std::string_view> take_text(int& argc, char** argv, std::string_view name) {
  char** const end = argv + argc;
  char** const found = std::find(argv, end, name);
  if (found == end) {
    return std::nullopt;
  }
  const std::string_view text = found + 1 == end ? "" : *(found + 1);
  std::copy(std::min(found + 2, end), end, found);
  argc -= found + 1 == end ? 1 : 2;
  return text;
}

// −1 if the text is not a number, or negative.
std::int64_t number_in(std::string_view text) {
  std::int64_t value = -1;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  return parsed.ec == std::errc{} && parsed.ptr == text.data() + text.size() ? value : -1;
}

// The same for a positive number; −1: the value is not one.
std::int64_t take_option(int& argc, char** argv, std::string_view name, std::int64_t otherwise) {
  const auto text = take_text(argc, argv, name);
  const std::int64_t value = text ? number_in(*text) : otherwise;
  return text && value == 0 ? -1 : value;
}

// The ranks of "--team 0,2,3"; −1 for each word that is not a rank.
std::vector<WorldRank> take_team(int& argc, char** argv) {
  std::vector<WorldRank> members;
  std::string_view rest = take_text(argc, argv, "--team").value_or("");
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    members.push_back({static_cast<std::int32_t>(number_in(rest.substr(0, comma)))});
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return members;
}

int print_error(const Status& status) {
  std::fprintf(stderr, "%s\n", status.describe().c_str());
  return 1;
}

std::array<char, 256> machine_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name;
}

int start_processes(Program& run) {
  auto base = choose_bootstrap(run.settings);
  if (!base.ok()) {
    return print_error(base.status());
  }
  run.bootstrap = *base;
  run.ranks = run.bootstrap->size();
  auto job = Job::start(job_options({}, std::make_shared<SharedBootstrap>(run.bootstrap)));
  if (!job.ok()) {
    return print_error(job.status());
  }
  run.job.emplace(std::move(job).take());
  const auto machines = run.job->world().allgather_value(machine_name());
  if (!machines.ok()) {
    return print_error(machines.status());
  }
  run.on_one_machine =
      std::count(machines->begin(), machines->end(), machines->front()) == std::ssize(*machines);
  return 0;
}

// GoogleTest's own choice is the time, which differs between processes.
int share_random_seed(Program& run) {
  auto seed = static_cast<std::int32_t>(choose_seed());
  if (run.job) {
    if (auto shared = run.job->world().broadcast_value(seed, TeamRank{0}); !shared.ok()) {
      return print_error(shared);
    }
  }
  GTEST_FLAG_SET(random_seed, seed);
  return 0;
}

void print_skips(const Observer& observer) {
  if (!observer.skips().empty()) {
    std::printf("\nskipped:\n");
    for (const std::string& skip : observer.skips()) {
      std::printf("  %s\n", skip.c_str());
    }
  }
}

int run_all(Program& run) {
  testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
  const bool is_first = run.threads || run.bootstrap->rank().value == 0;
  if (!is_first) {
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new FailurePrinter);
  }
  auto* observer = new Observer;  // owned by GoogleTest
  listeners.Append(observer);
  const int code = RUN_ALL_TESTS();
  if (is_first) {
    if (code != 0) {
      std::printf("random tests: --gtest_random_seed=%d\n", GTEST_FLAG_GET(random_seed));
    }
    print_skips(*observer);
  }
  const auto& results = *testing::UnitTest::GetInstance();
  const bool nothing_ran = results.skipped_test_count() > 0 &&
                           results.skipped_test_count() == results.test_to_run_count();
  return code == 0 && nothing_ran ? exit_skipped : code;
}

}  // namespace

void on_ranks(const std::function<void(Job&)>& body) {
  if (!program().team.empty()) {
    GTEST_SKIP() << not_for_teams;
  }
  run_on_all(body);
}

void on_team(const std::function<void(Job&, Team&)>& body) {
  run_on_all([&](Job& job) { run_as_member(job, body); });
}

void on_ranks(const RunOptions& options, const std::function<void(Job&)>& body) {
  if (!program().team.empty()) {
    GTEST_SKIP() << not_for_teams;
  }
  if (options.on_one_machine && !program().on_one_machine) {
    GTEST_SKIP() << "its transport does not connect nodes, and the ranks are on several machines";
  }
  if (program().threads) {
    run_threads(options, body);
  } else {
    run_with_own_job(options, std::make_shared<SharedBootstrap>(program().bootstrap), body);
  }
}

std::int32_t rank_count() {
  return program().ranks;
}
bool ranks_are_threads() {
  return program().threads;
}
std::string transport_name() {
  const std::string& names = program().settings.transport;
  return names.substr(0, names.find(','));
}

std::string network_name() {
  const std::string& names = program().settings.transport;
  return names.substr(names.rfind(',') + 1);
}

int rank_main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  Program& run = program();
  const std::int64_t ranks = take_option(argc, argv, "--ranks", 0);
  const std::int64_t limit = take_option(argc, argv, "--limit", 60);
  run.team = take_team(argc, argv);
  if (argc > 1 || ranks < 0 || ranks > 1024 || limit < 0) {
    std::fprintf(stderr,
                 "usage: %s [--ranks N] [--limit SECONDS] [--team RANK,RANK…] [--gtest_…]\n",
                 argv[0]);
    return exit_bad_usage;
  }
  if (GTEST_FLAG_GET(list_tests)) {
    return RUN_ALL_TESTS();
  }
  auto settings = Settings::from_environment();
  if (!settings.ok()) {
    return print_error(settings.status());
  }
  run.settings = std::move(settings).take();
  run.threads = ranks > 0;
  run.ranks = static_cast<std::int32_t>(std::max<std::int64_t>(ranks, 1));
  run.watchdog = std::make_unique<Watchdog>(std::chrono::seconds(limit));
  if (!run.threads) {
    if (const int code = start_processes(run); code != 0) {
      return code;
    }
  }
  if (const int code = share_random_seed(run); code != 0) {
    return code;
  }
  const int code = run_all(run);
  if (run.job) {
    const Status stopped = run.job->stop();
    run.job.reset();
    run.bootstrap->leave();
    if (!stopped.ok()) {
      return print_error(stopped);
    }
  }
  run.watchdog.reset();
  return code;
}

}  // namespace tessera::rma::test

// Tests request more memory than exists, and check how the library handles the failure.
#if defined(__SANITIZE_ADDRESS__)
extern "C" const char* __asan_default_options() {
  return "allocator_may_return_null=1";
}
#elif defined(__SANITIZE_THREAD__)
extern "C" const char* __tsan_default_options() {
  return "allocator_may_return_null=1";
}
#endif

int main(int argc, char** argv) {
  return tessera::rma::test::rank_main(argc, argv);
}
