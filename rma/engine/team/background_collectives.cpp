// SPDX-License-Identifier: BSD-3-Clause
#include "rma/engine/team/background_collectives.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "rma/base/catch_bad_alloc.hpp"
#include "rma/base/thread_without_signals.hpp"
#include "rma/engine/job_state.hpp"

namespace tessera::rma::detail {
namespace {

std::string_view verb_of(const BackgroundCall& call) noexcept {
  return call.kind == CollectiveCall::Kind::barrier ? "barrier_async" : "allreduce_async";
}

}  // namespace

class BackgroundCollectives::Worker {
 public:
  Worker(JobState& job, const std::vector<WorldRank>& members, std::uint32_t number)
      : job_(job), members_(members), number_(number) {}

  [[nodiscard]] JobState& job() const noexcept { return job_; }

  // False if there is no memory.
  bool add(const BackgroundCall& call) noexcept {
    const std::lock_guard guard(mutex_);
    return catch_bad_alloc(
        [&] {
          calls_.push_back(call);
          changed_.notify_all();
          return true;
        },
        [] { return false; });
  }

  // In the calling thread, after the earlier ones.
  void do_now(const BackgroundCall& call) noexcept {
    {
      std::unique_lock guard(mutex_);
      changed_.wait(guard, [this] { return calls_.empty() && !is_busy_; });
      is_busy_ = true;
    }
    complete(call);
  }

  void finish() noexcept {
    {
      const std::lock_guard guard(mutex_);
      is_finishing_ = true;
    }
    changed_.notify_all();
    if (job_.is_stopped()) {
      give_up();
    }
  }

  void run() {
    while (const std::optional<BackgroundCall> call = next()) {
      complete(*call);
    }
    const std::lock_guard guard(mutex_);
    companion_.reset();
  }

 private:
  // Sleeps until there is a call; none if the thread shall end.
  std::optional<BackgroundCall> next() {
    std::unique_lock guard(mutex_);
    changed_.wait(guard, [this] { return !is_busy_ && (!calls_.empty() || is_finishing_); });
    if (calls_.empty()) {
      return std::nullopt;
    }
    BackgroundCall call = std::move(calls_.front());
    calls_.pop_front();
    is_busy_ = true;
    return call;
  }

  void complete(const BackgroundCall& call) noexcept {
    Status done = catch_bad_alloc([&] { return perform(call); });
    {
      const std::lock_guard guard(mutex_);
      is_busy_ = false;
    }
    changed_.notify_all();
    call.operation->completion().end(std::move(done));
    job_.transports().wake_progress();
  }

  Status perform(const BackgroundCall& call) {
    TESSERA_RETURN_IF_ERROR(job_.check_running());
    TESSERA_RETURN_IF_ERROR(form());
    TeamState& team = *companion_;
    const LabelScope scope(&team, {.verb = verb_of(call), .number = call.place});
    return call.kind == CollectiveCall::Kind::barrier
               ? team.barrier()
               : team.allreduce(call.elements, call.count, call.type, call.reduction, nullptr);
  }

  // Once. All members get the error if it fails.
  Status form() {
    if (companion_ != nullptr || !formed_.ok()) {
      return formed_;
    }
    auto made = TeamState::create(job_, nullptr, members_, number_);
    formed_ = made.status();
    if (made.ok()) {
      const std::lock_guard guard(mutex_);
      companion_ = std::move(made).take();
    }
    return formed_;
  }

  // Ends the step in which the thread waits: this rank leaves the job.
  void give_up() noexcept {
    const std::lock_guard guard(mutex_);
    if (companion_ != nullptr) {
      companion_->give_up_as_left();
    }
  }

  JobState& job_;
  const std::vector<WorldRank> members_;
  const std::uint32_t number_;
  Status formed_;  ///< used by the thread that performs a collective
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<BackgroundCall> calls_;
  bool is_busy_ = false;  ///< a thread performs a collective
  bool is_finishing_ = false;
  std::shared_ptr<TeamState> companion_;  ///< changed under the lock, by the thread that is busy
};

BackgroundCollectives::BackgroundCollectives(std::shared_ptr<Worker> worker) noexcept
    : worker_(std::move(worker)) {}

std::shared_ptr<BackgroundCollectives> BackgroundCollectives::start(const TeamState& team,
                                                                    std::uint32_t number) {
  auto worker = std::make_shared<Worker>(team.job(), team.members(), number);
  std::shared_ptr<BackgroundCollectives> background(new BackgroundCollectives(worker));
  const NodeControlChannel* const link = team.job().link();
  if (link != nullptr && !link->allows_background_threads()) {
    return background;
  }
  auto thread = start_thread_with_signals_blocked([worker] { worker->run(); });
  if (thread.ok()) {
    background->thread_ = std::move(thread).take();
  } else {
    team.job().log().info(thread.status().message() +
                          "; non-blocking collectives are performed at once");
  }
  return background;
}

BackgroundCollectives::~BackgroundCollectives() {
  stop();
}

void BackgroundCollectives::add(const BackgroundCall& call) noexcept {
  if (!thread_.joinable() || !worker_->add(call)) {
    worker_->do_now(call);
  }
}

void BackgroundCollectives::stop() noexcept {
  if (!thread_.joinable()) {
    return;
  }
  if (worker_->job().is_in_forked_child()) {
    thread_.detach();  // it exists in the parent only
    return;
  }
  worker_->finish();
  thread_.join();
}

}  // namespace tessera::rma::detail
